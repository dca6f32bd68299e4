"""What belongs together across streams is on disk together, or not at all."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.log import flusher as flusher_module
from airboss.log import portion as portion_module
from airboss.log.log import EventLog
from airboss.model.events import Event, SessionIdle, SessionOpened
from airboss.model.task_events import TaskAccepted, TaskDecided
from airboss.model.views import View, fold
from tests.databases import on_sqlite
from tests.log.conftest import log_in

TASK, SESSION = "tsk_one", "ses_one"
ACCEPTED = TaskAccepted(
    task="plan", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me"
)

OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")
FAULTY = TaskDecided(text="[MISC] cannot be folded")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flusher_module, "RETRY_SECONDS", 0.05)


def decided(text: str) -> TaskDecided:
    return TaskDecided(text=f"[MISC] {text}")


def a_fault_in_our_own_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(view: View | None, stream: str, seq: int, at: int, event: Event) -> View | None:
        if event == FAULTY:
            raise ValueError("a fault of ours")
        return fold(view, stream, seq, at, event)

    monkeypatch.setattr(portion_module, "fold", faulty)


def transactions(folder: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(folder / "airboss.sqlite") as connection:
        found = connection.execute("SELECT stream, seq FROM events ORDER BY stream, seq").fetchall()
    connection.close()
    return found


async def kinds(log: EventLog, stream: str) -> list[str]:
    return [one.event.kind for one in await log.after(stream, 0)]


@on_sqlite
async def test_lines_of_two_streams_are_on_disk_when_the_call_answers(
    log: EventLog, tmp_path: Path
) -> None:
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    said = await log.commit(task.line(ACCEPTED), session.line(OPENED), task.line(decided("so")))
    assert [one.seq for one in said] == [1, 1, 2]
    assert transactions(tmp_path) == [(SESSION, 1), (TASK, 1), (TASK, 2)]


@on_sqlite
async def test_what_is_begun_to_be_written_has_its_place_and_is_on_disk_when_that_is_answered(
    log: EventLog, tmp_path: Path
) -> None:
    task = log.new_writer(TASK)
    await task.commit(ACCEPTED)
    written = task.begin_commit(decided("first"), "one")
    task.say(decided("second"), urgent=False)
    assert task.said_from("one") == decided("first")
    assert not written.done()
    await written
    assert (TASK, 2) in transactions(tmp_path)
    await task.settle()
    said = [one.event for one in await log.after(TASK, 1)]
    assert said == [decided("first"), decided("second")]


@on_sqlite
async def test_what_is_begun_is_written_with_what_is_committed_next(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 60.0)
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await task.commit(ACCEPTED)
    flushes = log.counts["flushes"]
    written = task.begin_commit(decided("first"), "one")
    await asyncio.sleep(0)  # whoever writes has its turn, and waits for more
    await session.commit(OPENED)
    assert written.done()
    assert log.counts["flushes"] == flushes + 1


@on_sqlite
async def test_what_is_begun_and_hurried_is_written_at_once(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 60.0)
    task = log.new_writer(TASK)
    await task.commit(ACCEPTED)
    written = task.begin_commit(decided("first"), "one")
    task.hurry()
    async with asyncio.timeout(20):
        await written


async def test_what_was_begun_and_cannot_be_written_was_not_said(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_fault_in_our_own_fold(monkeypatch)
    task = log.new_writer(TASK)
    await task.commit(ACCEPTED)
    with pytest.raises(StoreUnavailable, match="a fault of ours"):
        await task.begin_commit(FAULTY, "one")
    assert task.said_from("one") is None


async def test_a_line_that_cannot_be_written_takes_those_of_other_streams_with_it(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_fault_in_our_own_fold(monkeypatch)
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await log.commit(task.line(ACCEPTED), session.line(OPENED))
    session.say(SessionIdle(), urgent=False)
    task.say(decided("before"), urgent=False)
    with pytest.raises(StoreUnavailable, match="a fault of ours"):
        await log.commit(session.line(SessionIdle(), "idle"), task.line(FAULTY))
    assert session.said_from("idle") is None
    assert await kinds(log, SESSION) == ["session.opened", "session.idle"]
    assert await kinds(log, TASK) == ["task.accepted", "task.decided"]
    await log.commit(session.line(SessionIdle(), "idle"), task.line(decided("after")))
    assert (await kinds(log, SESSION))[-1:] == ["session.idle"]


async def test_what_is_said_together_without_waiting_is_written_or_dropped_together(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_fault_in_our_own_fold(monkeypatch)
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await log.commit(task.line(ACCEPTED), session.line(OPENED))
    log.say(session.line(SessionIdle()), task.line(FAULTY))
    log.say(session.line(SessionIdle()), task.line(decided("good")))
    await task.settle()
    await session.settle()
    assert await kinds(log, SESSION) == ["session.opened", "session.idle"]
    assert await kinds(log, TASK) == ["task.accepted", "task.decided"]


async def test_calls_that_cross_each_other_in_several_streams_end(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_fault_in_our_own_fold(monkeypatch)
    names = [f"tsk_{number}" for number in range(4)]
    writers = [log.new_writer(name) for name in names]
    await log.commit(*(writer.line(ACCEPTED) for writer in writers))
    for turn in range(12):
        one, other = writers[turn % 4], writers[(turn * 3 + 1) % 4]
        bad = FAULTY if turn % 5 == 0 else decided(str(turn))
        log.say(one.line(decided(f"one {turn}")), other.line(bad))
    for writer in writers:
        await writer.settle()
    told = [len(await log.after(name, 0)) for name in names]
    assert sum(told) == 4 + 2 * (12 - 3)


async def test_a_full_disk_refuses_the_whole_call_and_keeps_what_nobody_waits_for(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await log.commit(task.line(ACCEPTED), session.line(OPENED))

    def full(*_: object) -> None:
        raise StoreUnavailable("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("airboss.log.appending.AppendAttempt.write", full)
        log.say(session.line(SessionIdle()), task.line(decided("kept")))
        with pytest.raises(StoreUnavailable, match="full"):
            await log.commit(session.line(SessionIdle()), task.line(decided("refused"), "1"))
        assert task.said_from("1") is None
    await log.commit(task.line(decided("again"), "1"))
    assert await kinds(log, SESSION) == ["session.opened", "session.idle"]
    texts = [one.event for one in await log.after(TASK, 1)]
    assert texts == [decided("kept"), decided("again")]


async def test_a_line_that_was_said_before_is_answered_as_it_was_said_first(log: EventLog) -> None:
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await log.commit(task.line(ACCEPTED, "accepted"))
    other = ACCEPTED.model_copy(update={"who": "somebody else"})
    said = await log.commit(task.line(other, "accepted"), session.line(OPENED, "opened"))
    assert [one.event for one in said] == [ACCEPTED, OPENED]
    assert await kinds(log, TASK) == ["task.accepted"]


async def test_what_cannot_be_put_into_words_leaves_nothing_of_the_call(log: EventLog) -> None:
    task, session = log.new_writer(TASK), log.new_writer(SESSION)
    await task.commit(ACCEPTED)
    broken = TaskDecided.model_construct(kind="task.decided", text=object())
    with pytest.raises(Exception, match="serializ"):
        await log.commit(session.line(OPENED), task.line(broken))
    await task.commit(decided("fine"))
    assert await kinds(log, SESSION) == []
    assert [one.seq for one in await log.after(TASK, 0)] == [1, 2]


@on_sqlite
async def test_a_number_that_somebody_else_has_written_is_not_written_again(
    log: EventLog, tmp_path: Path
) -> None:
    task = log.new_writer(TASK)
    await task.commit(ACCEPTED)
    with sqlite3.connect(tmp_path / "airboss.sqlite") as connection:
        connection.execute("UPDATE streams SET head = 7 WHERE stream = ?", (TASK,))
    connection.close()
    with pytest.raises(StoreUnavailable, match="tsk_one has an event 2, or a later one, already"):
        await task.commit(decided("stale"))


async def test_what_is_said_from_an_origin_after_the_end_of_the_log_is_not_heard(
    tmp_path: Path,
) -> None:
    async with log_in(tmp_path) as log:
        task = log.new_writer(TASK)
        await task.commit(ACCEPTED)
    task.say_from("late", decided("late"))
    assert task.said_from("late") is None
    await task.settle()
    assert transactions(tmp_path) == [(TASK, 1)]
