"""A conversation on the real runtime, when that says something at an odd moment."""

import asyncio
from pathlib import Path

import pytest

from airboss.background import FAILURES
from airboss.model.events import PromptSteered, TurnStarted
from airboss.runtime.hooks import ToolUse
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import RequestRead
from tests.harness.opened_house import House


async def _repeat_itself(agent: RuntimeSession) -> None:
    """In a turn that nobody asked for, until the gate has it aborted."""
    use = ToolUse("view", {"path": "a"})
    gate = agent._asked.gate  # pyright: ignore[reportPrivateUsage]
    assert gate is not None, "every session has its gate before it can work (GATE-8)"
    agent.hear({"type": "assistant.turn_start", "data": {}})
    for number in range(25):
        call = {"toolCallId": f"call_{number}", "toolName": "view", "arguments": {"path": "a"}}
        agent.hear({"type": "tool.execution_start", "data": call})
        await gate.before(use)
        end = {**call, "success": True, "result": {"content": "the same"}}
        agent.hear({"type": "tool.execution_complete", "data": end})


async def test_an_error_between_two_turns_is_told_and_the_next_request_works(
    house: House, tmp_path: Path
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    house.agents[0].hear({"type": "session.error", "data": {"message": "Out of the blue."}})
    kinds = [told.event.kind for told in await house.until_idle(view.id, view.seq)]
    assert kinds == ["turn.started", "session.error", "turn.ended", "session.idle"]
    receipt = await sessions.prompt(view.id, "hello", "me")
    last = await house.until_idle(view.id, receipt.seq)
    assert last[-2].event.model_dump(include={"outcome"}) == {"outcome": "done"}
    assert (await sessions.show(view.id)).state == "idle"


async def test_a_close_right_behind_a_loss_drops_no_request_that_was_begun(
    house: House, tmp_path: Path
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    receipt = await sessions.prompt(view.id, "hello", "me")
    await asyncio.sleep(0)  # the worker begins the turn; the disk does not have that yet
    house.agents[0].lost("The runtime is gone.")
    await sessions.close(view.id, "me")
    told = await house.services.log.after(view.id, receipt.seq)
    kinds = ["turn.started", "turn.ended", "session.interrupted", "session.closed"]
    assert [recorded.event.kind for recorded in told] == kinds


async def test_a_loop_in_a_turn_that_nobody_asked_for_ends_it(house: House, tmp_path: Path) -> None:
    """LOOP-10 (b): the runtime may wake the agent itself, and no worker waits for that turn."""
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    await _repeat_itself(house.agents[0])
    told = await house.until_idle(view.id, view.seq)
    kinds = [recorded.event.kind for recorded in told if "tool" not in recorded.event.kind]
    assert kinds[-3:] == ["session.error", "turn.ended", "session.idle"]
    assert told[-2].event.model_dump(include={"outcome"}) == {"outcome": "failed"}


async def test_an_abort_that_nobody_waits_for_has_ended_when_the_session_is_closed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    begun, ended = asyncio.Event(), asyncio.Event()

    async def abort() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(house.agents[0], "abort", abort)
    await _repeat_itself(house.agents[0])
    await asyncio.wait_for(begun.wait(), 5)
    await sessions.close(view.id, "me")
    assert ended.is_set()


async def test_an_abort_that_fails_is_logged_with_its_session_and_counted(
    house: House,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sessions, before = house.services.sessions, FAILURES.get("session", 0)
    view = await sessions.start("rehearsal", str(tmp_path), "me")

    async def stumble() -> None:
        raise LookupError("Out of the blue.")

    with monkeypatch.context() as patch:
        patch.setattr(house.agents[0], "abort", stumble)
        await _repeat_itself(house.agents[0])
        await asyncio.sleep(0)  # it begins, and fails
        await sessions.close(view.id, "me")
    assert f"session {view.id} turn of its own failed" in caplog.messages
    assert FAILURES["session"] > before


async def test_what_steers_is_accounted_for_also_when_the_runtime_answers_behind_its_turn(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = house.services.sessions
    view = await sessions.start("rehearsal", str(tmp_path), "me")
    agent = house.agents[0]

    async def slow(tag: str, _: str, _pictures: object) -> None:
        """The agent reads it and ends its turn, and only then the runtime says that it has it."""
        while (await sessions.show(view.id)).turn:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        agent._asked.hear(RequestRead(tag, past=True))  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(agent, "steer", slow)
    await sessions.prompt(view.id, "hello", "me")
    await asyncio.sleep(0)  # the worker begins the turn
    steers = await sessions.prompt(view.id, "hello again", "me", "steer")
    async with asyncio.timeout(10):
        while (now := await sessions.show(view.id)).state != "idle" or now.queue:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    told = [recorded.event for recorded in await house.services.log.after(view.id, view.seq)]
    [started] = [event for event in told if isinstance(event, TurnStarted)]
    [steered] = [event for event in told if isinstance(event, PromptSteered)]
    assert (steered.prompt, steered.turn) == (steers.prompt, started.turn)
