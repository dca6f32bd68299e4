"""How a task ends that somebody cuts short: in a person's session, in its own, with the server."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.errors import Conflict, NotFound, RuntimeUnavailable
from airboss.log import flusher as flusher_module
from airboss.model.events import PromptAccepted, PromptDropped, TurnEnded, TurnStarted
from airboss.model.redaction import MASK
from airboss.model.task_events import MissionSent, TaskEnded, TaskError, TaskSessionStarted
from tests.log.test_trouble import (
    fill,
    small_disk,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # a fixture
)
from tests.service.errands import (
    DOCUMENT,
    SAY_SO,
    SCRIPT,
    TaskHouse,
    asks,
    criteria,
    task,
    task_house_in,
)
from tests.service.house import ME

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
STOPPED = ("canceled", "Stopped by me.")


@pytest.fixture
async def own(tmp_path: Path) -> AsyncGenerator[TaskHouse]:
    """A house whose runtime may be killed, and that may be stopped."""
    async with task_house_in(tmp_path, SCRIPT) as house:
        yield house


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


@pytest.mark.parametrize("queued", [False, True])
async def test_a_persons_session_that_crashes_fails_the_task_and_forgets_its_prompt(
    own: TaskHouse, queued: bool
) -> None:
    session = await own.lend()
    await own.sessions.prompt(session, "Say something.", ME)
    await own.until(session, "idle", turns=1)
    await asyncio.sleep(1)  # so long the runtime takes to have it on disk
    if queued:
        await own.sessions.prompt(session, "Take your time.", ME)
    await own.install({"it": task("Take your time.", criteria=criteria(DOCUMENT, retries=3))})
    run = (await own.begin(session=session)).id
    if queued:
        await own.hears(run, MissionSent)
        mine = await own.sessions.prompt(session, "Say more.", ME)
    else:
        await own.under_way(run)
        mine = await own.sessions.prompt(session, "Say more.", ME)
    own.kill_runtime()
    story = await own.ended(run, 4)
    assert story.view.state == "failed"
    reason = story.view.reason or ""
    assert reason.startswith("The borrowed session crashed: The agent runtime")
    assert story.said[-2].startswith(f"[SESSION CRASHED] Borrowed session {session}: The agent")
    await own.sessions.resume(session, ME)
    await own.until(session, "idle", turns=3)
    begun = [turn.prompt for turn in await own.story_of(session, TurnStarted)]
    assert begun[-1] == mine.prompt, "the person's request is worked on, the task's is not"
    assert (story.attempts[0].prompt in begun) is not queued


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
    assert time.monotonic() - began < 2
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
        assert time.monotonic() - began < 2
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
    with pytest.raises(Conflict, match="Something of the present entry runs"):
        await tasks.install({"other": task("Do it.")})
    digest = (await tasks.ended(run)).view.entry
    await tasks.install({"other": task("Do it.")})
    kept = await tasks.services.entries.by_digest(digest)
    assert list(kept.tasks) == ["it"], "what ran can be looked up for ever"


# With the server.


async def test_tasks_of_a_server_that_stops_have_crashed(own: TaskHouse) -> None:
    session = await own.lend()
    await own.install({"it": task("Take your time.")})
    runs = [(await own.begin()).id, (await own.begin(session=session)).id]
    for run in runs:
        await own.under_way(run)
    await own.tasks.end_all()
    reason = "The server was stopped while this task ran."
    for run in runs:
        story = await own.ended(run)
        assert (story.view.state, story.view.reason) == ("crashed", reason)
        [error] = story.only(TaskError)
        assert (error.name, error.message) == ("ServerStopped", reason)
    assert (await own.sessions.show(session)).is_open, "sessions are stopped behind this"
    with pytest.raises(RuntimeUnavailable, match="The server is stopping"):
        await own.begin()


async def test_a_task_that_comes_at_once_with_the_stop_does_not_outlive_it(
    own: TaskHouse,
) -> None:
    await own.install({"it": task("Take your time.")})

    async def begin() -> str:
        try:
            return (await own.begin()).id
        except RuntimeUnavailable:
            return ""

    async with asyncio.TaskGroup() as group:
        begun: list[asyncio.Task[str]] = []
        for _ in range(8):
            begun.append(group.create_task(begin()))
            await asyncio.sleep(0.001)
        await own.tasks.end_all()
    assert not own.tasks.is_busy
    page = await own.tasks.page((), None, 100)
    assert {view.state for view in page.items} <= {"crashed"}
    assert {one.result() for one in begun} - {""} <= {view.id for view in page.items}


async def test_a_task_whose_server_vanished_has_crashed_and_its_sessions_are_closed(
    tmp_path: Path,
) -> None:
    async with task_house_in(tmp_path, SCRIPT) as house:
        await house.install({"it": task("Take your time.")})
        lent = await house.lend()
        await house.sessions.prompt(lent, "Take your time.", ME)
        own_run = (await house.begin()).id
        borrowing = (await house.begin(session=lent)).id
        await house.under_way(own_run)
        await house.hears(borrowing, MissionSent)
        kept = await asyncio.to_thread((tmp_path / "data/airboss.sqlite").read_bytes)
        journal = tmp_path / "data/airboss.sqlite-wal"
        logged = await asyncio.to_thread(journal.read_bytes) if journal.exists() else b""
        await house.hears(own_run, TaskSessionStarted)
    later = tmp_path / "later"
    (later / "data").mkdir(parents=True)
    (later / "data/airboss.sqlite").write_bytes(kept)
    (later / "data/airboss.sqlite-wal").write_bytes(logged)
    async with task_house_in(later, SCRIPT) as house:
        for run in (own_run, borrowing):
            story = await house.ended(run)
            reason = "The server ended while this task ran."
            assert (story.view.state, story.view.reason) == ("crashed", reason)
            [error] = story.only(TaskError)
            assert (error.name, error.message) == ("ServerEnded", reason)
        view = await house.sessions.show(lent)
        assert view.state == "interrupted", "a person's session can be resumed"
        assert view.queue == (), "and does not work on what the task asked"


async def test_a_fault_of_ours_crashes_the_task_and_is_told_without_secrets(
    tasks: TaskHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stumble(*_: object) -> None:
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


# A disk that takes no more.


async def test_a_full_disk_ends_the_task_and_nothing_stays_behind(
    small_disk: Path,  # noqa: F811 - the fixture of this name
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flusher_module, "RETRY_SECONDS", 0.05)
    async with task_house_in(small_disk, SCRIPT) as house:
        await house.install({"it": task("Take a moment.", criteria=criteria(DOCUMENT, retries=1))})
        run = (await house.begin()).id
        await house.under_way(run)
        filler = fill(small_disk)
        async with asyncio.timeout(10):
            while house.tasks.is_busy:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.02)
        assert house.sessions.open_count() == (0, 0), "the agent is gone"
        filler.unlink()
        async with asyncio.timeout(10):
            while {view.state for view in await house.opened_by(run)} != {"closed"}:  # noqa: ASYNC110 - no event says it
                await asyncio.sleep(0.05)
        story = await house.ended(run)
        assert story.view.state == "crashed"
        assert [error.name for error in story.only(TaskError)] == ["StoreUnavailable"]
        await house.install({"it": task("Do it.")})
        assert (await house.ended((await house.begin()).id)).view.state == "succeeded"
