"""What the engine kept of runs in a file comes into a shared database, and nobody has it there."""

from pathlib import Path

import psycopg
import pytest

from airboss.engine.engine_import import import_engine
from airboss.engine.local_file import LocalFile
from airboss.engine.shared_schema import SharedSchema
from airboss.errors import StoreUnavailable
from airboss.store.postgres_import import importing
from tests.engine.homes import execute_in, migrated_engine, rows_of
from tests.postgres import Postgres

_ADDED = (
    "INSERT INTO workflow_status (workflow_uuid, status, name, queue_name, created_at, updated_at) "
    "VALUES ('{name}', '{status}', 'run', 'at:here', 1, 1)"
)
_KEPT = "SELECT workflow_uuid, status, queue_name FROM workflow_status ORDER BY workflow_uuid"


@pytest.fixture
def file(tmp_path: Path) -> LocalFile:
    file = LocalFile(tmp_path / "engine.sqlite")
    file.prepare()
    return file


@pytest.fixture
def shared(postgres: Postgres) -> SharedSchema:
    return SharedSchema(postgres.url(migrated_engine(postgres)), "wrk_1", "place")


def test_open_runs_keep_their_ids_and_wait_for_whoever_takes_them_up(
    file: LocalFile, shared: SharedSchema
) -> None:
    for name, status in (("run_a", "ENQUEUED"), ("run_b", "PENDING"), ("run_c", "SUCCESS")):
        execute_in(file, _ADDED.format(name=name, status=status))
    with importing(shared.url, lambda _table, _done: None) as target:
        import_engine(file.path, target)
    assert rows_of(shared, _KEPT) == [
        ("run_a", "PENDING", None),
        ("run_b", "PENDING", None),
        ("run_c", "SUCCESS", "at:here"),
    ]


def test_what_has_no_place_there_is_refused_and_nothing_is_left(
    file: LocalFile, shared: SharedSchema
) -> None:
    execute_in(file, _ADDED.format(name="run_a", status="PENDING"))
    execute_in(file, "ALTER TABLE workflow_status ADD COLUMN of_tomorrow TEXT")
    with (
        pytest.raises(StoreUnavailable, match="has no place for of_tomorrow"),
        importing(shared.url, lambda _table, _done: None) as target,
    ):
        import_engine(file.path, target)
    assert rows_of(shared, _KEPT) == []


def test_a_folder_that_never_had_a_job_has_nothing_to_bring(
    tmp_path: Path, shared: SharedSchema
) -> None:
    with importing(shared.url, lambda _table, _done: None) as target:
        import_engine(tmp_path / "engine.sqlite", target)
        assert target.counts == {}
    with psycopg.connect(shared.url) as connection:
        asked = "SELECT count(*) FROM dbos.workflow_status"
        assert connection.execute(asked).fetchone() == (0,)
