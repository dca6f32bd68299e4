"""One file, one writer: what it returned is on disk, and what it cannot do it says in words."""

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import IntegrityError

from airboss.errors import StoreUnavailable
from airboss.store import sqlite_database as database_module
from airboss.store.entries import EntryStore
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.sqlite_dialect import driver_of
from airboss.store.sqlite_migrations import STEPS, migrate
from airboss.store.tables import positions

# As the first released number of migrations left it.
FIRST_SCHEMA = """
CREATE TABLE migrations (number INTEGER PRIMARY KEY);
INSERT INTO migrations VALUES (1);
CREATE TABLE events (
    stream VARCHAR(64) NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
    kind VARCHAR(64) NOT NULL, body TEXT NOT NULL, role VARCHAR(8), block TEXT,
    end_seq INTEGER, marks BLOB, PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE open_starts (
    stream VARCHAR(64) NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE views (
    stream VARCHAR(64) NOT NULL PRIMARY KEY, kind VARCHAR(16) NOT NULL,
    state VARCHAR(32) NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX views_by_time ON views (kind, created_at, stream);
CREATE INDEX views_by_state ON views (kind, state);
CREATE TABLE positions (
    stream VARCHAR(64) NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, drained INTEGER NOT NULL
);
INSERT INTO positions VALUES ('a', 0, 0);
"""


@contextlib.asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[SqliteDatabase]:
    database = SqliteDatabase(path)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[SqliteDatabase]:
    async with opened(tmp_path / "airboss.sqlite") as made:
        yield made


def write_position(stream: str) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        connection.execute(insert(positions).values(stream=stream, seq=0))

    return work


def streams(connection: Connection) -> list[str]:
    return list(connection.execute(select(positions.c.stream).order_by("stream")).scalars())


async def test_what_was_written_is_read_by_everybody(database: SqliteDatabase) -> None:
    await database.write(write_position("a"))
    assert await database.read(streams) == ["a"]
    with contextlib.closing(sqlite3.connect(database.path)) as other:
        assert other.execute("SELECT stream FROM positions").fetchall() == [("a",)]


