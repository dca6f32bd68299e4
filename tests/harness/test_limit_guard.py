"""A session within its limits: counted, asked for where one is reached, shared with others."""

import asyncio

import pytest

from airboss.engine.slots import Slots
from airboss.harness.limit_guard import LIMIT_REACHED, LimitGuard, Refusal
from airboss.harness.limits import Budget
from airboss.harness.turn import Request
from airboss.log.log import EventLog
from airboss.model.events import PermissionDecided
from airboss.model.ids import PromptId, TaskRunId
from airboss.model.inbox_events import LimitReached
from airboss.model.limits import UsageLimits
from airboss.runtime.permission import permission_request
from airboss.runtime.signals import UsageSeen
from tests.engine.crew import place_in
from tests.harness.desk import Desk
from tests.harness.states import TaskBudgets, kinds, state_in, story

TASK = TaskRunId("tsk_1")
CALL = UsageSeen("m", 10, 5, 1.0, sub_agent=False)
READ = permission_request(
    {"permissionRequest": {"kind": "read", "path": "/work/a", "toolCallId": "call_1"}}
)
SHELL = permission_request(
    {
        "permissionRequest": {
            "kind": "shell",
            "fullCommandText": "rm x",
            "toolCallId": "call_1",
        }
    }
)


async def guarded(log: EventLog, **limits: float) -> tuple[Desk, LimitGuard]:
    desk = Desk(await state_in(log, limits=UsageLimits.model_validate(limits)))
    return desk, LimitGuard(desk.state, desk.pending, 2.0)


async def test_what_a_turn_uses_counts_in_the_turn_and_in_every_budget(log: EventLog) -> None:
    budget = Budget("task x", UsageLimits())
    state = await state_in(log, TASK, budgets=TaskBudgets({TASK: (budget,)}))
    guard = LimitGuard(state, Desk(state).pending, 2.0)
    turn = state.begin_turn(PromptId("pro_1"), Request(TASK))
    guard.begin(turn)
    guard.sent(turn)
    guard.count(turn, CALL)
    guard.count(None, CALL)
    used = [turn.usage, *(one.used for one in state.budgets)]
    assert [(one.turns, one.requests, one.multiplier) for one in used] == [
        (1, 1, 2.0),
        (1, 2, 2.0),
        (1, 2, 2.0),
    ]
    guard.end(turn)
    assert (await kinds(log))[-2:] == ["turn.usage", "turn.usage"]


@pytest.mark.parametrize(
    ("word", "refusal"),
    [
        ("go-on", None),
        ("deny", Refusal("ada denied more work at the limit of 1 turns of the session (1 used).")),
    ],
)
async def test_before_a_turn_too_many_somebody_is_asked(
    log: EventLog, word: str, refusal: Refusal | None
) -> None:
    desk, guard = await guarded(log, turns=1)
    turn = desk.state.begin_turn(PromptId("pro_1"), Request())
    assert await guard.hold(turn, before_turn=True) is None, "the first turn is allowed"
    guard.sent(turn)
    holding = asyncio.create_task(guard.hold(turn, before_turn=True))
    await desk.settle("go-on" if word == "go-on" else "deny")
    assert await holding == refusal
    if refusal is None:
        assert await guard.hold(turn, before_turn=True) is None, "what was granted holds on"


async def test_a_no_in_the_middle_of_a_turn_refuses_the_call_and_stops_the_turn(
    log: EventLog,
) -> None:
    desk, guard = await guarded(log, tokens=10)
    turn = desk.state.begin_turn(PromptId("pro_1"), Request())
    guard.count(turn, CALL)
    deciding = asyncio.create_task(guard.decide(READ))
    await desk.settle("deny")
    assert not (await deciding).allowed
    assert (turn.must_stop, turn.error and turn.error.name) == (True, LIMIT_REACHED)
    decided = [event for event in await story(log) if isinstance(event, PermissionDecided)]
    assert [(one.allowed, one.by) for one in decided] == [(False, "limit")]


async def test_without_a_turn_or_a_limit_the_request_itself_is_looked_at(log: EventLog) -> None:
    desk, guard = await guarded(log)
    assert (await guard.decide(READ)).allowed
    desk.state.begin_turn(None, None)
    assert (await guard.decide(READ)).allowed


async def test_of_two_sessions_at_one_limit_one_asks_and_the_answer_is_for_both(
    log: EventLog,
) -> None:
    budgets = TaskBudgets({TASK: (Budget("task x", UsageLimits(tokens=10)),)})
    first = Desk(await state_in(log, TASK, budgets=budgets))
    second = Desk(await state_in(log, TASK, budgets=budgets, session="ses_2"))
    guards = [LimitGuard(desk.state, desk.pending, None) for desk in (first, second)]
    turns = [desk.state.begin_turn(None, Request(TASK)) for desk in (first, second)]
    guards[0].count(turns[0], CALL)
    holding = [
        asyncio.create_task(guard.hold(turn)) for guard, turn in zip(guards, turns, strict=True)
    ]
    await first.settle("go-on")
    assert [await one for one in holding] == [None, None]
    assert "limit.reached" not in await kinds(log, "ses_2")


