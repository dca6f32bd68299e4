"""What is known of a turn, and what whoever waits for it is told."""

import asyncio
import json

from airboss.harness.turn import AcceptedPrompt, Failure, Receipt, Request, Turn, TurnReport, within
from airboss.model.events import SessionError, ToolEnded, ToolError, ToolStarted
from airboss.model.ids import PromptId, TaskRunId, TurnId
from airboss.model.task_events import ToolCall
from airboss.runtime.signals import ModelAnswered, Retrying

PROMPT = PromptId("pro_1")


def begun(task: str | None = "tsk_1") -> Turn:
    return Turn(TurnId("trn_1"), PROMPT, Request(TaskRunId(task) if task else None))


def called(block: str, argument: object, tool: str = "job_boolean_true") -> ToolStarted:
    return ToolStarted(block=block, name=tool, arguments=json.dumps({"argument": argument}))


async def told(turn: Turn) -> TurnReport:
    assert turn.request
    return await AcceptedPrompt(Receipt(PROMPT, 1, 0), turn.request.answer).report()


async def test_calls_count_in_the_order_in_which_they_were_made_once_they_have_succeeded() -> None:
    turn = begun()
    for block in ("call_1", "call_2", "call_3", "call_4"):
        turn.note_tool(called(block, f"because {block}"))
    turn.note_tool(called("call_5", 5))
    turn.note_tool(called("call_6", "x", "bash"))
    for block in ("call_6", "call_5", "call_3", "call_1"):
        turn.note_tool(ToolEnded(block=block, text=""))
    turn.note_tool(ToolEnded(block="call_2", text="", error=ToolError(message="no")))
    turn.note_tool(ToolEnded(block="call_4", text="", cut=True))
    turn.end(None)
    calls = (await told(turn)).calls
    assert calls == tuple(
        ToolCall(tool="job_boolean_true", argument=f"because {block}")
        for block in ("call_1", "call_3")
    )


async def test_the_first_failure_is_the_reason_and_stirs_whoever_waits() -> None:
    turn = begun()
    assert turn.fail(SessionError(name="query", message="It broke.", status=500))
    assert not turn.fail(SessionError(name="other", message="And again."))
    assert turn.stirred.is_set()
    assert not turn.over.is_set()
    assert turn.end("aborted").outcome == "failed", "it failed before it was aborted"
    assert await told(turn) == TurnReport("failed", Failure("query", "It broke.", 500))


async def test_who_waits_is_told_of_the_sessions_end_and_not_of_the_turns_own() -> None:
    turn, end = begun(), TurnReport("interrupted", Failure("RuntimeLost", "It is gone."))
    turn.cut_short("interrupted", end)
    assert turn.end("done").outcome == "interrupted"
    assert await told(turn) == end


async def test_the_last_message_with_words_is_reported() -> None:
    turn = begun()
    for text in ("I look at it.", "It is done.", " \n"):
        turn.note_message(text)
    turn.end(None)
    assert (await told(turn)).message == "It is done."


async def test_models_and_retries_are_noted() -> None:
    turn = begun(None)
    for model in ("m-1", "m-2", "m-1"):
        assert turn.note(ModelAnswered(model)) is None
    said = turn.note(Retrying("too many requests"))
    assert said
    assert (said.turn, said.reason) == (turn.id, "too many requests")
    assert turn.end(None).models == ("m-1", "m-2")
    assert (turn.is_of_task, begun().is_of_task) == (False, True)


async def test_an_answer_is_given_once_and_who_stops_waiting_changes_nothing() -> None:
    request = Request()
    asked = AcceptedPrompt(Receipt(PROMPT, 1, 0), request.answer)
    waiting = asyncio.create_task(asked.report())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    request.settle(TurnReport("done"))
    request.settle(TurnReport("failed"))
    assert asked.is_over
    assert (await asked.report()).outcome == "done"


async def test_a_wait_ends_by_its_time_at_the_latest() -> None:
    never = asyncio.Event()
    await within(0.01, never)
    assert not never.is_set()
