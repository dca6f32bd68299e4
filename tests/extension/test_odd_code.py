"""What the code of an extension may do that no kit would wish for: who waits has an answer all the
same, and the extension goes on."""

import multiprocessing
from collections.abc import Generator
from typing import Any

import pytest

from tests.extension.peer import Peer

CODE = '''
import asyncio, concurrent.futures, contextvars, multiprocessing, os, time
from airboss.extension import ToolUse, hook, session, tool

seen = contextvars.ContextVar("seen", default="nothing")
seen.set("what the file has set")

class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it has no words")

class Grave(BaseException):
    pass

def cancelled() -> None:
    waited = concurrent.futures.Future()
    waited.cancel()
    waited.result()

def interrupted() -> None:
    raise KeyboardInterrupt("stop")

def closed() -> None:
    raise GeneratorExit

def grave() -> None:
    raise Grave("it is serious")

def left() -> None:
    raise SystemExit(3)

def unspeakable() -> None:
    raise Unspeakable

@tool
def fail(how: str) -> None:
    """Fails in a thread."""
    globals()[how]()

@tool
async def fail_in_the_loop(how: str) -> None:
    """Fails in the loop."""
    globals()[how]()

@hook.pre_tool_use(tools=["bash"])
def before(use: ToolUse) -> None:
    globals()[use.arguments["command"]]()

@hook.pre_tool_use(tools=["edit"])
async def before_in_the_loop(use: ToolUse) -> None:
    globals()[use.arguments["command"]]()

@tool
def context() -> str:
    """Reads a variable in a thread."""
    return seen.get()

@tool
async def context_in_the_loop() -> str:
    """Reads a variable in the loop."""
    return seen.get()

def square(number: int) -> int:
    return number * number

@tool
def squares(way: str) -> object:
    """Has other processes do the work, and ends them by a signal."""
    with multiprocessing.get_context(way).Pool(2) as pool:
        return pool.map(square, [1, 2, 3])

@tool
def end_another() -> object:
    """Ends a process of its own by a signal."""
    other = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    other.start()
    other.terminate()
    other.join()
    return other.exitcode

@tool
async def become_two() -> str:
    """Forks, and both go on."""
    number = os.fork()
    if number:
        os.waitpid(number, 0)
    return "the other" if number == 0 else "the one"

@tool
def log_in_another() -> object:
    """Uses the session where there is none."""
    def work():
        try:
            asyncio.run(session.log("from another process"))
        except ConnectionError:
            os._exit(7)
    other = multiprocessing.get_context("fork").Process(target=work)
    other.start()
    other.join()
    return other.exitcode
'''
RAISED = [
    ("cancelled", "CancelledError: something that it waited for was cancelled"),
    ("interrupted", "KeyboardInterrupt: stop"),
    ("closed", "GeneratorExit"),
    ("grave", "Grave: it is serious"),
    ("left", "SystemExit: 3"),
    ("unspeakable", "Unspeakable"),
]
forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="nothing can be forked here"
)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Generator[Peer]:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "extension.py").write_text(CODE, encoding="utf-8")
    with Peer(folder / "extension.py", folder).join() as peer:
        yield peer


@pytest.mark.parametrize("tool", ["fail", "fail_in_the_loop"])
@pytest.mark.parametrize(("how", "said"), RAISED)
def test_whatever_a_tool_raises_its_call_is_answered(
    peer: Peer, tool: str, how: str, said: str
) -> None:
    if (how, tool) == ("cancelled", "fail_in_the_loop"):
        said = "CancelledError"  # of concurrent.futures, where it is like any other
    assert peer.call(tool, {"how": how}) == (said, "failure")


@pytest.mark.parametrize("tool", ["bash", "edit"])
@pytest.mark.parametrize(("how", "said"), RAISED)
def test_whatever_a_hook_raises_it_is_answered(peer: Peer, tool: str, how: str, said: str) -> None:
    if (how, tool) == ("cancelled", "edit"):
        said = "CancelledError"
    answer: Any = peer.hook("preToolUse", toolName=tool, toolArgs={"command": how})
    assert answer == {"code": -32000, "message": said}


def test_context_variables_have_what_the_file_has_set(peer: Peer) -> None:
    assert peer.call("context") == ("what the file has set", "success")
    assert peer.call("context_in_the_loop") == ("what the file has set", "success")


@forks
@pytest.mark.parametrize("way", multiprocessing.get_all_start_methods())
def test_work_is_shared_out_to_other_processes(peer: Peer, way: str) -> None:
    assert peer.call("squares", {"way": way}) == ("[1, 4, 9]", "success")
    assert peer.process.poll() is None


@forks
def test_a_signal_to_a_forked_process_ends_that_one_alone(peer: Peer) -> None:
    assert peer.call("end_another") == ("-15", "success")
    assert peer.call("context") == ("what the file has set", "success")


@forks
def test_a_forked_process_does_not_speak_in_place_of_its_extension(peer: Peer) -> None:
    assert peer.call("become_two") == ("the one", "success")
    assert peer.call("log_in_another") == ("7", "success")
    assert not peer.asked("session.log")
