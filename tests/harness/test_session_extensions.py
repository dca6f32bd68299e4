"""What a session's parts see of its extensions: whose a call is, and whose hooks come first."""

from collections.abc import Mapping
from typing import Any, cast

from airboss.harness.hooks import SessionHooks
from airboss.harness.session_extensions import (
    JoinedHooks,
    NamedCalls,
    OwnOrBrought,
    SessionExtensions,
    answer_with,
    joined_hooks,
)
from airboss.model.events import ToolEnded, ToolStarted
from airboss.runtime.tools import OutsideCall, ToolOffer


class Brought:
    """An extension `helper` with a tool and two hooks."""

    def __init__(self) -> None:
        self.hooks = self
        self.names = frozenset({"postToolUse", "sessionEnd"})
        self.told: list[Mapping[str, Any]] = []

    def seconds_of(self, kind: str) -> float:
        return 15.0 if kind in self.names else 0.0

    def owner(self, tool: str) -> str | None:
        return "helper" if tool == "ticket" else None

    def brings(self, tool: str) -> bool:
        return tool == "ticket"

    has = brings

    async def call(self, call: OutsideCall) -> str:
        return f"extension: {call.tool}"

    async def answer_hook(self, name: str, said: Mapping[str, Any]) -> dict[str, Any]:
        self.told.append(said)
        return {"additionalContext": "theirs"}


class First:
    """Hooks of the settings that change a result, or block."""

    def __init__(self, **output: Any) -> None:
        self.names = frozenset({"postToolUse"})
        self.output = output

    def seconds(self, _name: str) -> float:
        return 3.0

    async def answer(self, _name: str, _said: object) -> dict[str, Any]:
        return dict(self.output)


def brought() -> tuple[Brought, SessionExtensions]:
    one = Brought()
    return one, cast("SessionExtensions", one)


def test_a_call_and_its_end_are_told_as_the_extensions() -> None:
    calls = NamedCalls(brought()[1])
    started = calls.name(ToolStarted(block="b", name="ticket", arguments="{}"))
    ended = calls.name(ToolEnded(block="b", text=""))
    assert isinstance(started, ToolStarted)
    assert isinstance(ended, ToolEnded)
    assert started.extension == ended.extension == "helper"
    other = calls.name(ToolStarted(block="c", name="bash", arguments="{}"))
    assert isinstance(other, ToolStarted)
    assert other.extension is None
    assert NamedCalls(None).name(other) is other


def test_the_runtime_itself_asks_for_their_tools() -> None:
    ours = OwnOrBrought([ToolOffer("mine", "", {}, None)], brought()[1])
    assert "mine" in ours
    assert "ticket" in ours
    assert "files-read" not in ours
    assert "ticket" not in OwnOrBrought([], None)


async def test_calls_of_their_tools_go_to_them_and_questions_to_people() -> None:
    async def people(call: OutsideCall) -> str:
        return f"person: {call.tool}"

    answer = answer_with(brought()[1], people)
    assert await answer(OutsideCall("r", "c", "ticket", {})) == "extension: ticket"
    assert await answer(OutsideCall("r", "c", "ask_user", {})) == "person: ask_user"
    assert answer_with(None, people) is people


async def test_their_hooks_come_last_see_what_was_changed_and_are_not_asked_behind_a_no() -> None:
    extension, host = brought()
    first = First(modifiedResult={"textResultForLlm": "new"}, additionalContext="ours")
    hooks = JoinedHooks(cast("SessionHooks", first), host)
    assert hooks.names == {"postToolUse", "sessionEnd"}
    assert (hooks.seconds("postToolUse"), hooks.seconds("sessionStart")) == (18.0, 3.0)
    said = await hooks.answer("postToolUse", {"toolName": "bash", "toolResult": "old"})
    assert said["additionalContext"] == "ours\n\ntheirs"
    assert extension.told == [{"toolName": "bash", "toolResult": {"textResultForLlm": "new"}}]
    blocking = JoinedHooks(cast("SessionHooks", First(decision="block", reason="no")), host)
    await blocking.answer("postToolUse", {})
    assert len(extension.told) == 1
    assert joined_hooks(None, None) is None
