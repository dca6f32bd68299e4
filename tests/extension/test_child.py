"""An extension as a real process, over real pipes: joining, calls, hooks, events, ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.extension.peer import SESSION, Peer

CODE = '''
import asyncio, os, subprocess, sys, threading, time
from airboss.extension import *
from airboss.extension import hook, session, tool

print("printed while it is read")
released = threading.Event()
cleaned = session.cwd / "cleaned"

@tool(seconds=30, repeatable=True)
async def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b

@tool
def noisy(call: Call) -> str:
    """Prints, and starts what prints and reads."""
    print("printed in a call")
    os.write(1, b"written to descriptor 1\\n")
    said = subprocess.run([sys.executable, "-c", "print(repr(input()))"], stderr=subprocess.DEVNULL)
    subprocess.run(["echo", "echoed by a child"])
    return f"{call.id} {call.tool} {call.session} {said.returncode}"

@tool
def hold(number: int) -> int:
    """Waits in a thread until it is released."""
    released.wait(30)
    return number

@tool
async def release() -> None:
    """Releases them."""
    released.set()

@tool
async def wait_for_ever() -> None:
    """Waits."""
    try:
        await asyncio.Event().wait()
    finally:
        cleaned.write_text("yes")

@tool
async def stubborn() -> None:
    """Does not let itself be cancelled."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

@tool
async def block(seconds: float) -> None:
    """Blocks the loop."""
    (session.cwd / "blocked").touch()
    time.sleep(seconds)

@tool
async def cancel_itself() -> None:
    """Waits for what it has cancelled."""
    waited = asyncio.get_running_loop().create_future()
    waited.cancel()
    await waited

@tool
async def explode() -> None:
    """Raises."""
    raise ValueError("it exploded")

@tool
async def too_long() -> str:
    """Logs more than a frame may have."""
    await session.log("x" * (5 << 20))

@tool
async def nothing_but_zeros() -> str:
    """Answers what is six times as long as JSON."""
    return "\\0" * 1_000_000

@tool
async def stop_everything() -> None:
    """Stops the loop in which all of it runs."""
    asyncio.get_running_loop().stop()
    await asyncio.sleep(600)

@tool
async def asks() -> str:
    """Asks for what cannot be had, and for what can."""
    try:
        await session.ask("name?")
    except HostError as refused:
        return f"{refused} {session.workspace_path.name}"

@tool
async def wait_for_reply(seconds: float = 20) -> str:
    """Sends and waits."""
    try:
        return await session.send_and_wait("What is 2+2?", seconds)
    except (HostError, TimeoutError) as wrong:
        return f"{type(wrong).__name__}: {wrong}"

@tool
async def leave() -> None:
    """Detaches."""
    await session.detach()

@hook.pre_tool_use(tools=["bash"])
async def before(use: ToolUse):
    command = use.arguments.get("command")
    if command == "raise":
        raise ValueError("the hook failed")
    if command == "odd":
        return 7
    if command == "huge":
        return Context("x" * (5 << 20))
    if command == "all":
        change = Change(arguments={"command": "ls"})
        return [Allow("fine"), Ask("sure?"), change, Context("a"), Context("b")]
    if command == "facts":
        at = use.at.isoformat()
        return Context(f"{use.session} {use.cwd} {at} {use.tool_name} {use.tool_args}")

@hook.post_tool_use
def after(use: ToolDone):
    return Result(use.result.text.upper(), use.result.type)

@hook.error_occurred
def wrong(given):
    return ["retry", "abort", Notify(given.error)]

async def heard(event: Event) -> None:
    await session.log(f"{event.kind} {event.data} {event.number}")

