"""What is worked on again after a crash says nothing twice: an origin counts once in a stream."""

import sqlite3
from pathlib import Path

import pytest

from airboss.errors import StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.task_events import TaskAccepted, TaskDecided
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
    await writer.append(ACCEPTED)
    assert await writer.once("1", decided("first")) == decided("first")
    assert await writer.once("1", decided("second")) == decided("first")
    assert writer.say_once("1", decided("third")) == decided("first")
    assert writer.said_from("1") == decided("first")
    assert writer.said_from("2") is None
    assert await texts(log) == [(2, "[MISC] first")]


async def test_what_was_said_without_waiting_is_waited_for_when_it_is_asked_for(
    log: EventLog, tmp_path: Path
) -> None:
    writer = await log.writer(STREAM)
    await writer.append(ACCEPTED)
    writer.say_once("1", decided("quickly"))
    assert await writer.once("1", decided("slowly")) == decided("quickly")
    with sqlite3.connect(tmp_path / "airboss.sqlite") as connection:
        found = connection.execute("SELECT origin, seq FROM origins").fetchall()
    connection.close()
    assert found == [("1", 2)]


async def test_the_next_server_knows_every_origin_and_leaves_no_gap(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.append(ACCEPTED)
        await writer.once("1", decided("first"))
    async with open_log() as log:
        writer = await log.writer(STREAM)
        assert await writer.once("1", decided("again")) == decided("first")
        assert await writer.once("2", decided("second")) == decided("second")
        assert await texts(log) == [(2, "[MISC] first"), (3, "[MISC] second")]


async def test_an_origin_counts_in_its_own_stream_only(log: EventLog) -> None:
    one, other = await log.writer(STREAM), await log.writer("tsk_two")
    await one.once("1", ACCEPTED)
    assert await other.once("1", decided("mine")) == decided("mine")


async def test_what_the_disk_refused_was_not_said(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = await log.writer(STREAM)
    await writer.append(ACCEPTED)

    def full(*_: object) -> None:
        raise StoreUnavailable("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("airboss.log.rows.write", full)
        with pytest.raises(StoreUnavailable):
            await writer.once("1", decided("lost"))
    assert writer.said_from("1") is None
    assert await writer.once("1", decided("found")) == decided("found")


async def test_a_stream_is_forgotten_with_its_origins(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.once("1", ACCEPTED)
    other = await log.writer("ses_kept")
    await other.append(SessionOpened(model="m", cwd="/", policy="ask", who="me"))
    await log.forget([STREAM])
    assert await log.view(STREAM) is None
    assert await log.after(STREAM, 0) == []
    assert await log.view("ses_kept") is not None
    assert (await log.writer(STREAM)).said_from("1") is None
