"""What is worked on again after a crash says nothing twice: an origin counts once in a stream."""

import sqlite3
from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.task_events import TaskAccepted, TaskDecided
from tests.databases import on_sqlite
from tests.log.conftest import OpenLog

STREAM = "tsk_one"
ACCEPTED = TaskAccepted(
    task="plan", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me"
)


def decided(text: str) -> TaskDecided:
    return TaskDecided(text=f"[MISC] {text}")


async def texts(log: EventLog) -> list[tuple[int, str]]:
    told = await log.after(STREAM, 0)
    return [(one.seq, one.event.text) for one in told if isinstance(one.event, TaskDecided)]


async def test_the_second_word_from_an_origin_is_the_first(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(ACCEPTED)
    assert (await writer.commit(decided("first"), origin="1")).event == decided("first")
    assert (await writer.commit(decided("second"), origin="1")).event == decided("first")
    writer.say_from("1", decided("third"))
    assert writer.said_from("1") == decided("first")
    assert writer.said_from("2") is None
    assert await texts(log) == [(2, "[MISC] first")]


@on_sqlite
async def test_what_was_said_without_waiting_is_waited_for_when_it_is_asked_for(
    log: EventLog, tmp_path: Path
) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(ACCEPTED)
    writer.say_from("1", decided("quickly"))
    assert (await writer.commit(decided("slowly"), origin="1")).event == decided("quickly")
    with sqlite3.connect(tmp_path / "airboss.sqlite") as connection:
        found = connection.execute("SELECT origin, seq FROM origins").fetchall()
    connection.close()
    assert found == [("1", 2)]


async def test_the_next_server_knows_every_origin_and_leaves_no_gap(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(ACCEPTED)
        await writer.commit(decided("first"), origin="1")
    async with open_log() as log:
        writer = await log.writer(STREAM)
        assert (await writer.commit(decided("again"), origin="1")).event == decided("first")
        assert (await writer.commit(decided("second"), origin="2")).event == decided("second")
        assert await texts(log) == [(2, "[MISC] first"), (3, "[MISC] second")]


async def test_an_origin_counts_in_its_own_stream_only(log: EventLog) -> None:
    one, other = await log.writer(STREAM), await log.writer("tsk_two")
    await one.commit(ACCEPTED, origin="1")
    assert (await other.commit(decided("mine"), origin="1")).event == decided("mine")


async def test_what_the_disk_refused_was_not_said(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(ACCEPTED)

    def full(*_: object) -> None:
        raise StoreUnavailable("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("airboss.log.appending.AppendAttempt.write", full)
        with pytest.raises(StoreUnavailable):
            await writer.commit(decided("lost"), origin="1")
    assert writer.said_from("1") is None
    assert (await writer.commit(decided("found"), origin="1")).event == decided("found")


async def test_a_stream_is_forgotten_with_its_origins(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(ACCEPTED, origin="1")
    other = await log.writer("ses_kept")
    await other.commit(SessionOpened(model="m", cwd="/", policy="ask", who="me"))
    await log.forget([STREAM])
    assert await log.view(STREAM) is None
    assert await log.after(STREAM, 0) == []
    assert await log.view("ses_kept") is not None
    assert (await log.writer(STREAM)).said_from("1") is None