session.on("session.idle", heard)
'''

ENDLESS = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("child") / "extension.py"
    file.write_text(CODE, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def peer(file: Path) -> Generator[Peer]:
    with Peer(file, file.parent).join() as peer:
        yield peer


@pytest.fixture
def own(file: Path, tmp_path: Path) -> Generator[Peer]:
    with Peer(file, tmp_path).join() as peer:
        yield peer


def test_it_joins_with_what_it_offers(peer: Peer) -> None:
    assert [one["method"] for one in peer.requests[:2]] == ["connect", "session.resume"]
    joined = peer.joined
    assert joined["sessionId"] == SESSION
    assert joined["tools"][0] == {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
            "required": ["a"],
            "additionalProperties": False,
        },
        "seconds": 30,
        "repeatable": True,
    }
    assert joined["hooks"] is True
    assert joined["hookKinds"] == {
        "preToolUse": ["bash"],
        "postToolUse": None,
        "errorOccurred": None,
    }
    assert joined["events"] == ["session.idle"]
    assert joined["kit"] == "1.1.0"


def test_calls_are_answered(peer: Peer) -> None:
    assert peer.call("add", {"a": 1}) == ("3", "success")
    assert peer.call("add", {"a": "x"}) == ('add: a: "x" is not a whole number', "failure")
    assert peer.call("explode") == ("it exploded", "failure")
    cancelled = "CancelledError: something that it waited for was cancelled"
    assert peer.call("cancel_itself") == (cancelled, "failure")
    assert peer.call("nowhere") == ("This extension has no tool nowhere.", "failure")
    said = "a message has 5,242,999 bytes; 4,194,304 are the most"
    assert peer.call("too_long")[0].split()[-4:] == said.split()[-4:]
    assert 'in explode\n    raise ValueError("it exploded")' in peer.stderr
    assert "airboss/extension/work.py" not in peer.stderr.partition("it exploded")[0]


def test_what_prints_does_not_disturb_the_protocol(peer: Peer) -> None:
    assert peer.call("noisy", call="c7") == (f"c7 noisy {SESSION} 1", "success")
    assert peer.noise == b""
    for line in ("while it is read", "printed in a call", "to descriptor 1", "by a child"):
        assert line in peer.stderr


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (None, None),
        ("raise", {"code": -32000, "message": "the hook failed"}),
        (
            "odd",
            {
                "code": -32000,
                "message": "hook.pre_tool_use may return nothing or Deny, Ask, Allow, Change, "
                "Context, not int",
            },
        ),
        (
            "all",
            {
                "permissionDecision": "ask",
                "permissionDecisionReason": "sure?",
                "modifiedArgs": {"command": "ls"},
                "additionalContext": "a\n\nb",
            },
        ),
    ],
)
def test_hooks_are_answered(peer: Peer, command: str | None, output: Any) -> None:
    given = {"command": command} if command else {}
    assert peer.hook("preToolUse", toolName="bash", toolArgs=given) == output


def test_a_hook_is_told_when_where_and_about_what(peer: Peer) -> None:
    output = peer.hook("preToolUse", toolName="bash", toolArgs={"command": "facts"})
    assert output["additionalContext"] == (
        f"{SESSION} {peer.cwd} 2025-10-09T08:53:20+00:00 bash {{'command': 'facts'}}"
    )
    assert peer.hook("preToolUse", toolName="edit", toolArgs={"command": "raise"}) is None
    assert peer.hook("preToolUse", toolName="bash", toolArgs="a bare text") is None
    assert peer.hook("sessionStart", source="new") is None
    assert peer.hook("somethingNew") is None


def test_an_answer_that_is_too_large_is_an_error_and_not_the_end(peer: Peer) -> None:
    wrong = peer.hook("preToolUse", toolName="bash", toolArgs={"command": "huge"})
    assert "4,194,304 are the most" in wrong["message"]
    assert peer.call("add", {"a": 1}) == ("3", "success")


def test_a_result_that_is_too_large_as_json_is_a_failure_and_not_the_end(peer: Peer) -> None:
    text, kind = peer.call("nothing_but_zeros")
    assert kind == "failure"
    assert "its result has 6,000,002 bytes; 4,128,768 are the most" in text
    assert peer.call("add", {"a": 1}) == ("3", "success")


def test_what_ends_it_is_said_and_the_exit_code_says_so(own: Peer) -> None:
    own.begin("stop_everything")
    assert own.ended() == 1
    said = "extension.py: RuntimeError: Event loop stopped before Future completed."
    assert own.stderr.splitlines()[-1] == said


def test_results_are_replaced_and_the_strongest_word_counts(peer: Peer) -> None:
    result = {"textResultForLlm": "done", "resultType": "success", "toolTelemetry": None}
    assert peer.hook("postToolUse", toolName="x", toolArgs={}, toolResult=result) == {
        "modifiedResult": {
            "textResultForLlm": "DONE",
            "resultType": "success",
            "binaryResultsForLlm": [],
        }
    }
    assert peer.hook("errorOccurred", error="bad", errorContext="system", recoverable=True) == {
        "errorHandling": "abort",
        "userNotification": "bad",
    }


def test_events_that_it_asked_for_are_told(peer: Peer) -> None:
    event = {"type": "session.idle", "data": {"n": 1}, "seq": 5}
    peer.notify("session.event", {"event": event})
    peer.until(lambda: peer.asked("session.log"))
    assert peer.asked("session.log")[-1] == {
        "sessionId": SESSION,
        "message": "session.idle {'n': 1} 5",
        "level": "info",
        "ephemeral": False,
    }


def test_what_the_host_refuses_raises(peer: Peer) -> None:
    assert peer.call("asks")[0] == "session.ui.elicitation cannot be had in Airboss workspace"


def test_it_says_that_it_lives_and_what_it_does_not_know(peer: Peer) -> None:
    assert peer.ask("ping", {})["result"] == {}
    assert peer.ask("canvas.open", {})["error"]["code"] == -32601
    peer.notify("session.lifecycle", {})
    peer.raw(b"this is no frame\n\n")
    peer.raw(b"[1]\nContent-Length: 3\r\n\r\n[1]")
    assert peer.ask("ping", {})["result"] == {}


def reply_to(peer: Peer, *events: "Told") -> str:
    before = len(peer.asked("session.send"))
    request = peer.begin("wait_for_reply")
    peer.until(lambda: len(peer.asked("session.send")) > before)
    for kind, data in events:
        peer.event(kind, **data)
    return peer.outcome(request)[0]


Told = tuple[str, dict[str, Any]]
SENT: Told = ("user.message", {"messageId": "m1"})
IDLE: Told = ("session.idle", {})


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (
            [
                ("assistant.message", {"content": "of before"}),
                IDLE,
                SENT,
                ("assistant.message", {"content": "Let me see."}),
                ("assistant.message", {"content": "4"}),
                ("assistant.message", {"content": "another's", "originatingMessageId": "m0"}),
                IDLE,
            ],
            "4",
        ),
        ([SENT, IDLE], ""),
        ([SENT, ("session.error", {"message": "no model"})], "HostError: no model"),
        (
            [("session.error", {"message": "blocked", "originatingMessageId": "m1"})],
            "HostError: blocked",
        ),
        (
            [SENT, ("session.idle", {"aborted": True})],
            "HostError: The turn was stopped before it was done.",
        ),
    ],
)
def test_a_reply_is_waited_for(peer: Peer, events: list[Told], said: str) -> None:
    assert reply_to(peer, *events) == said
    kinds = [one["eventType"] for one in peer.asked("session.eventLog.registerInterest")]
    assert set(kinds) == {"assistant.message", "session.error", "user.message"}


def test_a_reply_that_does_not_come_is_not_waited_for_for_ever(peer: Peer) -> None:
    assert peer.call("wait_for_reply", {"seconds": 0.1})[0].startswith("TimeoutError")


def test_a_call_that_is_withdrawn_is_cancelled_and_not_answered(own: Peer) -> None:
    request = own.begin("wait_for_ever")
    assert own.call("add", {"a": 1}) == ("3", "success")
    own.withdraw(request)
    own.until((own.cwd / "cleaned").exists)
    own.call("add", {"a": 1})
    assert not own.is_answered(request)


def test_a_request_that_is_under_way_is_not_taken_twice(own: Peer) -> None:
    request = own.begin("hold", {"number": 1})
    data = {"requestId": request, "toolName": "hold", "arguments": {"number": 2}}
    own.event("external_tool.requested", **data)
    own.call("release")
    assert own.outcome(request)[0] == "1"
    own.call("hold", {"number": 3})
    assert not own.is_answered(request)


def test_a_thousand_calls_at_once_are_answered_each_by_its_own(peer: Peer) -> None:
    requests = {peer.begin("add", {"a": number}): number for number in range(1000)}
    said = {request: peer.outcome(request) for request in requests}
    assert all(said[one] == (str(number + 2), "success") for one, number in requests.items())


def test_hooks_do_not_wait_behind_slow_tools(own: Peer) -> None:
    slow = [own.begin("hold", {"number": number}) for number in range(100)]
    result = {"textResultForLlm": "x", "resultType": "success"}
    assert own.hook("postToolUse", toolName="x", toolArgs={}, toolResult=result)
    assert not any(own.is_answered(one) for one in slow)
    own.call("release")
    assert [own.outcome(one)[0] for one in slow] == [str(number) for number in range(100)]


def test_a_loop_that_is_blocked_does_not_say_that_it_lives(own: Peer) -> None:
    request = own.begin("block", {"seconds": 1})
    own.until((own.cwd / "blocked").exists)
    assert own.ask("ping", {})["result"] == {}
    assert own.is_answered(request), "it was asked before that"


@pytest.mark.parametrize("way", ["streams", "signal"])
def test_it_ends_in_good_order_and_lets_tools_clean_up(own: Peer, way: str) -> None:
    own.begin("wait_for_ever")
    own.begin("hold", {"number": 1})
    own.call("add", {"a": 1})
    if way == "signal":
        own.process.send_signal(signal.SIGTERM)
    assert (own.ended() if way == "signal" else own.close_streams()) == 0
    assert (own.cwd / "cleaned").exists()


def test_a_tool_that_does_not_want_to_end_is_not_waited_for(own: Peer) -> None:
    own.begin("stubborn")
    own.call("add", {"a": 1})
    begun = time.monotonic()
    assert own.close_streams() == 0
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("code", [ENDLESS, CODE])
def test_nothing_that_it_does_outlives_the_host(code: str, tmp_path: Path) -> None:
    """It is still read, or its loop is blocked."""
    file = tmp_path / "extension.py"
    file.write_text(code, encoding="utf-8")
    with Peer(file, tmp_path) as peer:
        if code == CODE:
            peer.join().begin("block", {"seconds": 600})
        else:
            peer.until((tmp_path / "begun").exists)
        assert peer.close_streams() == 0


def test_it_ends_when_it_is_killed_and_leaves_nothing_behind(own: Peer) -> None:
    own.begin("wait_for_ever")
    own.process.kill()
    assert own.ended() == -signal.SIGKILL
    assert not list(own.cwd.rglob("__pycache__"))


def test_who_may_not_join_is_told_why(file: Path, tmp_path: Path) -> None:
    refused = {"session.resume": {"error": {"code": -32000, "message": "the name add is taken"}}}
    with Peer(file, tmp_path, refused) as peer:
        assert peer.ended() == 3
        assert peer.stderr.splitlines()[-1] == "extension.py: the name add is taken"


def test_a_fault_is_the_last_line_and_the_exit_code_says_so(tmp_path: Path) -> None:
    file = tmp_path / "extension.py"
    file.write_text("print('hello')\n\n1 / 0\n", encoding="utf-8")
    with Peer(file, tmp_path) as peer:
        assert peer.ended() == 1
        assert peer.stderr == "hello\nextension.py:3: ZeroDivisionError: division by zero\n"
        assert peer.requests == []


def test_who_starts_it_by_hand_is_told_what_to_do(file: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "SESSION_ID"}
    command = [sys.executable, "-m", "airboss.extension", str(file)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == (
        "Airboss starts this, with SESSION_ID. Try `airboss extension test`."
    )


def test_a_file_of_the_working_folder_does_not_run_in_place_of_another(
    file: Path, tmp_path: Path
) -> None:
    for name in ("json", "airboss", "asyncio"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    with Peer(file, tmp_path).join() as peer:
        assert peer.call("add", {"a": 1}) == ("3", "success")


@pytest.mark.alone
def test_a_call_and_a_hook_are_quick(peer: Peer) -> None:
    """By the median, as the machine does other things, too; the rest is room for slow machines."""
    took: dict[str, list[float]] = {"call": [], "hook": []}
    for _ in range(300):
        begun = time.perf_counter()
        peer.call("add", {"a": 1})
        took["call"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        peer.hook("preToolUse", toolName="bash", toolArgs={"command": "ls"})
        took["hook"].append(time.perf_counter() - begun)
    median = {name: sorted(times)[150] * 1000 for name, times in took.items()}
    assert median["call"] < 5, median
    assert median["hook"] < 5, median
