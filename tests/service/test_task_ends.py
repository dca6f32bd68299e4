"""How a task ends that somebody cuts short: in a person's session, in its own, with the server."""

import asyncio
import time

import pytest

from airboss.errors import Conflict, NotFound
from airboss.model.events import PromptAccepted, PromptDropped, TurnEnded, TurnStarted
from airboss.model.redaction import MASK
from airboss.model.task_events import MissionSent, TaskEnded, TaskError
from tests.log.test_trouble import (
    small_disk,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # a fixture
)
from tests.service.errands import (
    DOCUMENT,
    SAY_SO,
    TaskHouse,
    asks,
    criteria,
    task,
)
from tests.service.house import ME

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
STOPPED = ("canceled", "Stopped by me.")


# In a person's session.


async def test_a_task_works_in_a_persons_session_and_leaves_it_open(tasks: TaskHouse) -> None:
    session = await tasks.lend("reviewer")
    before = {"condition": asks("Is it so?")}
    after = criteria(
        DOCUMENT, condition=asks("Is it so?"), retries=1, runConditionInSameSession=False
    )
    given = task("On $task-model.", model={"id": "coder"}, availability=before, criteria=after)
    story = await tasks.perform(given, session=session)
    asked = f"Is it so?\n{SAY_SO}"
    again = f"On reviewer.\n## Required Tool Not Called: {DOCUMENT}"
    assert story.texts == [asked, "On reviewer.", asked, again, asked]
    assert story.said[:2] == [
        "[OPERATION] Asks availability.condition.",
        "[AVAILABILITY] availability.condition holds: It is.",
    ]
    assert story.places == []
    assert (story.view.session, story.view.model) == (session, "reviewer")
    view = await tasks.sessions.show(session)
    assert (view.state, view.turns, view.who) == ("idle", 5, ME)
    accepted = await tasks.story_of(session, PromptAccepted)
    assert {(asked.task, asked.who) for asked in accepted} == {
        (story.view.id, f"task {story.view.id}")
    }