async def test_a_transaction_that_fails_leaves_nothing_and_the_next_works(
    database: SqliteDatabase,
) -> None:
    def half(connection: Connection) -> None:
        write_position("half")(connection)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(half)
    with pytest.raises(ZeroDivisionError):
        await database.read(lambda _: 1 // 0)
    await database.write(write_position("whole"))
    assert await database.read(streams) == ["whole"]


async def test_a_fault_of_ours_is_not_taken_for_a_full_disk(database: SqliteDatabase) -> None:
    await database.write(write_position("a"))
    with pytest.raises(IntegrityError):
        await database.write(write_position("a"))
    await database.write(write_position("b"))
    assert await database.read(streams) == ["a", "b"]


async def test_a_commit_that_was_refused_does_not_stop_the_next(database: SqliteDatabase) -> None:
    """A constraint that is checked at the commit fails there, as a full disk may."""

    def prepare(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE parent (id INTEGER PRIMARY KEY)"))
        child = "CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
        connection.execute(text(child))

    def orphan(connection: Connection) -> None:
        connection.execute(text("INSERT INTO child VALUES (1)"))

    async def foreign_keys(state: str) -> None:
        def work(connection: Connection) -> None:
            driver_of(connection).commit()  # the pragma does nothing inside a transaction
            connection.exec_driver_sql(f"PRAGMA foreign_keys={state}")

        await database.write(work)

    await database.write(prepare)
    await foreign_keys("ON")
    with pytest.raises(IntegrityError):
        await database.write(orphan)
    await database.write(write_position("after"))
    assert await database.read(streams) == ["after"]


async def test_writes_are_one_at_a_time_and_reads_do_not_wait_for_them(
    database: SqliteDatabase,
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        write_position("slow")(connection)
        inside.set()
        go_on.wait(10)

    async with anyio.create_task_group() as group:
        group.start_soon(database.write, slow)
        group.start_soon(database.write, write_position("quick"))
        await anyio.to_thread.run_sync(inside.wait)
        assert await database.read(streams) == []
        go_on.set()
    assert await database.read(streams) == ["quick", "slow"]


async def test_the_files_are_for_their_owner_only(database: SqliteDatabase) -> None:
    await database.write(write_position("a"))
    modes = {
        name: stat.S_IMODE(os.stat(database.path.parent / name).st_mode)
        for name in os.listdir(database.path.parent)
    }
    names = ("airboss.sqlite", "airboss.sqlite-shm", "airboss.sqlite-wal")
    assert modes == dict.fromkeys(names, 0o600)


async def test_a_path_may_have_any_letters(tmp_path: Path) -> None:
    folder = tmp_path / "wörk ?mode=memory#%20'"
    await anyio.Path(folder).mkdir()
    async with opened(folder / "airboss.sqlite") as database:
        await database.write(write_position("a"))
    assert os.listdir(folder) == ["airboss.sqlite"]


@pytest.mark.parametrize(
    "content", [b"This is not a database. " * 300, b"SQLite format 3\x00" * 99]
)
async def test_a_file_that_is_no_database_is_refused_in_words(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "airboss.sqlite"
    await anyio.Path(path).write_bytes(content)
    with pytest.raises(StoreUnavailable, match="It is damaged: stop the server, restore a backup"):
        await SqliteDatabase(path).open()
    assert await anyio.Path(path).read_bytes() == content


async def open_and_read(path: Path) -> list[str]:
    async with opened(path) as database:
        return await database.read(streams)


async def test_a_database_that_is_damaged_inside_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "airboss.sqlite"
    async with opened(path) as database:
        for number in range(300):
            await database.write(write_position(f"{number:060}"))
    content = bytearray(await anyio.Path(path).read_bytes())
    for page in range(2, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    await anyio.Path(path).write_bytes(content)
    with pytest.raises(StoreUnavailable, match="It is damaged"):
        await open_and_read(path)


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="No such file or directory") as refused:
        await SqliteDatabase(tmp_path / "gone" / "airboss.sqlite").open()
    assert "choose another data folder with --data" in str(refused.value)


async def test_a_database_that_left_is_told_and_not_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "airboss.sqlite"
    async with opened(file):
        file.rename(tmp_path / "elsewhere")
        # As the next thread that reads: it has no connection yet.
        late = SqliteDatabase(file)
        with pytest.raises(StoreUnavailable, match="cannot be used"):
            await late.read(lambda connection: connection.execute(select(positions)).all())
        await late.close()
    assert not file.exists()


async def test_a_closed_database_refuses_in_words_and_closes_twice(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "airboss.sqlite")
    await database.open()
    await database.close()
    await database.close()
    with pytest.raises(StoreUnavailable, match="the server is stopping"):
        await database.read(streams)
    with pytest.raises(StoreUnavailable, match="the server is stopping"):
        await database.write(write_position("a"))
    assert os.listdir(tmp_path) == ["airboss.sqlite"]


async def test_the_write_ahead_log_stays_small_while_somebody_always_reads(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_LARGEST_WAL", 1024 * 1024)
    wal, sizes, done = database.path.with_name("airboss.sqlite-wal"), list[int](), False

    async def keep_reading() -> None:
        while not done:
            await database.read(streams)

    def write_much(connection: Connection) -> None:
        for number in range(40):
            values = {"s": f"{number:02}" + "x" * 4000}
            connection.execute(text("INSERT OR REPLACE INTO positions VALUES (:s, 1, 0)"), values)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(keep_reading)
        for _ in range(99):  # opening it was the first of the hundred after which it is looked at
            await database.write(write_much)
            sizes.append(os.stat(wal).st_size)
        done = True
    assert max(sizes) > 1024 * 1024
    assert sizes[-1] == 0


async def test_migrating_twice_is_harmless(database: SqliteDatabase) -> None:
    def tables(connection: Connection) -> list[str]:
        found = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))
        return sorted(found.scalars())

    await database.write(write_position("a"))
    before = await database.read(tables)
    await database.write(migrate)
    assert await database.read(tables) == before
    first = ["events", "migrations", "open_starts", "positions", "views"]
    later = [
        "bindings",
        "deliveries",
        "disabled_extensions",
        "entries",
        "last_good",
        "origins",
        "rules",
        "run_keys",
        "settings",
        "sign_ins",
        "streams",
        "trust",
    ]
    kept = [name for name in before if not name.startswith("said_words")]  # FTS5's own
    assert kept == sorted([*first, *later, "said"])
    assert await database.read(streams) == ["a"]


async def test_a_database_from_before_entries_gets_their_tables_and_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    path = tmp_path / "airboss.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(FIRST_SCHEMA)
    async with opened(path) as database:
        assert await database.read(streams) == ["a"]
        store = EntryStore(database)
        await store.save("d", "{}", 1)
        assert await store.load("d") == "{}"
        numbers = text("SELECT number FROM migrations ORDER BY number")
        done = await database.read(lambda c: list(c.execute(numbers).scalars()))
        assert done == list(range(1, len(STEPS) + 1))


async def test_a_database_of_a_newer_airboss_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "airboss.sqlite"
    newer = len(STEPS) + 1
    async with opened(path) as database:
        add = text("INSERT INTO migrations (number) VALUES (:number)")
        await database.write(lambda c: c.execute(add, {"number": newer}).close())
    with pytest.raises(StoreUnavailable) as refused:
        await SqliteDatabase(path).open()
    assert str(refused.value) == (
        f"This data folder was written by a newer Airboss (schema {newer}, this one knows "
        f"{newer - 1}). Install that version again, or choose another folder with --data."
    )
