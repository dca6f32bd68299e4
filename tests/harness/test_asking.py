"""A task asks a session on the real runtime and is told what came of it, whatever that is."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.errors import AirbossError, Conflict, NotSignedIn, RuntimeUnavailable
from airboss.harness.turn import AcceptedPrompt, Failure, TurnReport
from airboss.model.events import PromptAccepted, PromptDropped, TurnStarted
from airboss.model.ids import TaskRunId
from airboss.model.task_events import ToolCall
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.settings import Policy
from tests.runtime.conftest import soon
from tests.service.house import ME, House, house_in

TASK = TaskRunId("tsk_1")
WHO = f"task {TASK}"
SECRET = "ghp_" + "a1B2" * 9
SCRIPT = """
rules:
  - when: "change your mind"
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "not yet"}}
      - calls:
          - {tool: job_boolean_true, arguments: {argument: "now it does: é 🛫"}}
          - {tool: job_prepare_document, arguments: {argument: "/docs/plan.md"}}
      - say: "Done."
  - when: "one after another"
    steps:
      - calls:
          - {tool: job_boolean_true, arguments: {argument: "1"}}
          - {tool: job_boolean_false, arguments: {argument: "2"}}
          - {tool: job_boolean_true, arguments: {argument: "3"}}
          - {tool: job_boolean_false, arguments: {argument: "4"}}
          - {tool: job_boolean_true, arguments: {argument: "5"}}
          - {tool: job_boolean_false, arguments: {argument: "6"}}
      - say: "Done."
  - when: "blunder"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: 5}}
      - call: {tool: job_boolean_true, arguments: {reason: "no argument"}}
      - call: {tool: job_prepare_document, arguments: {}}
      - call: {tool: job_unheard_of, arguments: {argument: "x"}}
      - call: {tool: view, arguments: {path: "{cwd}", argument: "x"}}
      - call: {tool: job_prerequisite_failed, arguments: {argument: "no network"}}
      - say: "Done."
  - when: "hand it on"
    steps:
      - call:
          tool: task
          arguments:
            {agent_type: general-purpose, name: h, description: h, mode: sync, prompt: "find out"}
      - say: "It did."
  - when: "find out"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "from below"}}
      - say: "Found."
  - when: "tell a secret"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "It is SECRET."}}
      - say: "Done."
  - when: "take your time"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "so far"}}
      - say: "One moment."
      - sleep: 30
  - when: "unlucky"
    steps: [{fail: {status: 400}}]
  - when: "hello"
    steps: [{say: "Hello."}]
