"""What a session lets its extensions do, and in which words they hear of it."""

from pathlib import Path
from typing import Any

import pytest

from airboss.background import Background
from airboss.errors import Invalid, TooMuch
from airboss.harness.extension_door import MOST_IN_A_ROW, ExtensionDoor
from airboss.harness.prompts import Extras
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.extension_events import ExtensionSaid
from airboss.model.ids import PromptId
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from tests.harness.desk import Desk
from tests.harness.states import state_in, story

pytestmark = pytest.mark.anyio


async def door_in(log: EventLog, sent: list[tuple[str, str, bool]]) -> ExtensionDoor:
    state = await state_in(log)

    async def decide(_request: PermissionRequest) -> PermissionAnswer:
        return PermissionAnswer(False, "no")

    async def send(text: str, who: str, steer: bool, _more: Extras) -> str:
        sent.append((text, who, steer))
        return f"prm_{len(sent)}"

    async def stop() -> None:
        sent.append(("stop", "", False))

    return ExtensionDoor(
        *(state, Desk(state).pending, (), decide, send, stop),
        *(lambda: Path("/work"), tuple, None, Background("test")),
    )


async def test_ten_prompts_in_a_row_are_the_most_until_a_person_sends_one(log: EventLog) -> None:
    sent: list[tuple[str, str, bool]] = []
    door = await door_in(log, sent)
    for number in range(MOST_IN_A_ROW):
        door.heard_from("extension helper")
        assert await door.prompt("x", "helper", steer=False, files=()) == f"prm_{number + 1}"
    with pytest.raises(TooMuch):
        await door.prompt("x", "other", steer=False, files=())
    door.heard_from("ada")
    await door.prompt("x", "other", steer=True, files=())
    assert sent[-1] == ("x", "extension other", True)


async def test_a_prompt_that_was_not_taken_does_not_count(log: EventLog) -> None:
    door = await door_in(log, [])
    taken = door.send

    async def refuse(*_: object) -> str:
        raise Invalid("There is no such file.")

    door.send = refuse
    for _ in range(2 * MOST_IN_A_ROW):
        with pytest.raises(Invalid):
            await door.prompt("x", "helper", steer=True, files=("gone",))
    assert door.in_a_row == 0
    assert door.author_of("x") is None
    door.send = taken
    await door.prompt("x", "helper", steer=False, files=())
    assert door.in_a_row == 1


async def test_whose_a_prompt_is_goes_by_its_turn_and_not_by_its_words(log: EventLog) -> None:
    door = await door_in(log, [])
    await door.prompt("the same", "helper", steer=False, files=())
    turn = door.state.begin_turn(PromptId("prm_1"), Request(who="ada"))
    assert door.author_of("the same") is None
    await door.prompt("beside it", "helper", steer=True, files=())
    assert door.author_of("a person's word") is None
    assert door.author_of("beside it") == "helper"
    assert door.author_of("beside it") is None
    door.state.end_turn(turn, None, is_cut=False)
    door.state.begin_turn(PromptId("prm_2"), Request(who="extension helper"))
    assert door.author_of("the same") == "helper"


async def test_events_have_our_names_of_requests_and_nothing_to_answer(log: EventLog) -> None:
    door = await door_in(log, [])
    door.state.begin_turn(PromptId("prm_9"), Request())

    def told(kind: str, **data: Any) -> Any:
        return door.in_our_words({"type": kind, "data": data}, {"m2": "prm_10"})["data"]

    assert told("user.message", messageId="m1") == {"messageId": "prm_9"}
    assert told("user.message", messageId="m2") == {"messageId": "prm_10"}
    said = told("assistant.message", originatingMessageId="m1", content="x")
    assert said == {"originatingMessageId": "prm_9", "content": "x"}
    failed = told("session.error", originatingMessageId="m2", message="x")
    assert failed == {"originatingMessageId": "prm_10", "message": "x"}
    told("tool.execution_start", toolCallId="c1", toolName="bash")
    assert told("tool.execution_complete", toolCallId="c1")["toolName"] == "bash"
    assert "toolName" not in told("tool.execution_complete", toolCallId="c2")
    assert told("permission.requested", requestId="r")["resolvedByHook"] is True


async def test_what_they_say_is_on_the_stream_until_the_session_is_over(log: EventLog) -> None:
    door = await door_in(log, [])
    door.tell(ExtensionSaid(name="helper", text="first"))
    door.state.is_over = True
    door.tell(ExtensionSaid(name="helper", text="second"))
    said = [event for event in await story(log) if isinstance(event, ExtensionSaid)]
    assert [one.text for one in said] == ["first"]
