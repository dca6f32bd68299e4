"""The engine's file: private, whole at every moment, and said in words where it is not."""

import asyncio
import sqlite3
import stat
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS, _migration, _sys_db_sqlite

from airboss.engine.durable import Engine
from airboss.engine.local_file import FILE, LocalFile, url_of
from airboss.entry.build import par, ref, seq
from airboss.errors import StoreUnavailable
from tests.engine.workshop import Workshop

GOOD, BAD = ref("good"), ref("bad")
MIGRATIONS = len(_migration.sqlite_migrations)


@pytest.fixture
def shop(shop: Workshop) -> Workshop:
    shop.works["run_1"] = par(GOOD, seq(GOOD, BAD))
    return shop


@pytest.fixture
async def engine(tmp_path: Path, shop: Workshop) -> AsyncGenerator[Engine]:
    engine = Engine(LocalFile(tmp_path / FILE), shop)
    yield engine
    await engine.close()


def rows(folder: Path, asked: str) -> list[Any]:
    with closing(sqlite3.connect(folder / FILE)) as file:
        return file.execute(asked).fetchall()


async def starts(engine: Engine, folder: Path) -> None:
    """All that is needed is there, and up to date."""
    await engine.start("run_1")
    assert await engine.known("run_1")
    assert rows(folder, "SELECT version FROM dbos_migrations") == [(MIGRATIONS,)]
    assert not (folder / f"{FILE}.draft").exists()


async def test_what_is_kept_is_private_json(engine: Engine, shop: Workshop, tmp_path: Path) -> None:
    await starts(engine, tmp_path)
    await asyncio.wait_for(shop.end_of("run_1").wait(), 10)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert rows(tmp_path, "PRAGMA journal_mode") == [("wal",)]
    for table in ("workflow_status", "operation_outputs"):
        kept = rows(tmp_path, f"SELECT DISTINCT serialization FROM {table}")  # noqa: S608
        assert {name for (name,) in kept} <= {"portable_json", None}
    marks = "SELECT DISTINCT application_version, executor_id FROM workflow_status"
    assert rows(tmp_path, marks) == [("walk-1", "server")]


async def test_a_folder_may_have_any_name(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "büro #1 50%3F ?x=y"
    folder.mkdir()
    engine = Engine(LocalFile(folder / FILE), shop)
    await starts(engine, folder)
    await engine.close()


@pytest.mark.parametrize("half", [FILE, f"{FILE}.draft"])
@pytest.mark.parametrize("statements", [1, 5])
async def test_tables_that_a_kill_left_half_made_are_made_anew(
    engine: Engine, tmp_path: Path, half: str, statements: int
) -> None:
    with closing(sqlite3.connect(tmp_path / half)) as file:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY)")
        for statement in _migration.sqlite_migrations[0].split(";")[:statements]:
            file.execute(statement)
    await starts(engine, tmp_path)


async def test_tables_of_an_older_release_are_brought_up_to_date_with_all_that_is_in_them(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(_sys_db_sqlite, "sqlite_migrations", _migration.sqlite_migrations[:10])
        DBOS.migrate(url_of(tmp_path / FILE))
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute(
            "INSERT INTO workflow_status (workflow_uuid, status) VALUES ('run_0', 'SUCCESS')"
        )
    assert rows(tmp_path, "SELECT version FROM dbos_migrations") != [(MIGRATIONS,)]
    await starts(engine, tmp_path)
    assert await engine.known("run_0")


async def test_tasks_and_branches_that_an_earlier_version_left_open_are_no_workflows_any_more(
    engine: Engine, tmp_path: Path
) -> None:
    DBOS.migrate(url_of(tmp_path / FILE))
    kept = [
        ("run_0", "run", "PENDING"),
        ("run_0.0.0", "task", "SUCCESS"),
        ("run_0.0.1", "task", "PENDING"),
        ("run_0.0.2", "branch", "ENQUEUED"),
        ("lon_0", "lone", "PENDING"),
    ]
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        insert = "INSERT INTO workflow_status (workflow_uuid, name, status) VALUES (?, ?, ?)"
        file.executemany(insert, kept)
    await starts(engine, tmp_path)
    known = {name for (name,) in rows(tmp_path, "SELECT workflow_uuid FROM workflow_status")}
    assert {"run_0", "run_0.0.0", "lon_0"} <= known
    assert not {"run_0.0.1", "run_0.0.2"} & known


async def test_a_file_that_is_no_database_is_said_so(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"This is not a database." * 100)
    with pytest.raises(StoreUnavailable, match="cannot be used: file is not a database"):
        await engine.recover()
    with pytest.raises(StoreUnavailable):
        await engine.start("run_1")


async def test_a_launch_that_failed_can_be_tried_again(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("No space left.")

    with monkeypatch.context() as trouble:
        trouble.setattr(DBOS, "launch", fail)
        with pytest.raises(StoreUnavailable, match="No space left"):
            await engine.start("run_1")
    await starts(engine, tmp_path)
