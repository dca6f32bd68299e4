"""Seed 001's calls about tasks: started on a session, followed by `live`, stopped."""

import asyncio
import json
import time

import pytest

from tests.contract.guest import Told
from tests.contract.task_guest import (
    INSTALL,
    ODD_NAMES,
    TIMEOUT,
    TaskGuest,
)
from tests.contract.test_live import names
from tests.portal import Portal
from tests.service.errands import DOCUMENT, PREREQUISITE, SAY_SO

BOTH = pytest.mark.parametrize("method", ["GET", "POST"])
CLOSED = {"error": "TaskClosed"}
NOT_FOUND = {"error": "TaskNotFound"}
NOT_CALLED = f"criteria.toolExecuted does not hold: Not called: {DOCUMENT}."
UNMET = (
    f"[CRITERIA] criteria.toolExecuted does not hold.\nIt says: {DOCUMENT}\n"
    f"Reason: Not called: {DOCUMENT}."
)


def decided(*texts: str) -> list[Told]:
    return [{"callback": "taskDecision", "reason": text} for text in texts]


def opened(session: str, model: str, *, driving: bool = True) -> list[Told]:
    kind = "Driving" if driving else "Task"
    return [
        {"callback": "taskSessionStarted", "sessionId": session, "isDriving": driving},
        *decided(f"[SESSION STARTED] {kind} session {session} on {model}."),
    ]


def closed(session: str, *, succeeded: bool) -> Told:
    return {"callback": "taskSessionStopped", "sessionId": session, "succeeded": succeeded}


def generated(heard: list[Told]) -> list[str]:
    return [told["prompt"] for told in heard if told.get("callback") == "onGeneratedUserPrompt"]


def without_deltas(heard: list[Told]) -> list[str]:
    return [name for name in names(heard) if name != "onMessage"]


async def sessions_of(tasker: TaskGuest, run: str) -> list[str]:
    return [view["id"] for view in await tasker.opened_by(run)]


# task/start


@BOTH
async def test_every_call_of_a_task_answers_to_both_methods(tasker: TaskGuest, method: str) -> None:
    session = await tasker.start("coder")
    told = await tasker.try_borrow("plan", session, method=method)
    assert list(told) == ["taskId"]
    first = await tasker.task_live(told["taskId"], method)
    assert [first] == decided("[OPERATION] Sends the prompt.")
    await tasker.drained(told["taskId"])
    assert await tasker.task_stop(told["taskId"], method) == NOT_FOUND


