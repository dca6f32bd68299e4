"""`airboss.extension.testing` plays the host for an extension, in the process of a test."""

import asyncio
import gc
import re
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType

import pytest

from airboss.extension import Allow, Change, Context, Deny, Event, Image, Result
from airboss.extension.testing import Loaded, SaidText, SentPrompt, load

CODE = '''
import asyncio
import datetime
import helper
from airboss.extension import *
from airboss.extension import hook, session, tool

heard = []

@tool
async def use_session(seconds: float = 5) -> list:
    """Uses all of it."""
    await session.log("hello")
    await session.log("careful", level="warning", ephemeral=True)
    first = await session.send("one", attachments=["a.txt", {"type": "directory", "path": "b"}])
    await session.send("two", steer=True)
    reply = await session.send_and_wait("three", seconds=seconds)
    name = await session.ask("name?")
    colour = await session.ask("colour?", ["red", "blue"])
    events = [event.data["n"] for event in await session.events(after=1)]
    await session.abort()
    await session.detach()
    return [first != "", reply, name, colour, events]

@tool
def from_a_thread() -> str:
    """Logs without await."""
    asyncio.run(session.log(f"from {session.id} in {session.cwd.name}"))
    return helper.NAME

@tool(parameters={"type": "object", "properties": {"a": {}}})
def own_schema(call: Call, a, b=2):
    """Has its own schema."""
    return {"a": a, "b": b, "call": call.id}

@tool
def odd() -> object:
    """Returns what JSON cannot say."""
    return {"at": datetime.date.today()}

@tool
async def two_failures() -> None:
    """Fails in two ways at once."""
    async def fail(error: Exception) -> None:
        raise error
    async with asyncio.TaskGroup() as group:
        group.create_task(fail(ValueError("it is shut")))
        group.create_task(fail(KeyError("key")))

@tool
def nothing_more() -> str:
    """Takes from what is empty."""
    return next(iter([]))

@tool
def show(times: int) -> Result:
    """Shows a dot."""
    return Result("a dot", images=[Image(b"GIF89a" + b"x" * 300_000)] * times)

@tool
def leave() -> str:
    """Wants to end."""
    raise SystemExit(3)

@tool
def missing() -> str:
    """Looks up what is not there."""
    return {}["key"]

@tool
def too_much() -> str:
    """Says too much."""
    return "ä" * 600_000

@tool
async def bad_level() -> None:
    """Logs wrongly."""
    await session.log("x", level="loud")

@hook.pre_tool_use(tools=["bash"])
def first(use):
    use.arguments["leaks"] = True
    return [Change(arguments={"command": "second"}), Context("one")]

@hook.pre_tool_use
async def second(use):
    return [Context(str(use.arguments))] + ([Deny("no")] if use.tool == "rm" else [])

@hook.pre_tool_use
async def third(use):
    return Ask("sure?")

@hook.session_start
def odd_answer(start):
    return Deny("it cannot")

@hook.error_occurred
def odd_word(error):
    return "explode"

@hook.user_prompt_submitted
def wrong_change(given):
    return Change(arguments={})

@hook.session_end
def fails(end):
    raise ValueError("failed on purpose")

def hear(event: Event) -> None:
    heard.append(event.data["n"])
    if len(heard) == 2:
        stop()

async def fail(event: Event) -> None:
    raise ValueError("heard badly")

stop = session.on("session.idle", hear)
session.on("session.idle", fail)

@tool
def what_was_heard() -> list:
    """Tells."""
    return heard
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "helper.py").write_text("NAME = 'helper of the test'\n", encoding="utf-8")
    code = CODE.replace("-> list:", "-> object:")
    (folder / "extension.py").write_text(code, encoding="utf-8")
    return folder


@pytest.fixture
def extension(folder: Path) -> Generator[Loaded]:
    with load(folder, cwd=folder, session="ses_7") as loaded:
        yield loaded


def test_everything_of_the_session_is_played(extension: Loaded) -> None:
    extension.replies = ["four"]
    extension.answers = ["shop", "red"]
    extension.past = [Event("a", {"n": 1}, number=1), Event("a", {"n": 2}, number=2)]
    said = extension.call("use_session")
    assert said == Result('[true, "four", "shop", "red", [2]]')
    assert extension.said == [SaidText("hello"), SaidText("careful", "warning", ephemeral=True)]
    attached = ({"type": "file", "path": "a.txt"}, {"type": "directory", "path": "b"})
    assert extension.sent == [
        SentPrompt("one", attachments=attached),
        SentPrompt("two", steer=True),
        SentPrompt("three"),
    ]
    assert extension.asked == ["name?", "colour?"]
    assert (extension.aborts, extension.is_detached) == (1, True)


def test_without_answers_nobody_answers(extension: Loaded) -> None:
    assert extension.call("use_session").text == '[true, "", null, null, []]'


def test_a_function_without_async_uses_the_session_too(extension: Loaded, folder: Path) -> None:
    assert extension.call("from_a_thread").text == "helper of the test"
    assert extension.said == [SaidText(f"from ses_7 in {folder.name}")]


async def test_it_can_be_used_where_a_loop_runs(extension: Loaded) -> None:
    await asyncio.sleep(0)
    assert extension.call("from_a_thread").type == "success"


def test_a_tool_with_its_own_schema_has_its_names_checked(extension: Loaded) -> None:
    said = extension.call("own_schema", {"a": 1}, id="c9")
    assert said.text == '{"a": 1, "b": 2, "call": "c9"}'
    assert "missing a required argument: 'a'" in extension.call("own_schema").text
    assert "unexpected keyword argument 'z'" in extension.call("own_schema", {"a": 1, "z": 1}).text
    given = extension.call("own_schema", {"a": 1, "call": "forged"})
    assert given.type == "failure" or '"c9"' not in given.text


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        (
            "odd",
            "a tool should return text, a Result, or JSON values: "
            "Object of type date is not JSON serializable",
        ),
        ("two_failures", "unhandled errors in a TaskGroup: it is shut; KeyError: 'key'"),
        ("nothing_more", "StopIteration: there was nothing more to take"),
        ("leave", "SystemExit: 3"),
        ("missing", "KeyError: 'key'"),
        ("too_much", "too_much: its result has 1,200,000 bytes; 1,048,576 are the most."),
        ("bad_level", "log: the level should be one of info, warning, error"),
    ],
)
def test_what_goes_wrong_in_a_tool_is_a_failure(extension: Loaded, tool: str, text: str) -> None:
    assert extension.call(tool) == Result(text, "failure")


def test_a_result_may_have_images(extension: Loaded) -> None:
    shown = extension.call("show", {"times": 2})
    assert [one.mime_type for one in shown.images] == ["image/gif", "image/gif"]
    too_many = extension.call("show", {"times": 8})
    assert (too_many.type, too_many.images) == ("failure", ())
    assert (
        too_many.text == "show: its images have 3,200,064 bytes as base64; 3,145,728 are the most."
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n rest", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x0a\n\n\nWEBPVP8 ", "image/webp"),
    ],
)
def test_what_kind_an_image_is_can_be_seen(data: bytes, kind: str) -> None:
    assert Image(data).mime_type == kind
    assert Image(data, "image/x-own").mime_type == "image/x-own"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Image(b"<svg>"), "pass mime_type="),
        (lambda: Image(b"x", "text/html"), "not 'text/html'"),
        (lambda: Image("a.png"), "not str"),  # type: ignore[arg-type]
        (lambda: Result("x", "failure", [Image(b"x", "image/png")]), "only a success has images"),
        (lambda: Result("x", images=Image(b"x", "image/png")), "a list of Image"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_image_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises((TypeError, ValueError), match=reason):
        make()


def test_each_hook_sees_what_the_one_before_has_changed(extension: Loaded) -> None:
    answers = extension.fire("pre_tool_use", tool="bash", arguments={"command": "first"})
    assert answers[:2] == [Change(arguments={"command": "second"}), Context("one")]
    assert answers[2] == Context("{'command': 'second'}")
    assert len(answers) == 4


def test_what_was_allowed_before_a_change_was_another_call(tmp_path: Path) -> None:
    file = tmp_path / "extension.py"
    file.write_text(
        "from airboss.extension import Allow, Change, hook\n"
        "@hook.pre_tool_use\ndef first(use): return Allow('harmless')\n"
        "@hook.pre_tool_use\ndef second(use):\n"
        "    if use.tool == 'bash': return [Change(arguments={'command': 'rm'}), Allow('mine')]\n",
        encoding="utf-8",
    )
    with load(file) as extension:
        assert extension.fire("pre_tool_use", tool="bash", arguments={}) == [
            Change(arguments={"command": "rm"}),
            Allow("mine"),
        ]
        assert extension.fire("pre_tool_use", tool="x", arguments={}) == [Allow("harmless")]


def test_a_deny_is_the_last_word(extension: Loaded) -> None:
    assert extension.fire("pre_tool_use", tool="rm", arguments={}) == [Context("{}"), Deny("no")]


@pytest.mark.parametrize(
    ("kind", "fields", "error", "said"),
    [
        (
            "session_start",
            {},
            TypeError,
            "hook.session_start may return nothing or Context, not Deny",
        ),
        (
            "error_occurred",
            {"error": "x"},
            ValueError,
            "hook.error_occurred may return 'abort' or 'skip' or 'retry', not 'explode'",
        ),
        (
            "user_prompt_submitted",
            {"prompt": "x"},
            TypeError,
            "hook.user_prompt_submitted can only change the prompt",
        ),
        ("session_end", {}, ValueError, "failed on purpose"),
        ("nothing", {}, LookupError, "There is no hook nothing"),
    ],
)
def test_what_a_hook_may_not_do_fails_the_test(
    extension: Loaded, kind: str, fields: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)):
        extension.fire(kind, **fields)


def test_a_tool_that_is_not_there_fails_the_test(extension: Loaded) -> None:
    with pytest.raises(LookupError, match="There is no tool nothing"):
        extension.call("nothing")


def test_events_reach_those_who_follow_until_they_stop(extension: Loaded) -> None:
    for number in range(3):
        extension.emit("session.idle", n=number)
    extension.emit("session.error", n=9)
    assert extension.call("what_was_heard").text == "[0, 1]"


def test_two_extensions_in_one_process_know_nothing_of_each_other(folder: Path) -> None:
    with load(folder, session="a") as one, load(folder, session="b") as other:
        one.emit("session.idle", n=1)
        one.call("from_a_thread")
        assert other.call("what_was_heard").text == "[]"
        assert [said.text.split()[1] for said in one.said] == ["a"]
        assert other.said == []


IMPORTING = """
import helper
from airboss.extension import tool

@tool
def names() -> list:
    "Imports at the top and in the call."
    import later
    return [helper.NAME, later.NAME]
"""


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    """Two that have files of the same names beside them."""
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
        (folder / "extension.py").write_text(IMPORTING, encoding="utf-8")
        for name in ("helper", "later"):
            text = f"NAME = '{name} of {folder.name}'\n"
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folders


def test_each_has_the_files_beside_it_whoever_else_has_their_names(
    pair: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = ModuleType("helper")
    monkeypatch.setitem(sys.modules, "helper", foreign)
    with load(pair[0]) as one, load(pair[1]) as other:
        for _ in range(2):
            assert other.call("names").text == '["helper of other", "later of other"]'
            assert one.call("names").text == '["helper of one", "later of one"]'
        assert sys.modules["helper"] is foreign
    assert sys.modules["helper"] is foreign


def test_a_test_that_lies_beside_it_stays(
    pair: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ModuleType("test_one")
    test.__file__ = str(pair[0] / "test_one.py")
    monkeypatch.setitem(sys.modules, "test_one", test)
    load(pair[0]).close()
    assert sys.modules["test_one"] is test


def test_nothing_is_left_of_it_afterwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(sys.path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    extension = load(folder)
    assert "helper" in sys.modules
    extension.close()
    assert sys.path == before
    assert "helper" not in sys.modules
    forgotten = load(folder)
    del forgotten
    gc.collect()
    assert sys.path == before
    assert not (folder / "__pycache__").exists()
    assert not sys.dont_write_bytecode
