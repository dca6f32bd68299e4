"""A full disk, a read-only folder, a fault of ours: told in words, survived, nothing lost."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from airboss.errors import StoreUnavailable
from airboss.log import flusher as flusher_module
from airboss.log import journal as journal_module
from airboss.log import portion as portion_module
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import (
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    PromptAccepted,
    SessionError,
    SessionIdle,
    SessionOpened,
    SessionReady,
)
from airboss.model.ids import PromptId
from airboss.model.views import View, fold
from airboss.store.database import Database
from airboss.store.sqlite_database import SqliteDatabase
from tests.log.conftest import log_in
from tests.log.truth import Truth, begin, deltas_of, read_all

STREAM = "ses_troubled"
OPENED = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
PROMPT = PromptAccepted(prompt=PromptId("pro_1"), text="Do it", who="me")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flusher_module, "RETRY_SECONDS", 0.05)


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Some megabytes that can really be full; only root can make them."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user cannot mount a small disk")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    return filler


async def until_well(log: EventLog) -> None:
    with anyio.fail_after(10):
        while log.trouble:  # noqa: ASYNC110 - nothing tells that a trouble is over
            await anyio.sleep(0.01)


async def append_until_full(writer: Writer, truth: Truth) -> None:
    """SQLite's own log may have room for some more."""
    while True:
        try:
            await writer.commit(truth.other(PROMPT))
        except StoreUnavailable:
            del truth.others[truth.seq]  # its number is not used again
            raise


async def test_a_full_disk_is_told_and_what_the_runtime_said_is_written_later(
    small_disk: Path,
) -> None:
    truth = Truth()
    async with log_in(small_disk) as log:
        writer = await begin(log, STREAM, truth)
        writer.say(truth.start("m"))
        writer.say(truth.delta("m", "before "))
        await writer.commit(truth.other(SessionReady()))
        filler = fill(small_disk)
        with pytest.raises(StoreUnavailable, match="Free some space") as refused:
            await append_until_full(writer, truth)
        assert str(log.trouble) == str(refused.value)
        for number in range(3_000):  # more than the journal takes
            writer.say(truth.delta("m", f"{number} " * 200))
        writer.say(truth.other(SessionIdle()))
        with pytest.raises(StoreUnavailable, match="Free some space"):
            await writer.commit(PROMPT)
        truth.seq += 1  # the number of what was refused is not used again
        filler.unlink()
        await until_well(log)
        await writer.commit(truth.end("m"))
        truth.check(0, await read_all(log, STREAM, 0, 500))
    async with log_in(small_disk) as log:
        truth.check(0, await read_all(log, STREAM, 0, 500))


@contextlib.asynccontextmanager
async def log_and_database(folder: Path) -> AsyncGenerator[tuple[EventLog, Database]]:
    database = SqliteDatabase(folder / "airboss.sqlite")
    await database.open()
    try:
        async with EventLog(database, Journal(folder / "deltas")).running() as log:
            yield log, database
    finally:
        await database.close()


@contextlib.asynccontextmanager
async def full(database: Database, _folder: Path) -> AsyncGenerator[None]:
    """SQLite finds no further page, as on a full disk."""
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1").close())
    yield
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1000000").close())


@contextlib.asynccontextmanager
async def locked(database: Database, folder: Path) -> AsyncGenerator[None]:
    """Somebody else has the database open and writes."""
    await database.write(lambda c: c.exec_driver_sql("PRAGMA busy_timeout=1").close())
    with contextlib.closing(sqlite3.connect(folder / "airboss.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [(full, "Free some space on its disk"), (locked, "Close the other program that has it open")],
)
async def test_the_log_recovers_without_a_restart(
    tmp_path: Path,
    trouble: Callable[[Database, Path], AbstractAsyncContextManager[None]],
    advice: str,
) -> None:
    async with log_and_database(tmp_path) as (log, database):
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        async with trouble(database, tmp_path):
            with pytest.raises(StoreUnavailable) as refused:
                await writer.commit(OPENED.model_copy(update={"cwd": "x" * 100_000}))
            assert advice in str(refused.value)
            assert str(tmp_path) in str(refused.value)
            text = "meanwhile" * 10_000
            said: list[Event] = [MessageDelta(block="m", offset=0, text=text), SessionIdle()]
            for event in said:
                writer.say(event)
            assert [recorded.event for recorded in await log.after(STREAM, 2)] == said[:1]
            with pytest.raises(StoreUnavailable):
                await log.writer(STREAM)  # who comes new is told as well, and does not wait
        await until_well(log)
        assert (await writer.commit(MessageEnded(block="m", text=text))).seq == 6
        found = [(recorded.seq, recorded.event.kind) for recorded in await log.after(STREAM, 2)]
    assert found == [(4, "message.delta"), (5, "session.idle"), (6, "message.ended")]


async def test_whoever_asks_learns_that_the_disk_is_well_again(tmp_path: Path) -> None:
    async with log_and_database(tmp_path) as (log, database):
        writer = await log.writer(STREAM)
        await writer.commit(OPENED)
        async with locked(database, tmp_path):
            with pytest.raises(StoreUnavailable):
                await writer.commit(SessionIdle())
            assert await log.look_again() is not None
        assert log.trouble is not None
        assert await log.look_again() is None
        assert log.trouble is None


async def test_a_delta_without_room_in_the_journal_is_shown_when_the_database_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "AREA_BYTES", 4096)
    pieces = [f"{number}" * 100 for number in range(30)]
    async with log_and_database(tmp_path) as (log, database):
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        async with log.follow(STREAM, 2) as follower:
            async with locked(database, tmp_path):
                for place, piece in enumerate(pieces):
                    offset = len("".join(pieces[:place]))
                    writer.say(MessageDelta(block="m", offset=offset, text=piece))
                shown = await follower.next(0.2)
                assert 10 < len(shown) < 30
            while len(shown) < 30:
                shown += await follower.next(5.0)
    assert [recorded.seq for recorded in shown] == list(range(3, 33))
    assert [delta.text for delta in deltas_of(shown)] == pieces