async def test_a_task_waits_behind_what_a_busy_session_does(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    first = await tasks.sessions.prompt(session, "Take a moment.", ME)
    await tasks.install({"it": task("Do it.")})
    run = (await tasks.begin(session=session)).id
    await tasks.hears(run, MissionSent)
    last = await tasks.sessions.prompt(session, "Say more.", ME)
    story = await tasks.ended(run)
    await tasks.until(session, "idle", turns=3)
    begun = [turn.prompt for turn in await tasks.story_of(session, TurnStarted)]
    assert begun == [first.prompt, story.attempts[0].prompt, last.prompt]


async def test_two_tasks_share_a_session(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    await tasks.install({"it": task("Take a moment.", criteria=criteria(DOCUMENT, retries=1))})
    runs = [(await tasks.begin(session=session)).id for _ in range(2)]
    for run in runs:
        assert len((await tasks.ended(run)).prompts) == 2
    assert (await tasks.sessions.show(session)).turns == 4


@pytest.mark.parametrize("queued", [False, True])
async def test_closing_the_session_fails_the_task_at_once(tasks: TaskHouse, queued: bool) -> None:
    session = await tasks.lend()
    if queued:
        await tasks.sessions.prompt(session, "Take your time.", ME)
    await tasks.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await tasks.begin(session=session)).id
    if queued:
        await tasks.hears(run, MissionSent)
    else:
        await tasks.under_way(run)
    await tasks.sessions.close(session, ME)
    story = await tasks.ended(run, 2)
    assert (story.view.state, story.view.reason) == ("failed", "The session was closed.")
    assert [attempt.outcome for attempt in story.attempts] == ["refused"]


async def test_aborting_its_turn_fails_the_task_at_once(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    await tasks.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await tasks.begin(session=session)).id
    await tasks.under_way(run)
    await tasks.sessions.abort(session)
    story = await tasks.ended(run, 2)
    assert (story.view.state, story.view.reason) == ("failed", "The turn was stopped by a person.")
    assert (await tasks.sessions.show(session)).state == "idle"


async def test_aborting_a_persons_turn_only_lets_the_task_begin(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    await tasks.sessions.prompt(session, "Take your time.", ME)
    await tasks.install({"it": task("Do it.")})
    run = (await tasks.begin(session=session)).id
    await tasks.hears(run, MissionSent)
    await tasks.sessions.abort(session)
    assert (await tasks.ended(run)).view.state == "succeeded"


async def test_a_session_that_is_not_open_is_not_found(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    await tasks.install({"it": task("Do it.")})
    await tasks.sessions.close(session, ME)
    with pytest.raises(NotFound, match=f"There is no open session {session}"):
        await tasks.begin(session=session)


# Stopped.


async def test_stopping_a_task_ends_its_turn_and_keeps_a_persons_session(
    tasks: TaskHouse,
) -> None:
    session = await tasks.lend()
    await tasks.install({"it": task("Take your time.")})
    run = (await tasks.begin(session=session)).id
    await tasks.under_way(run)
    began = time.monotonic()
    view = await tasks.tasks.stop(run, ME)
    assert time.monotonic() - began < 10  # tests/crash has the two seconds
    assert (view.state, view.reason) == STOPPED
    [turn] = await tasks.story_of(session, TurnEnded)
    assert turn.outcome == "aborted"
    await tasks.sessions.prompt(session, "Say more.", ME)
    assert (await tasks.until(session, "idle", turns=2)).queue == ()


async def test_stopping_a_task_that_waits_takes_its_request_back(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    await tasks.sessions.prompt(session, "Take a moment.", ME)
    await tasks.install({"it": task("Do it.")})
    run = (await tasks.begin(session=session)).id
    sent = await tasks.hears(run, MissionSent)
    view = await tasks.tasks.stop(run, ME)
    assert (view.state, view.reason) == STOPPED
    [dropped] = await tasks.story_of(session, PromptDropped)
    assert dropped.prompt == sent.prompt
    await tasks.until(session, "idle", turns=1)
    [turn] = await tasks.story_of(session, TurnEnded)
    assert turn.outcome == "done", "the person's own request is not touched"


async def test_a_stopped_task_says_nothing_more(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await tasks.begin()).id
    await tasks.under_way(run)
    async with asyncio.TaskGroup() as group:
        stops = [group.create_task(tasks.tasks.stop(run, who)) for who in (ME, "you", ME)]
    for stop in stops:
        assert (stop.result().state, stop.result().reason) == STOPPED
    story = await tasks.ended(run)
    assert [event.kind for event in story.events][-2:] == ["task.mission.sent", "task.ended"]
    [end] = story.only(TaskEnded)
    assert (end.outcome, end.reason, end.who) == ("canceled", "Stopped by me.", "me")
    assert end.usage.turns == 1
    [session] = story.sessions
    assert session.state == "closed"
    assert await tasks.tasks.stop(run, "you") == story.view, "twice is as good as once"


async def test_a_run_that_nobody_started_cannot_be_stopped_or_shown(tasks: TaskHouse) -> None:
    session = await tasks.lend()
    for run in ("tsk_x", session, ""):
        with pytest.raises(NotFound, match="There is no task run"):
            await tasks.tasks.stop(run, ME)
        with pytest.raises(NotFound, match="There is no task run"):
            await tasks.tasks.show(run)


async def test_a_stop_at_any_moment_of_the_opening_leaves_no_session(tasks: TaskHouse) -> None:
    """Counted in steps of the event loop, then in milliseconds."""
    await tasks.install({"it": task("Take your time.")})

    async def stop_after(steps: int, seconds: float) -> None:
        run = (await tasks.begin()).id
        for _ in range(steps):
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
        began = time.monotonic()
        view = await tasks.tasks.stop(run, ME)
        assert time.monotonic() - began < 10  # tests/crash has the two seconds
        assert (view.state, view.reason) == STOPPED
        await tasks.ended(run)

    for steps in range(0, 60, 4):
        await stop_after(steps, 0)
    for number in range(10):
        await stop_after(0, number * 0.006)
    page = await tasks.sessions.page(("opening", "idle", "working"), None, 100)
    assert [view for view in page.items if view.who != ME] == []


async def test_a_stop_at_once_with_the_end_leaves_one_clear_outcome(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Do it.")})
    outcomes: set[str] = set()
    for number in range(12):
        run = (await tasks.begin()).id
        await tasks.hears(run, MissionSent)
        await asyncio.sleep(number * 0.006)
        outcomes.add((await tasks.tasks.stop(run, ME)).state)
        story = await tasks.ended(run)
        assert len(story.only(TaskEnded)) == 1
    assert outcomes <= {"canceled", "succeeded"}


# Somebody lays hands on a session of the task's own.


async def test_a_session_of_its_own_that_a_person_closes_fails_the_task(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await tasks.begin()).id
    sent = await tasks.under_way(run)
    await tasks.sessions.close(sent.session, ME)
    story = await tasks.ended(run, 2)
    assert (story.view.state, story.view.reason) == ("failed", "The session was closed.")
    assert story.view.missions == 1


async def test_a_turn_of_its_own_that_a_person_aborts_fails_the_task(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await tasks.begin()).id
    sent = await tasks.under_way(run)
    await tasks.sessions.abort(sent.session)
    story = await tasks.ended(run, 2)
    assert story.view.reason == "The turn was stopped by a person."


# The entry.


async def test_while_a_task_runs_the_entry_stays(tasks: TaskHouse) -> None:
    await tasks.install({"it": task("Take a moment.")})
    run = (await tasks.begin()).id
    with pytest.raises(Conflict, match="The current entry is in use"):
        await tasks.install({"other": task("Do it.")})
    digest = (await tasks.ended(run)).view.entry
    await tasks.install({"other": task("Do it.")})
    kept = await tasks.services.entries.by_digest(digest)
    assert list(kept.tasks) == ["it"], "what ran can be looked up for ever"


async def test_a_fault_of_ours_crashes_the_task_and_is_told_without_secrets(
    tasks: TaskHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stumble(*_: object, **__: object) -> None:
        raise ValueError(f"no {SECRET}") from KeyError(f"was {SECRET}")

    monkeypatch.setattr(tasks.sessions, "ask", stumble)
    story = await tasks.perform(task("Do it.", criteria=criteria(DOCUMENT, retries=3)))
    monkeypatch.undo()
    assert (story.view.state, story.view.reason) == ("crashed", f"no {MASK}")
    [error] = story.only(TaskError)
    assert (error.name, error.message, error.cause) == ("ValueError", f"no {MASK}", f"'was {MASK}'")
    assert "in stumble" in (error.stack or "")
    assert SECRET not in error.model_dump_json()
    assert [session.state for session in story.sessions] == ["closed"]
    assert (await tasks.perform(task("Do it."))).view.state == "succeeded"