async def test_an_abort_ends_the_wait_for_the_other_session(log: EventLog) -> None:
    budget = Budget("task x", UsageLimits(tokens=10), is_asked=True)
    state = await state_in(log, TASK, budgets=TaskBudgets({TASK: (budget,)}))
    guard = LimitGuard(state, Desk(state).pending, None)
    turn = state.begin_turn(PromptId("pro_1"), Request(TASK))
    guard.count(turn, CALL)
    holding = asyncio.create_task(guard.hold(turn))
    await asyncio.sleep(0)
    state.end_turn(turn, "aborted", is_cut=False)
    guard.cancel()
    assert await holding == Refusal()


async def test_an_agent_that_says_nothing_for_too_long_is_asked_about_until_it_speaks(
    log: EventLog,
) -> None:
    desk, guard = await guarded(log, idle_minutes=0.0005)
    turn = desk.state.begin_turn(PromptId("pro_1"), Request())
    guard.begin(turn)
    [asked] = await desk.asked()
    assert isinstance(asked, LimitReached)
    assert asked.limit == "idleMinutes"
    guard.hear()
    # Read in the story: it is soon asked about again, and nobody might see that nothing is asked.
    async with asyncio.timeout(20):
        while "item.settled" not in await kinds(log):  # noqa: ASYNC110 - the story is read
            await asyncio.sleep(0.005)
    assert not turn.must_stop
    guard.end(turn)
    await guard.close()


async def test_who_waits_for_a_place_behind_an_answer_is_neither_at_work_nor_silent(
    log: EventLog,
) -> None:
    slots, limits = Slots(1), UsageLimits(idle_minutes=0.001)
    desk = Desk(await state_in(log, TASK, limits))
    guard = LimitGuard(desk.state, desk.pending, None)
    with (place := place_in(log, slots)), (other := place_in(log, slots, "2")):
        turn = desk.state.begin_turn(PromptId("pro_1"), Request(TASK, place))
        desk.state.watch.start()
        asking = asyncio.create_task(desk.pending.decide(SHELL))
        await desk.asked()
        await other.end()
        await desk.settle("allow-once")
        async with asyncio.timeout(20):
            while not desk.state.is_held or desk.state.waiting:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.005)
        desk.state.watch.lap()
        listening = asyncio.create_task(guard._listen(turn))  # pyright: ignore[reportPrivateUsage]
        await asyncio.sleep(0.2)
        assert desk.state.watch.lap() == 0
        assert not asking.done()
        assert "limit.reached" not in await kinds(log)
        listening.cancel()
        other.begin("your answer")
        assert (await asyncio.wait_for(asking, 5)).allowed
        assert not desk.state.is_held
        await asyncio.sleep(0.02)
        assert desk.state.watch.lap() > 0, "it works again"


async def test_who_waits_behind_the_approval_of_another_session_is_not_silent(
    log: EventLog,
) -> None:
    desk, _ = await guarded(log)
    desk.state.wait_behind("call_1", "the approval of another")
    assert desk.state.is_held
    desk.state.wait_behind("call_1", None)
    assert not desk.state.is_held


@pytest.mark.parametrize("asks", [True, False], ids=["asks itself", "behind another"])
async def test_who_is_called_away_while_it_waits_for_a_place_is_refused(
    log: EventLog, asks: bool
) -> None:
    budget = Budget("task x", UsageLimits(tokens=10), is_asked=not asks)
    desk = Desk(await state_in(log, TASK, budgets=TaskBudgets({TASK: (budget,)})))
    guard = LimitGuard(desk.state, desk.pending, None)
    with (place := place_in(log, Slots(0))):
        turn = desk.state.begin_turn(PromptId("pro_1"), Request(TASK, place))
        guard.count(turn, CALL)
        holding = asyncio.create_task(guard.hold(turn))
        async with asyncio.timeout(20):
            while place.waits_for is None:  # noqa: ASYNC110 - it says so in the same moment
                await asyncio.sleep(0)
        if asks:
            await desk.settle("go-on")
        else:
            budget.release()
        async with asyncio.timeout(20):
            while not place.waits_for.startswith("a free place"):  # noqa: ASYNC110
                await asyncio.sleep(0)
        place.call_away()
        assert await asyncio.wait_for(holding, 5) == Refusal()
        asking = asyncio.create_task(desk.pending.decide(SHELL))
        await desk.settle("allow-once")
        assert not (await asyncio.wait_for(asking, 5)).allowed, "it never goes on again"