"""
SO_FAR = (ToolCall(tool="job_boolean_true", argument="so far"),)
SAID = "One moment."


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT.replace("SECRET", SECRET), encoding="utf-8")
    async with house_in(tmp_path, rehearsal=script) as house:
        yield house


async def start(house: House, policy: Policy | None = None) -> str:
    return (await house.sessions.start("rehearsal", str(house.work), WHO, policy)).id


async def ask(house: House, session: str, text: str) -> AcceptedPrompt:
    return await house.sessions.ask(session, text, WHO, TASK)


async def over(asked: AcceptedPrompt, seconds: float = 15) -> TurnReport:
    async with asyncio.timeout(seconds):
        return await asked.report()


async def under_way(house: House, session: str) -> None:
    """Until the model has called its tool, has said its words and sleeps."""
    async with asyncio.timeout(15), house.sessions.follow(session, 0) as follower:
        while not any(told.event.kind == "message.delta" for told in await follower.next(5)):
            pass


async def test_the_receipt_comes_at_once_and_the_report_when_the_turn_is_over(
    house: House,
) -> None:
    session = await start(house)
    asked = await ask(house, session, "change your mind")
    assert not asked.is_over
    report = await over(asked)
    assert report == TurnReport(
        "done",
        None,
        (
            ToolCall(tool="job_boolean_false", argument="not yet"),
            ToolCall(tool="job_boolean_true", argument="now it does: é 🛫"),
            ToolCall(tool="job_prepare_document", argument="/docs/plan.md"),
        ),
        message="Done.",
    )
    assert await over(asked) == report, "it is told as often as one asks"
    [accepted] = [e for e in await house.story(session) if isinstance(e, PromptAccepted)]
    assert (accepted.prompt, accepted.task, accepted.who) == (asked.receipt.prompt, TASK, WHO)
    assert (await over(await ask(house, session, "hello"))).calls == (), "each turn has its own"


async def test_calls_of_one_message_are_told_in_its_order(house: House) -> None:
    report = await over(await ask(house, await start(house), "one after another"))
    assert [call.argument for call in report.calls] == ["1", "2", "3", "4", "5", "6"]


async def test_a_call_that_failed_or_is_of_another_tool_does_not_count(house: House) -> None:
    report = await over(await ask(house, await start(house), "blunder"))
    assert report.outcome == "done"
    assert report.calls == (ToolCall(tool="job_prerequisite_failed", argument="no network"),)


async def test_job_tools_need_no_permission_under_any_policy(house: House) -> None:
    for policy in ("deny-all", "ask", "read-only"):
        session = await start(house, policy)
        assert (await house.sessions.show(session)).policy == policy
        assert len((await over(await ask(house, session, "change your mind"))).calls) == 3
        assert "permission.decided" not in await house.kinds(session)


async def test_a_sub_agents_calls_count_too(house: House) -> None:
    report = await over(await ask(house, await start(house, "approve-all"), "hand it on"))
    assert report.calls == (ToolCall(tool="job_boolean_true", argument="from below"),)


async def test_a_report_holds_no_secret(house: House) -> None:
    report = await over(await ask(house, await start(house), "tell a secret"))
    [call] = report.calls
    assert call.argument.startswith("It is ")
    assert SECRET not in call.argument


async def test_a_failing_service_is_a_failed_report_with_its_words(house: House) -> None:
    session = await start(house)
    report = await over(await ask(house, session, "unlucky"))
    assert (report.outcome, report.calls) == ("failed", ())
    assert report.error is not None
    assert (report.error.name, report.error.status) == ("query", 400)
    assert "The rehearsal script says that this request fails." in report.error.message
    assert (await over(await ask(house, session, "hello"))).outcome == "done"


async def test_a_killed_runtime_is_told_to_all_who_wait_within_three_seconds(
    house: House,
) -> None:
    session = await start(house)
    asked = [await ask(house, session, text) for text in ("take your time", "hello")]
    await under_way(house, session)
    began = time.monotonic()
    house.kill_runtime()
    first, second = [await over(each, 3) for each in asked]
    assert time.monotonic() - began < 3
    assert (first.outcome, first.calls) == ("interrupted", SO_FAR)
    assert (second.outcome, second.calls) == ("interrupted", ())
    assert first.error == second.error
    assert first.error is not None
    assert first.error.name == "RuntimeLost"
    assert "died" in first.error.message


async def test_an_aborted_turn_is_told_and_the_next_request_is_worked_on(house: House) -> None:
    session = await start(house)
    first, second = [await ask(house, session, text) for text in ("take your time", "hello")]
    await under_way(house, session)
    await house.sessions.abort(session)
    assert await over(first) == TurnReport("aborted", None, SO_FAR, message=SAID)
    assert (await over(second)).outcome == "done"


async def test_a_close_drops_what_is_begun_and_what_waits(house: House) -> None:
    session = await start(house)
    first = await ask(house, session, "take your time")
    await house.sessions.prompt(session, "hello", ME)
    second = await ask(house, session, "hello")
    await under_way(house, session)
    await house.sessions.close(session, ME)
    assert first.is_over
    assert second.is_over
    closed = Failure("SessionClosed", "The session was closed.")
    assert await over(first) == TurnReport("dropped", closed, SO_FAR, message=SAID)
    assert await over(second) == TurnReport("dropped", closed)
    with pytest.raises(Conflict):
        await ask(house, session, "hello")


async def test_a_persons_requests_are_worked_on_between_a_tasks(house: House) -> None:
    session = await start(house)
    first = await ask(house, session, "change your mind")
    person = await house.sessions.prompt(session, "hello", ME)
    second = await ask(house, session, "blunder")
    assert len((await over(first)).calls) == 3
    assert len((await over(second)).calls) == 1
    begun = [e.prompt for e in await house.story(session) if isinstance(e, TurnStarted)]
    assert begun == [first.receipt.prompt, person.prompt, second.receipt.prompt]


async def test_a_stopping_server_leaves_nobody_waiting(house: House) -> None:
    session = await start(house)
    asked = [await ask(house, session, text) for text in ("take your time", "hello")]
    waiting = asyncio.create_task(asked[0].report())
    await under_way(house, session)
    await house.sessions.stop()
    stopped = Failure("ServerStopped", "The server was stopped.")
    assert (
        await over(asked[0])
        == await waiting
        == TurnReport("interrupted", stopped, SO_FAR, message=SAID)
    )
    assert await over(asked[1]) == TurnReport("interrupted", stopped)


async def test_who_stops_waiting_disturbs_nobody(house: House) -> None:
    session = await start(house)
    asked = await ask(house, session, "change your mind")
    hasty = asyncio.create_task(asked.report())
    await asyncio.sleep(0)
    hasty.cancel()
    assert (await over(asked)).outcome == "done"
    assert hasty.cancelled()


async def test_a_request_that_is_withdrawn_while_it_is_written_is_dropped(house: House) -> None:
    session = await start(house)
    asking = asyncio.create_task(ask(house, session, "hello"))
    while not house.sessions.open_count()[1]:  # noqa: ASYNC110  # it has no event for this
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled()
    assert (await over(await ask(house, session, "change your mind"))).outcome == "done"
    story = await house.story(session)
    withdrawn, kept = [e.prompt for e in story if isinstance(e, PromptAccepted)]
    assert [e.prompt for e in story if isinstance(e, PromptDropped)] == [withdrawn]
    assert [e.prompt for e in story if isinstance(e, TurnStarted)] == [kept]


@pytest.mark.parametrize("error", [RuntimeUnavailable("It is gone."), NotSignedIn("No token.")])
async def test_a_request_to_a_session_that_cannot_be_resumed_is_told_why(
    house: House, error: AirbossError
) -> None:
    session = await start(house)
    house.kill_runtime()
    await house.until(session, "interrupted")
    asked: list[AcceptedPrompt] = []

    async def never(_: SessionRequest) -> RuntimeSession:
        asked.append(await ask(house, session, "hello"))
        raise error

    house.sessions.open_session = never
    with pytest.raises(type(error)):
        await house.sessions.resume(session, ME)
    report = TurnReport("interrupted", Failure(type(error).__name__, str(error)))
    assert await over(asked[0]) == report


async def test_a_resumed_session_has_the_job_tools_and_the_policy_it_is_given(
    house: House, tmp_path: Path
) -> None:
    session = await start(house)
    await over(await ask(house, session, "hello"))
    kept = tmp_path / "data" / "copilot-home" / "session-state" / session / "events.jsonl"
    # The runtime writes a moment later than it speaks.
    assert await soon(lambda: kept.exists() and "assistant.turn_end" in kept.read_text("utf-8"))
    house.kill_runtime()
    await house.until(session, "interrupted")
    await house.sessions.resume(session, WHO, "deny-all")
    assert len((await over(await ask(house, session, "change your mind"))).calls) == 3
    await over(await ask(house, session, "blunder"))
    [decided] = [e for e in await house.story(session) if e.kind == "permission.decided"]
    told = {"by": "policy deny-all", "reason": "The policy deny-all refuses every request."}
    assert decided.model_dump(include={"by", "reason"}) == told
