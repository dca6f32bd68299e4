"""What was said is found again: at once, for good, and until it is deleted."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from airboss.errors import TooMuch
from airboss.log import rows
from airboss.store import (
    postgres_search,
    sqlite_migrations,
    sqlite_search,
    sqlite_search_index,
)
from airboss.store.database import Database
from airboss.store.search import FoundPage, LookIn, SearchIndex
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.tables import views
from airboss.store.view_rows import columns_of
from tests.databases import (
    POSTGRES,
    SQLITE,
    NewDatabase,
    append_rows,
    mostly_on_sqlite,
    on_postgres,
    on_sqlite,
)

Row = tuple[Any, ...]
LAST = 2**62


# Each database, and a machine whose SQLite was built without what looks for words.
machines = pytest.mark.parametrize(
    ("kept_in", "has_fts5"),
    [(SQLITE, True), (SQLITE, False), (POSTGRES, True)],
    indirect=["kept_in"],
)


def make_machine(monkeypatch: pytest.MonkeyPatch, *, has_it: bool) -> None:
    def has_fts5(_connection: Connection) -> bool:
        return has_it

    monkeypatch.setattr(sqlite_search_index, "has_fts5", has_fts5)


def event(stream: str, seq: int, kind: str, **fields: Any) -> Row:
    body = json.dumps({"kind": kind, **fields})
    return (stream, seq, 1000 + seq, kind, body, None, None, None, None)


def message(stream: str, seq: int, text: str) -> Row:
    return event(stream, seq, "message.ended", block="b", text=text)


async def write(database: Database, events: Iterable[Row]) -> None:
    if isinstance(database, SqliteDatabase):
        statement = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        await database.write(lambda c: c.exec_driver_sql(statement, list(events)) and None)
    else:
        await append_rows(database, list(events))


async def look(database: Database, *words: str, before: int = LAST, limit: int = 50) -> FoundPage:
    return await SearchIndex(database).page(words, before, limit)


async def seqs(database: Database, *words: str) -> list[int]:
    return [one.seq for one in (await look(database, *words)).items]


TALK: Sequence[Row] = (
    event("ses_a", 1, "prompt.accepted", text="Mend the ÄRGER, please", who="me"),
    event("ses_a", 2, "tool.started", block="t", name="bash", arguments='{"a": "one\\ntwo"}'),
    event("ses_a", 3, "tool.delta", block="t", offset=0, text="streamed"),
    event("ses_a", 4, "tool.ended", block="t", text="output", error={"message": "exit 3"}),
    event("ses_a", 5, "aside.answered", who="me", question="why?", answer="because"),
    event("tsk_a", 6, "task.decided", text="[DECIDED] to go on"),
    event("run_a", 7, "run.accepted", user_input="the whole deck"),
    message("ses_a", 8, "  "),
)


@machines
async def test_all_that_was_said_is_found_by_its_words(
    new_database: NewDatabase, has_fts5: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_machine(monkeypatch, has_it=has_fts5)
    database = new_database()
    await database.open()
    try:
        await write(database, TALK)
        for word, found in {
            "mend": [1],
            "ärger": [1],
            "bash": [2],
            "two": [2],
            "streamed": [],
            "output": [4],
            "exit": [4],
            "BECAUSE": [5],
            "decided": [6],
            "deck": [7],
            'nothing"*': [],
        }.items():
            assert await seqs(database, word) == found, word
        assert await seqs(database, "mend", "please") == [1]
        assert await seqs(database, "mend", "deck") == []
        [found_one] = (await look(database, "ÄRG")).items
        assert (found_one.before, found_one.hit.lower()[:3]) == ("Mend the ", "ärg")
        assert (found_one.hit + found_one.after) == "ÄRGER, please"
    finally:
        await database.close()


def view(stream: str, kind: str, state: str, **body: Any) -> dict[str, Any]:
    told = (stream, kind, state, 1, 1, json.dumps({"id": stream, **body}))
    row = told + columns_of(stream, kind, state, body)
    return dict(zip([column.name for column in views.columns], row, strict=True))


VIEWS: Sequence[dict[str, Any]] = (
    view("ses_own", "session", "closed", title="Mine", model="m", items=[]),
    view("ses_asks", "session", "working", title="Asks", model="n", items=[{}]),
    view("run_1", "run", "failed", job="ship", tags=["nightly", "two words"]),
    view("tsk_1", "task", "failed", task="build", run="run_1"),
    view("ses_1", "session", "closed", title="Build", model="m", task="tsk_1", run="run_1"),
    view("tsk_2", "task", "running", task="lone", for_person=True),
    view("ses_2", "session", "working", title="Lone", model="m", task="tsk_2"),
)


@machines
async def test_what_is_found_is_narrowed_by_what_a_list_shows_it_as(
    new_database: NewDatabase, has_fts5: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_machine(monkeypatch, has_it=has_fts5)
    database = new_database()
    await database.open()
    try:
        await database.write(lambda c: c.execute(views.insert(), list(VIEWS)) and None)
        streams = ("ses_own", "ses_asks", "run_1", "tsk_1", "ses_1", "ses_2")
        await write(database, [message(name, n, "needle") for n, name in enumerate(streams, 1)])
        begun = [
            event("run_1", n, "run.work.started", work=4, task_run=name)
            for n, name in ((90, "tsk_0"), (91, "tsk_1"))
        ]
        await write(database, begun)

        async def streams_in(**where: Any) -> list[str]:
            page = await SearchIndex(database).page(["needle"], LAST, 50, LookIn(**where))
            return [one.stream for one in page.items][::-1]

        assert await streams_in() == list(streams)
        assert await streams_in(of="run") == ["run_1", "tsk_1", "ses_1"]
        assert await streams_in(of="task") == ["ses_2"]
        assert await streams_in(of="session") == ["ses_own", "ses_asks"]
        assert await streams_in(states=["failed", "running"]) == [*streams[2:]]
        assert await streams_in(for_person=True) == ["ses_asks", "ses_2"]
        assert await streams_in(job="ship") == ["run_1", "tsk_1", "ses_1"]
        assert await streams_in(job="ship", tag="nightly") == ["run_1", "tsk_1", "ses_1"]
        assert await streams_in(tag="night") == []
        assert await streams_in(model="m") == ["ses_own", "ses_1", "ses_2"]
        assert await streams_in(since=1004, job="ship") == ["tsk_1", "ses_1"]
        owners = (await look(database, "needle")).owners
        assert [owners[name].top_kind for name in ("ses_own", "ses_1", "ses_2", "tsk_1")] == [
            "session",
            "run",
            "task",
            "run",
        ]
        assert (owners["tsk_1"].work, owners["tsk_1"].execution) == (4, 2)
    finally:
        await database.close()


async def test_the_newest_come_first_and_pages_stay_true(database: Database) -> None:
    await write(database, [message(f"ses_{n}", n, f"number {n}") for n in range(1, 8)])
    first = await look(database, "number", limit=3)
    await write(database, [message("ses_8", 8, "number 8")])
    assert first.next_id is not None
    second = await look(database, "number", before=first.next_id, limit=3)
    assert second.next_id is not None
    third = await look(database, "number", before=second.next_id, limit=3)
    told = [one.seq for page in (first, second, third) for one in page.items]
    assert (told, third.next_id) == ([7, 6, 5, 4, 3, 2, 1], None)


async def test_what_is_forgotten_is_not_found(database: Database) -> None:
    await write(database, [message("ses_a", 1, "the secret"), message("ses_b", 1, "the secret")])
    await database.write(lambda c: rows.forget(c, ["ses_a"]))
    assert [one.stream for one in (await look(database, "secret")).items] == ["ses_b"]
    left = "SELECT stream FROM said"
    assert await database.read(lambda c: c.exec_driver_sql(left).scalars().all()) == ["ses_b"]


async def test_a_folder_of_an_earlier_version_is_indexed(tmp_path: Path) -> None:
    file = tmp_path / "airboss.sqlite"
    steps = sqlite_migrations.STEPS
    place = steps.index(sqlite_migrations._texts_to_be_looked_for)  # pyright: ignore[reportPrivateUsage]
    file.touch()
    old = SqliteDatabase(file)
    await with_steps(old, steps[:place], lambda: write(old, TALK))
    new = SqliteDatabase(file)
    await new.open()
    try:
        assert await seqs(new, "mend") == [1]
        await write(new, [message("ses_b", 9, "mend it too")])
        assert await seqs(new, "mend") == [9, 1]
    finally:
        await new.close()


async def with_steps(
    database: Database, steps: Sequence[Callable[[Connection], None]], work: Callable[[], Any]
) -> None:
    """As an earlier version left it."""

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE migrations (number INTEGER PRIMARY KEY)")
        for number, step in enumerate(steps, start=1):
            step(connection)
            connection.exec_driver_sql("INSERT INTO migrations VALUES (?)", (number,))

    await database.write(begin)
    await work()
    await database.close()


async def test_a_folder_may_move_between_machines_with_and_without_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "airboss.sqlite"
    for number, has_it in enumerate((True, False, True, False), start=1):
        make_machine(monkeypatch, has_it=has_it)
        database = SqliteDatabase(file)
        await database.open()
        await write(database, [message("ses_a", number, f"moved {number}")])
        assert await database.read(sqlite_search_index.is_indexed) == has_it
        assert await seqs(database, "moved") == list(range(number, 0, -1))
        await database.close()


@mostly_on_sqlite
async def test_ten_thousand_sessions_do_not_make_it_slow(database: Database) -> None:
    text = "The agent looks at the engine and says what it sees there. " * 4
    await write(
        database,
        (
            message(f"ses_{n:05}", seq, f"{text} word{n} common")
            for n in range(10_000)
            for seq in range(1, 4)
        ),
    )
    for words, count in (("word7777", 3), ("common", 50), ("engine sees", 50), ("e", 50)):
        began = time.process_time()
        page = await look(database, *words.split())
        assert len(page.items) == count, words
        assert time.process_time() - began < 1, words


@on_sqlite
async def test_looking_ends_in_bounded_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(database, [message("ses_a", n, f"word{n} " * 50) for n in range(1, 3000)])
    monkeypatch.setattr(sqlite_search, "SECONDS", -1.0)
    monkeypatch.setattr(sqlite_search, "_STEPS", 1)
    with pytest.raises(TooMuch, match="Add a word"):
        await look(database, "word", "w", "wo")
    monkeypatch.setattr(sqlite_search, "SECONDS", 60.0)
    assert len((await look(database, "word1")).items) == 50


@on_postgres
async def test_a_search_that_takes_too_long_is_refused_by_postgresql(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(database, [message("ses_a", n, f"word{n} " * 50) for n in range(1, 3000)])
    monkeypatch.setattr(postgres_search, "SECONDS", 0.001)
    with pytest.raises(TooMuch, match="Add a word"):
        await look(database, "word", "w", "wo")
    monkeypatch.setattr(postgres_search, "SECONDS", 60.0)
    assert len((await look(database, "word1")).items) == 50


@on_postgres
async def test_letters_are_found_without_their_accents_and_any_word_by_its_beginning(
    database: Database,
) -> None:
    await write(database, [message("ses_a", 1, "src/main-loop.py: Crème BRÛLÉE, ÆSIR\0 end")])
    for word in ("main", "LOOP", "creme", "crème", "brulee", "brû", "py", "main-loop", "end"):
        assert await seqs(database, word) == [1], word
    [found] = (await look(database, "brulee")).items
    assert (found.hit, found.after) == ("BRÛLÉE", ", ÆSIR\ufffd end")
    for word in ("rulee", "---", "'", "a & b | c:*"):
        assert await seqs(database, word) == [], word