async def test_an_end_that_was_refused_can_be_said_again(tmp_path: Path) -> None:
    async with log_and_database(tmp_path) as (log, database):
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        for place, letter in enumerate("text"):
            writer.say(MessageDelta(block="m", offset=place, text=letter))
        async with locked(database, tmp_path):
            with pytest.raises(StoreUnavailable):
                await writer.commit(MessageEnded(block="m", text="text"))
        await until_well(log)
        await writer.commit(MessageEnded(block="m", text="text"))
    async with log_in(tmp_path) as log:
        kinds = [recorded.event.kind for recorded in await log.after(STREAM, 1)]
        assert kinds == ["message.started", "message.delta", "message.ended"]
        assert (await log.writer(STREAM)).left_open == ()


async def test_a_log_that_ends_in_trouble_ends_and_keeps_its_deltas(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with contextlib.AsyncExitStack() as stack:
            log, database = await stack.enter_async_context(log_and_database(tmp_path))
            writer = await log.writer(STREAM)
            await writer.commit(OPENED, MessageStarted(block="m"))
            async with locked(database, tmp_path):
                writer.say(MessageDelta(block="m", offset=0, text="kept"))
                await stack.aclose()
    async with log_in(tmp_path) as log:
        assert [left.text for left in (await log.writer(STREAM)).left_open] == ["kept"]


async def test_a_disk_that_is_free_again_at_the_end_gets_all(tmp_path: Path) -> None:
    async with log_and_database(tmp_path) as (log, database):
        writer = await log.writer(STREAM)
        await writer.commit(OPENED)
        async with locked(database, tmp_path):
            writer.say(SessionIdle())
            with pytest.raises(StoreUnavailable):
                await writer.commit(PROMPT)
    async with log_in(tmp_path) as log:
        kinds = [recorded.event.kind for recorded in await log.after(STREAM, 0)]
    assert kinds == ["session.opened", "session.idle"]


@pytest.fixture
def faulty_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours, as it might come with a new kind of event."""

    def faulty(view: View | None, stream: str, seq: int, at: int, event: Event) -> View | None:
        if isinstance(event, SessionError):
            raise ZeroDivisionError("a fold that was not thought through")
        return fold(view, stream, seq, at, event)

    monkeypatch.setattr(portion_module, "fold", faulty)


FAULT = SessionError(name="x", message="y")


async def say_around_a_fault(writer: Writer, other: Writer) -> None:
    await writer.commit(OPENED, MessageStarted(block="m"))
    await other.commit(OPENED)
    writer.say(MessageDelta(block="m", offset=0, text="one "))
    writer.say(FAULT)
    writer.say(MessageDelta(block="m", offset=4, text="two"))
    other.say(SessionIdle())


@pytest.mark.usefixtures("faulty_fold")
async def test_a_fault_in_one_event_stops_no_other(tmp_path: Path) -> None:
    async with log_in(tmp_path) as log:
        writer, other = await log.writer(STREAM), await log.writer("ses_other")
        await say_around_a_fault(writer, other)
        with pytest.raises(StoreUnavailable, match="bug in Airboss") as refused:
            await writer.commit(SessionReady(), FAULT)
        assert str(log.trouble) == str(refused.value)
        assert "ZeroDivisionError" in str(log.trouble)
        await writer.commit(MessageEnded(block="m", text="one two"))
        assert log.trouble is None
        found = [recorded.event.kind for recorded in await log.after(STREAM, 1)]
        elsewhere = [recorded.event.kind for recorded in await log.after("ses_other", 0)]
    assert found == ["message.started", "message.delta", "message.delta", "message.ended"]
    assert elsewhere == ["session.opened", "session.idle"]


async def test_a_row_that_the_database_refuses_stops_no_other(tmp_path: Path) -> None:
    """Somebody wrote into our database by hand, and has the number that comes next."""
    async with log_in(tmp_path) as log:
        writer, other = await log.writer(STREAM), await log.writer("ses_other")
        await writer.commit(OPENED)
        await other.commit(OPENED)
        with contextlib.closing(sqlite3.connect(tmp_path / "airboss.sqlite")) as by_hand, by_hand:
            by_hand.execute(
                "INSERT INTO events (stream, seq, at, kind, body) VALUES (?, 2, 0, ?, ?)",
                (STREAM, "session.idle", '{"kind":"session.idle"}'),
            )
        other.say(SessionIdle())
        with pytest.raises(StoreUnavailable, match="UNIQUE constraint failed"):
            await writer.commit(PROMPT)
        assert (await writer.commit(SessionReady())).seq == 3
        assert (await other.commit(SessionReady())).seq == 3


@pytest.fixture
def read_only(tmp_path: Path) -> Generator[Path]:
    """Root writes wherever the rights say no, so that it needs a disk that is read-only."""
    folder = tmp_path / "data"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield folder
        folder.chmod(0o700)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user cannot mount a read-only disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_read_only_folder_is_refused_in_words(read_only: Path) -> None:
    with pytest.raises(
        StoreUnavailable, match=r"fix its permissions, or choose another data folder"
    ):
        async with log_in(read_only):
            pass


def test_a_journal_in_a_read_only_folder_is_refused_in_words(read_only: Path) -> None:
    with pytest.raises(StoreUnavailable, match="choose another data folder with --data"):
        Journal(read_only / "deltas").open()
    with pytest.raises(StoreUnavailable, match="choose another data folder with --data"):
        Journal(read_only).start()
