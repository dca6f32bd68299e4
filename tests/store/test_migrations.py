"""What an earlier version wrote becomes what today's reads."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.states import FoldedSession
from airboss.model.views import SessionView
from airboss.service.retention import ended_in
from airboss.store import sqlite_migrations
from airboss.store.database import Database
from airboss.store.sqlite_database import SqliteDatabase

TASK = "tsk_01m7g5dzmshzg947rf5bedfkcs"
OPENED = {"kind": "session.opened", "model": "m", "cwd": "/w", "policy": "ask"}
CLOSED = {"kind": "session.closed", "reason": "Done.", "who": "owner"}


def write_session(connection: Connection, name: str, who: str, **more: Any) -> None:
    """A session that has ended, as the version before the owner's field wrote it."""
    for seq, event in enumerate(({**OPENED, "who": who, **more}, CLOSED), start=1):
        connection.execute(
            text("INSERT INTO events (stream, seq, at, kind, body) VALUES (:s, :n, 5, :k, :b)"),
            {"s": name, "n": seq, "k": event["kind"], "b": json.dumps(event)},
        )
    told = {name: value for name, value in OPENED.items() if name != "kind"}
    view = {**told, "id": name, "state": "closed", "who": who, "seq": 2, **more}
    body = json.dumps({**view, "created_at": 5, "updated_at": 5})
    connection.execute(
        text("INSERT INTO views VALUES (:s, :k, 'closed', 5, 2, :b)"),
        {"s": name, "k": "session", "b": body},
    )


def write_task(connection: Connection) -> None:
    connection.execute(
        text("INSERT INTO views VALUES (:s, 'task', 'running', 5, 1, :b)"),
        {"s": TASK, "b": '{"updated_at": 5}'},
    )


@asynccontextmanager
async def upgraded(file: Path) -> AsyncGenerator[Database]:
    """A folder of the version before, opened by today's."""
    steps = sqlite_migrations.STEPS
    place = steps.index(sqlite_migrations._owners_of_sessions)  # pyright: ignore[reportPrivateUsage]
    await asyncio.to_thread(file.touch)
    old = SqliteDatabase(file)

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE migrations (number INTEGER PRIMARY KEY)")
        for number, step in enumerate(steps[:place], start=1):
            step(connection)
            connection.exec_driver_sql("INSERT INTO migrations VALUES (?)", (number,))
        write_task(connection)
        write_session(connection, "ses_of_task", f"task {TASK}")
        write_session(connection, "ses_of_person", "tasky")
        write_session(connection, "ses_of_today", f"task {TASK}", task="tsk_other")

    await old.write(begin)
    await old.close()
    database = SqliteDatabase(file)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def test_a_session_named_after_its_task_gets_it_as_a_field(tmp_path: Path) -> None:
    async with upgraded(tmp_path / "airboss.sqlite") as database:
        log = EventLog(database, Journal(tmp_path / "deltas"))
        owners: dict[str, str | None] = {}
        for name in ("ses_of_task", "ses_of_person", "ses_of_today"):
            view = await log.view(name)
            assert isinstance(view, SessionView)
            owners[name] = view.task
            state = FoldedSession(name)
            for recorded in await log.after(name, 0, 10):
                state.tell(recorded)
            assert state.view == view, "the events say the same"
            (opened, _) = await log.after(name, 0, 10)
            assert isinstance(opened.event, SessionOpened)
            assert opened.event.who == view.who
        assert owners == {"ses_of_task": TASK, "ses_of_person": None, "ses_of_today": "tsk_other"}


async def test_it_is_kept_as_long_as_its_task(tmp_path: Path) -> None:
    async with upgraded(tmp_path / "airboss.sqlite") as database:
        found = await ended_in(database).oldest(None, 10)
        assert {one.stream for one in found} == {"ses_of_person", "ses_of_today"}