async def test_the_session_is_checked_before_the_task(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    for name in ("plan", "nobody"):
        assert await tasker.try_borrow(name, "ses_x") == {"error": "SessionNotFound"}
    for name in ("nobody", "Plan", "plan ", ""):
        assert await tasker.try_borrow(name, session) == NOT_FOUND, name
    await tasker.stop(session)
    for name in ("plan", "nobody"):
        assert await tasker.try_borrow(name, session) == {"error": "SessionNotFound"}


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_a_tasks_name_may_be_percent_encoded(tasker: TaskGuest, name: str) -> None:
    run = await tasker.borrow(name, await tasker.start("coder"))
    assert (await tasker.show_run(run))["task"] == name
    assert names(await tasker.drained(run))[-1] == "taskSucceeded"


async def test_the_body_is_the_input_and_no_check_is_made_of_it(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    for text in ("this & that\nün 🛫 $task-model", ""):
        await tasker.drained(await tasker.borrow("input", session, text))
        heard = await tasker.hear(session)
        assert generated(heard) == [f"Do: {text or '<MISSING>'}"]
    await tasker.drained(await tasker.borrow("idle", session, "for nothing"))
    assert generated(await tasker.hear(session)) == ["Do it."]


async def test_a_body_that_is_no_text_is_refused(tasker: TaskGuest) -> None:
    path = f"/api/copilot/task/start/input/session/{await tasker.start('coder')}"
    answer = await tasker.http.post(path, content=b"\xff\xfe")
    assert answer.status_code == 422
    assert answer.json() == {"error": "The body must be UTF-8 text."}


async def test_what_must_hold_before_is_not_asked_of_a_person(tasker: TaskGuest) -> None:
    run = await tasker.borrow("picky", await tasker.start("coder"))
    assert await tasker.drained(run) == [
        *decided("[OPERATION] Sends the prompt.", "[TASK SUCCEEDED] The prompt was done."),
        {"callback": "taskSucceeded"},
    ]


# live of a task on a person's session


async def test_a_task_that_succeeds_and_its_session_which_stays(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("plan", session)
    assert await tasker.hear_task(run) == [
        *decided(
            "[OPERATION] Sends the prompt.",
            "[CRITERIA] criteria.toolExecuted holds: All were called.",
            "[TASK SUCCEEDED] The criteria hold.",
        ),
        {"callback": "taskSucceeded"},
        CLOSED,
    ]
    for _ in range(2):
        assert await tasker.task_live(run) == NOT_FOUND
    heard = await tasker.hear(session)
    assert without_deltas(heard) == [
        "onGeneratedUserPrompt",
        "onAgentStart",
        "onStartToolExecution",
        "onToolExecution",
        "onEndToolExecution",
        "onStartMessage",
        "onEndMessage",
        "onAgentEnd",
        "onIdle",
    ]
    assert heard[0] == {"callback": "onGeneratedUserPrompt", "prompt": "Write the plan."}
    assert heard[2]["toolName"] == DOCUMENT
    assert json.loads(heard[2]["toolArguments"]) == {"argument": "  docs/plan.md \nand more"}
    await tasker.query(session, "Say more.")
    again = await tasker.hear(session)
    assert names(again)[0] == "onAgentStart", "what a person asked is not told to that person"


async def test_a_task_that_fails_without_a_retry(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("idle", session)
    assert await tasker.hear_task(run) == [
        *decided("[OPERATION] Sends the prompt.", UNMET, f"[TASK FAILED] {NOT_CALLED}"),
        {"callback": "taskFailed"},
        CLOSED,
    ]
    assert generated(await tasker.hear(session)) == ["Do it."]
    assert (await tasker.show(session))["turns"] == 1


async def test_a_task_that_is_retried_in_vain(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("stubborn", session)
    assert await tasker.hear_task(run) == [
        *decided(
            "[OPERATION] Sends the prompt.",
            UNMET,
            "[DECISION] Retry 1 of 1.",
            "[OPERATION] Sends the prompt, retry 1 of 1.",
            UNMET,
            f"[TASK FAILED] After 1 retry: {NOT_CALLED}",
        ),
        {"callback": "taskFailed"},
        CLOSED,
    ]
    heard = [*await tasker.hear(session), *await tasker.hear(session)]
    one = [
        "onGeneratedUserPrompt",
        "onAgentStart",
        "onStartMessage",
        "onEndMessage",
        "onAgentEnd",
        "onIdle",
    ]
    assert without_deltas(heard) == one + one
    assert generated(heard) == [
        "Do it.",
        f"Do it.\n## Required Tool Not Called: {DOCUMENT}\n"
        "## You accidentally Stopped\nGo on.\nTo the end.",
    ]


async def test_a_task_that_succeeds_when_it_is_retried(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("lucky", session)
    assert await tasker.hear_task(run) == [
        *decided(
            "[OPERATION] Sends the prompt.",
            UNMET,
            "[DECISION] Retry 1 of 2.",
            "[OPERATION] Sends the prompt, retry 1 of 2.",
            "[CRITERIA] criteria.toolExecuted holds: All were called.",
            "[TASK SUCCEEDED] The criteria hold after 1 retry.",
        ),
        {"callback": "taskSucceeded"},
        CLOSED,
    ]
    heard = [*await tasker.hear(session), *await tasker.hear(session)]
    assert generated(heard) == [
        "Lucky the first time.",
        f"Lucky the first time.\n## Required Tool Not Called: {DOCUMENT}",
    ]


async def test_a_condition_is_asked_in_the_same_session(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("doubtful", session)
    failed = "criteria.condition does not hold"
    assert await tasker.hear_task(run) == [
        *decided(
            "[OPERATION] Sends the prompt.",
            "[OPERATION] Asks criteria.condition.",
            f"[CRITERIA] {failed}.\nIt says: Is it gone?\n{SAY_SO}\nReason: It is not.",
            f"[TASK FAILED] {failed}: It is not.",
        ),
        {"callback": "taskFailed"},
        CLOSED,
    ]
    heard = [*await tasker.hear(session), *await tasker.hear(session)]
    assert generated(heard) == ["Do it.", f"Is it gone?\n{SAY_SO}"]


async def test_a_busy_session_is_queued_behind(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    await tasker.query(session, "Take a moment.")
    run = await tasker.borrow("idle", session)
    await tasker.run_event(run, "task.mission.sent")
    assert (await tasker.show(session))["state"] == "working"
    assert (await tasker.show_run(run))["state"] == "running"
    assert names(await tasker.drained(run))[-1] == "taskFailed"
    heard = await tasker.hear(session)
    assert names(heard)[0] == "onAgentStart"
    assert "onGeneratedUserPrompt" in names(heard), "it was put in the queue meanwhile"
    assert names(await tasker.hear(session))[0] == "onAgentStart"


async def test_stopping_the_session_fails_the_task(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("slow", session)
    await tasker.under_way(run)
    assert await tasker.stop(session) == {"result": "Closed"}
    assert await tasker.hear_task(run) == [
        *decided("[OPERATION] Sends the prompt.", "[TASK FAILED] The session was closed."),
        {"callback": "taskFailed"},
        CLOSED,
    ]


# live of a task on sessions of its own


async def test_a_managed_task_that_succeeds(tasker: TaskGuest) -> None:
    run = await tasker.run("plan")
    heard = await tasker.hear_task(run)
    [session] = await sessions_of(tasker, run)
    assert heard == [
        *opened(session, "driver"),
        *decided("[OPERATION] Sends the prompt."),
        *decided("[CRITERIA] criteria.toolExecuted holds: All were called."),
        closed(session, succeeded=True),
        *decided("[TASK SUCCEEDED] The criteria hold."),
        {"callback": "taskSucceeded"},
        CLOSED,
    ]
    assert await tasker.task_live(run) == NOT_FOUND
    own = await tasker.hear(session, "SessionClosed")
    assert generated(own) == ["Write the plan."]
    assert names(own)[-2:] == ["onIdle", "error"]


async def test_a_managed_task_that_fails(tasker: TaskGuest) -> None:
    run = await tasker.run("idle")
    heard = await tasker.hear_task(run)
    [session] = await sessions_of(tasker, run)
    assert heard == [
        *opened(session, "driver"),
        *decided("[OPERATION] Sends the prompt."),
        *decided(UNMET),
        closed(session, succeeded=False),
        *decided(f"[TASK FAILED] {NOT_CALLED}"),
        {"callback": "taskFailed"},
        CLOSED,
    ]


async def test_a_managed_task_that_is_not_available(tasker: TaskGuest) -> None:
    reason = "No task ended before."
    field = "availability.previousTasks does not hold"
    assert await tasker.hear_task(await tasker.run("picky")) == [
        *decided(
            f"[AVAILABILITY] {field}.\nIt says: plan\nReason: {reason}",
            f"[AVAILABILITY] {PREREQUISITE}: {reason}",
            f"[TASK FAILED] {field}: {reason}",
        ),
        {"callback": "taskFailed"},
        CLOSED,
    ]


async def test_a_managed_task_that_is_retried(tasker: TaskGuest) -> None:
    run = await tasker.run("lucky again")
    heard = await tasker.hear_task(run)
    [session] = await sessions_of(tasker, run)
    assert heard == [
        *opened(session, "driver"),
        *decided("[OPERATION] Sends the prompt."),
        *decided(
            UNMET,
            "[DECISION] Retry 1 of 2.",
            "[OPERATION] Sends the prompt, retry 1 of 2.",
            UNMET,
            "[DECISION] Retry 2 of 2.",
            "[OPERATION] Sends the prompt, retry 2 of 2.",
            "[CRITERIA] criteria.toolExecuted holds: All were called.",
        ),
        closed(session, succeeded=True),
        *decided("[TASK SUCCEEDED] The criteria hold after 2 retries."),
        {"callback": "taskSucceeded"},
        CLOSED,
    ]
    again = (
        f"Lucky the second time.\n## Required Tool Not Called: {DOCUMENT}\n"
        "## You accidentally Stopped\nGo on."
    )
    own = await tasker.hear(session, "SessionClosed")
    assert generated(own) == ["Lucky the second time.", again, again]


async def test_a_managed_task_on_several_models(tasker: TaskGuest) -> None:
    run = await tasker.run("several")
    heard = await tasker.hear_task(run)
    first, second, third = await sessions_of(tasker, run)
    assert heard == [
        *opened(first, "driver"),
        *decided("[OPERATION] Asks availability.condition."),
        closed(first, succeeded=True),
        *decided("[AVAILABILITY] availability.condition holds: It is."),
        *opened(second, "coder", driving=False),
        *decided("[OPERATION] Sends the prompt."),
        closed(second, succeeded=True),
        *decided("[CRITERIA] criteria.toolExecuted holds: All were called."),
        *opened(third, "driver"),
        *decided("[OPERATION] Asks criteria.condition."),
        closed(third, succeeded=True),
        *decided(
            "[CRITERIA] criteria.condition holds: It is.",
            "[TASK SUCCEEDED] The criteria hold.",
        ),
        {"callback": "taskSucceeded"},
        CLOSED,
    ]


async def test_a_driving_session_stops_as_its_condition_came_out(tasker: TaskGuest) -> None:
    run = await tasker.run("judged")
    heard = await tasker.hear_task(run)
    first, second = await sessions_of(tasker, run)
    stopped = [one for one in heard if one.get("callback") == "taskSessionStopped"]
    assert stopped == [closed(first, succeeded=True), closed(second, succeeded=False)]
    assert heard[-2:] == [{"callback": "taskFailed"}, CLOSED]


async def test_a_managed_task_whose_session_crashes(tasker: TaskGuest) -> None:
    run = await tasker.run("stumble")
    heard = await tasker.hear_task(run)
    first, second = await sessions_of(tasker, run)
    why = "No response was returned. Send your message again to retry."
    assert heard == [
        *opened(first, "driver"),
        *decided("[OPERATION] Sends the prompt."),
        *decided(f"[SESSION CRASHED] Driving session {first}: {why}"),
        closed(first, succeeded=False),
        *opened(second, "driver"),
        *decided("[OPERATION] Sends the prompt again, attempt 2 of 5."),
        *decided(UNMET),
        closed(second, succeeded=False),
        *decided(f"[TASK FAILED] {NOT_CALLED}"),
        {"callback": "taskFailed"},
        CLOSED,
    ]
    own = await tasker.hear(second, "SessionClosed")
    assert generated(own) == [
        "The session crashed, please redo and here is the last request:\nStumble once."
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("refused", "400 I will not."), ("homeless", "The model nobody is not available.")],
)
async def test_a_managed_task_that_no_other_try_would_help(
    tasker: TaskGuest, name: str, reason: str
) -> None:
    heard = await tasker.drained(await tasker.run(name))
    assert heard[-2]["reason"].startswith(f"[TASK FAILED] {reason}")
    assert heard[-1] == {"callback": "taskFailed"}
    assert "taskError" not in names(heard)


# task/stop


@BOTH
async def test_a_managed_task_that_is_stopped_says_nothing_more(
    tasker: TaskGuest, method: str
) -> None:
    run = await tasker.run("slow")
    session = await tasker.under_way(run)
    first = await tasker.task_live(run)
    assert await tasker.task_stop(run, method) == {"result": "Closed"}
    assert (await tasker.over(run))["state"] == "canceled"
    assert [first, *await tasker.hear_task(run)] == [
        *opened(session, "driver"),
        *decided("[OPERATION] Sends the prompt."),
        CLOSED,
    ]
    assert await tasker.task_live(run) == NOT_FOUND
    assert await tasker.task_stop(run, method) == NOT_FOUND
    assert names(await tasker.hear(session, "SessionClosed"))[-3:] == [
        "onAgentEnd",
        "onIdle",
        "error",
    ]


async def test_whoever_waits_is_told_of_the_stop_at_once(tasker: TaskGuest) -> None:
    run = await tasker.run("slow")
    await tasker.under_way(run)
    await tasker.hear_task(run, "taskSessionStarted")
    for _ in range(2):  # what the session is for
        await tasker.task_live(run)
    waiting = asyncio.create_task(tasker.task_live(run))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    assert await tasker.task_stop(run) == {"result": "Closed"}
    assert await waiting == CLOSED
    assert time.monotonic() - began < 10  # tests/crash has the two seconds


async def test_a_task_on_a_persons_session_cannot_be_stopped(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    run = await tasker.borrow("moment", session)
    assert await tasker.task_stop(run) == {"error": "TaskCannotClose"}
    assert names(await tasker.hear_task(run, "taskSucceeded"))[-1] == "taskSucceeded"
    assert await tasker.task_stop(run) == NOT_FOUND, "it has ended, though it is not drained"
    assert await tasker.task_live(run) == CLOSED
    assert (await tasker.show(session))["state"] == "idle"


async def test_what_is_no_task_run_is_not_found(tasker: TaskGuest) -> None:
    session = await tasker.start("coder")
    for name in ("tsk_x", "start", session, "%00", "%F0%9F%9B%AB"):
        assert await tasker.task_stop(name) == NOT_FOUND, name
        assert await tasker.task_live(name) == NOT_FOUND, name
    await tasker.query(session, "Say something.")
    assert names(await tasker.hear(session))[0] == "onAgentStart", "nobody has read it meanwhile"


async def test_a_task_run_is_no_session(tasker: TaskGuest) -> None:
    run = await tasker.run("plan")
    for call in ("live", "stop", "query"):
        told = await tasker.seed(f"copilot/session/{run}/{call}", "hello")
        assert told == {"error": "SessionNotFound"}, call
    assert await tasker.try_borrow("plan", run) == {"error": "SessionNotFound"}
    assert names(await tasker.drained(run))[0] == "taskSessionStarted"


# live itself


@pytest.mark.timed
async def test_one_waits_at_a_time_and_not_for_ever(tasker: TaskGuest) -> None:
    run = await tasker.run("slow")
    await tasker.under_way(run)
    for _ in range(3):
        assert "callback" in await tasker.task_live(run)
    began = time.monotonic()
    waiting = asyncio.create_task(tasker.task_live(run))
    await asyncio.sleep(0.2)
    assert await tasker.task_live(run) == {"error": "ParallelCallNotSupported"}
    assert await waiting == TIMEOUT
    assert 5.0 <= time.monotonic() - began < 5.5
    await tasker.task_stop(run)
    assert await tasker.task_live(run) == CLOSED


async def test_an_entry_can_be_installed_as_soon_as_the_end_was_told(
    own_task_portal: Portal,
) -> None:
    file = str(own_task_portal.folder / "fixtures" / "tasks.json")
    async with TaskGuest.of(own_task_portal) as guest:
        for name, last in (("plan", "taskSucceeded"), ("idle", "taskFailed"), ("moment", "")):
            run = await guest.run(name)
            told = await guest.seed(INSTALL, file)
            assert told["result"] == "Rejected", "a task runs"
            if last:
                await guest.hear_task(run, last)
            else:
                await guest.stop_run(run)
            assert await guest.seed(INSTALL, file) == {"result": "OK"}


async def test_after_a_restart_task_runs_go_on_being_drained(own_task_portal: Portal) -> None:
    portal = own_task_portal
    heard: dict[str, list[Told]] = {}
    async with TaskGuest.of(portal) as guest:
        lent = await guest.start("coder")
        read, drained, fresh = [await guest.run(name) for name in ("plan", "plan", "idle")]
        await guest.drained(drained)
        for run in (read, fresh):
            await guest.over(run)
        heard[read] = [await guest.task_live(read) for _ in range(2)]
        slow, borrowing = await guest.run("slow"), await guest.borrow("slow", lent)
        for run in (slow, borrowing):
            await guest.under_way(run)
        heard[slow] = await guest.hear_task(slow, "taskSessionStarted")
    portal.stop()
    portal.start()
    async with TaskGuest.of(portal) as guest:
        assert await guest.seed("copilot/task") == {"tasks": []}, "in test mode none is loaded"
        assert await guest.task_live(drained) == NOT_FOUND
        whole = heard[read] + await guest.drained(read)
        assert names(whole) == [
            "taskSessionStarted",
            "taskDecision",  # two of them
            "taskSessionStopped",
            "taskDecision",
            "taskSucceeded",
        ]
        assert len(whole) == 7
        assert names(await guest.drained(fresh))[-1] == "taskFailed"
        for run, end in ((slow, "taskSucceeded"), (borrowing, "taskFailed")):
            rest = await guest.drained(run)
            assert names(rest)[-1] == end, "its own goes on, a lent one fails with its session"
            assert await guest.task_stop(run) == NOT_FOUND
        for session in await guest.opened_by(slow):
            assert session["state"] == "closed"
        assert (await guest.show(lent))["state"] == "interrupted"
