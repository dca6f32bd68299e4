"""A data folder of an earlier version with runs in the middle is brought into PostgreSQL: they go
on there, what was finished is not done again, and all that was said reads the same."""

import asyncio
import base64
import hashlib
import json
import shutil
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, select

from airboss.log import rows
from airboss.model.run_events import RunAccepted
from airboss.shared_database import migrate
from airboss.store.database import Database
from airboss.store.dialect import Append, Growth, Row
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.tables import events, streams
from tests.contract.job_guest import JobGuest
from tests.contract.test_v1_images import png
from tests.databases import running_log
from tests.fixtures.open_runs.finished import finishes_the_runs
from tests.fixtures.open_runs.make import OUTCOMES, portal_in, restore
from tests.nursery import Streams
from tests.portal import Portal
from tests.trials import whole_only

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

# Made where there are none; what a server has is not in them.
_MADE = {"lock", "id"}


def shared_portal(folder: Path, url: str) -> Portal:
    portal = portal_in(folder)
    portal.extra_environ["AIRBOSS_DATABASE"] = url
    return portal


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in _MADE]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def imported(portal: Portal, code: int = 0) -> dict[str, Any]:
    done = portal.run("database", "import", "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout) if code == 0 else {"error": done.stderr}


async def told_in(database: Database) -> dict[str, list[tuple[int, int, str]]]:
    """All that was said in every stream, as readers are told it."""

    def read(connection: Connection) -> dict[str, list[tuple[int, int, str]]]:
        names = connection.execute(select(streams.c.stream)).scalars().all()
        return {
            name: [(one.seq, one.at, one.body) for one in rows.page(connection, name, 0, 100_000)]
            for name in names
        }

    await database.open()
    try:
        return await database.read(read)
    finally:
        await database.close()


async def test_the_runs_of_the_first_version_are_finished_on_a_shared_database(
    tmp_path: Path, postgres_url: str
) -> None:
    restore(tmp_path)
    portal = shared_portal(tmp_path, postgres_url)
    before = contents(portal.data)
    done = await asyncio.to_thread(imported, portal)
    assert contents(portal.data) == before, "the folder stays as it is"
    assert done["open_runs"] == len(OUTCOMES) - 1
    there = await told_in(PostgresDatabase(postgres_url))
    assert len(there) == done["streams"]
    began = time.time() * 1000
    await asyncio.to_thread(portal.start)
    try:
        await finishes_the_runs(portal, began)
    finally:
        await asyncio.to_thread(portal.stop)
    assert (
        contents(tmp_path / "data").items()
        >= {path: digest for path, digest in before.items() if "sqlite" in path}.items()
    ), "and no server writes there"
    after = await told_in(PostgresDatabase(postgres_url))
    for name, said in there.items():
        assert after[name][: len(said)] == said
    # Last: opening it brings it up to date.
    restore(tmp_path / "again")
    original = await told_in(SqliteDatabase(tmp_path / "again" / "data" / "airboss.sqlite"))
    again, here = str(tmp_path / "again"), str(tmp_path)
    assert json.loads(json.dumps(original).replace(again, here)) == json.loads(json.dumps(there))
    with psycopg.connect(postgres_url) as connection:
        (left,) = connection.execute("SELECT count(*) FROM airboss.work").fetchone() or (1,)
    assert left == 0


async def test_what_a_chat_was_saying_when_its_server_was_killed_is_read_on(
    tmp_path: Path, postgres_url: str
) -> None:
    portal = Portal(tmp_path)
    await asyncio.to_thread(portal.start)
    async with JobGuest.of(portal) as guest:
        chat = (await guest.http.post("/api/v1/sessions", json={"model": "rehearsal"})).json()["id"]
        image = {"mime": "image/png", "data": base64.b64encode(png()).decode()}
        asked = {"text": "take your time", "images": [image]}
        answer = await guest.http.post(f"/api/v1/sessions/{chat}/prompts", json=asked)
        assert answer.is_success, answer.text
        picture = f"/api/v1/sessions/{chat}/images/{answer.json()['prompt']}.1.png"
        await until_it_speaks(guest, chat)
        refused = await asyncio.to_thread(imported, shared_portal(tmp_path, postgres_url), 2)
        assert "is in use by the server with process id" in refused["error"]
    await asyncio.to_thread(portal.kill)
    portal.extra_environ["AIRBOSS_DATABASE"] = postgres_url
    done = await asyncio.to_thread(imported, portal)
    assert done["rows"]["airboss.parts"] > 0, "it was in the middle of a sentence"
    assert done["rows"]["airboss.images"] == 1
    shutil.rmtree(portal.data / "images")
    there = await told_in(PostgresDatabase(postgres_url))
    spoken = "".join(
        json.loads(body)["text"]
        for _, _, body in there[chat]
        if json.loads(body)["kind"] == "message.delta"
    )
    assert spoken == "One moment. "
    with psycopg.connect(postgres_url) as connection:
        owners = connection.execute("SELECT DISTINCT place FROM airboss.bindings").fetchall()
    assert owners == [((portal.data / "id").read_text("utf-8").strip(),)]
    again = await asyncio.to_thread(imported, portal, 1)
    assert "The database is not empty" in again["error"]
    await asyncio.to_thread(portal.start)
    try:
        async with JobGuest.of(portal) as guest:
            shown = (await guest.http.get(f"/api/v1/sessions/{chat}")).json()
            assert shown["state"] == "interrupted"
            assert (await guest.http.get(picture)).content == png()
            answer = await guest.http.post(f"/api/v1/sessions/{chat}/resume")
            assert answer.json()["state"] == "idle", answer.text
            found = await guest.http.get("/api/v1/search", params={"text": "take your time"})
            assert [one["stream"] for one in found.json()["items"]] == [chat]
    finally:
        await asyncio.to_thread(portal.stop)
    after = await told_in(PostgresDatabase(postgres_url))
    ended = [json.loads(body) for _, _, body in after[chat] if '"message.ended"' in body]
    assert [one["text"] for one in ended] == ["One moment. "]


async def until_it_speaks(guest: JobGuest, chat: str) -> None:
    for _ in range(600):
        answer = await guest.http.get(f"/api/v1/sessions/{chat}/events")
        if "message.delta" in answer.text:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("It does not speak.")


async def test_a_folder_without_a_database_is_refused(tmp_path: Path, postgres_url: str) -> None:
    portal = shared_portal(tmp_path, postgres_url)
    portal.data.mkdir(parents=True)
    refused = await asyncio.to_thread(imported, portal, 1)
    assert "has no database of Airboss" in refused["error"]
    assert list(portal.data.iterdir()) == []


async def test_every_character_comes_over(tmp_path: Path, postgres_url: str) -> None:
    portal = shared_portal(tmp_path, postgres_url)
    portal.data.mkdir(parents=True)
    file = portal.data / "airboss.sqlite"
    database = SqliteDatabase(file)
    await database.open()
    odd = 'a\\u0000b\\\\n\\t"\u2028\U0001f600'
    body = json.dumps({"kind": "message.started", "block": "x\0y\uf8fe", "text": odd})
    rows_of_it: list[Row] = [
        ("ses_odd", 1, 5, "message.started", body, "start", "x\0y\uf8fe", None, None),
        ("ses_odd", 2, 6, "message.ended", body, "end", "x\0y\uf8fe", None, b"\x00\\\xff"),
    ]
    batch = Append("here", [Growth("ses_odd", 1, 2, 0)], rows_of_it)
    await database.write(lambda connection: database.dialect.append(connection, batch))
    await database.close()
    original = await told_in(SqliteDatabase(file))
    await asyncio.to_thread(imported, portal)
    assert await told_in(PostgresDatabase(postgres_url)) == original
    shared = PostgresDatabase(postgres_url)
    await shared.open()
    kept = await shared.read(lambda c: c.execute(select(events).order_by(events.c.seq)).all())
    await shared.close()
    assert [tuple(row) for row in kept] == rows_of_it


@whole_only
def test_an_import_that_is_killed_leaves_nothing_and_can_be_repeated(
    tmp_path: Path, postgres_url: str
) -> None:
    restore(tmp_path)
    portal = shared_portal(tmp_path, postgres_url)
    (room := tmp_path / "room").mkdir()
    portal.extra_environ["TMPDIR"] = str(room)
    migrate(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(120); RETURN NEW; END $$"
        )
        connection.execute(
            "CREATE TRIGGER slow BEFORE INSERT ON airboss.work EXECUTE FUNCTION wait()"
        )
        sleeping = (
            "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
            "AND datname = current_database()"
        )
        process = portal.begin("database", "import", streams=Streams())
        until = time.monotonic() + 60
        while not (found := connection.execute(sleeping).fetchall()):
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait(20)
        connection.execute("SELECT pg_terminate_backend(%s)", found[0])
        while connection.execute(sleeping).fetchall():
            time.sleep(0.05)
        assert connection.execute("SELECT count(*) FROM airboss.events").fetchone() == (0,)
        connection.execute("DROP TRIGGER slow ON airboss.work")
    assert list(room.iterdir()), "its copy of the folder"
    assert imported(portal)["open_runs"] == len(OUTCOMES) - 1
    assert not list(room.iterdir())


async def test_an_open_run_goes_only_where_its_labels_are_behind_an_import(
    tmp_path: Path, postgres_url: str
) -> None:
    portal = shared_portal(tmp_path, postgres_url)
    portal.data.mkdir(parents=True)
    database = SqliteDatabase(portal.data / "airboss.sqlite")
    await database.open()
    accepted = RunAccepted(
        job="train", entry="0" * 64, cwd="/", user_input="", who="me", labels=("gpu", "big")
    )
    async with running_log(database, portal.data) as log:
        await log.new_writer("run_01m7r54ydfqeatszk9qfgc4p42").commit(accepted)
    await database.close()
    await asyncio.to_thread(imported, portal)
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT labels FROM airboss.work").fetchall()
    assert found == [('["big", "gpu"]',)]
