"""The engine's database without DBOS: which runs it knows, and which of them are open."""

from collections.abc import Generator
from pathlib import Path

import pytest
from dbos import DBOS

from airboss.engine.homes import EngineHome
from airboss.engine.ledger import EngineLedger
from airboss.engine.local_file import LocalFile, url_of
from airboss.engine.shared_schema import SharedSchema
from airboss.errors import StoreUnavailable
from tests.engine.homes import execute_in, migrated_engine, rows_of
from tests.postgres import Postgres


@pytest.fixture(params=["file", "schema"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[EngineHome]:
    """With DBOS's tables, on each of the databases."""
    if request.param == "file":
        home = LocalFile(tmp_path / "engine.sqlite")
        DBOS.migrate(url_of(home.path))
        yield home
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = migrated_engine(postgres)
    schema = SharedSchema(postgres.url(name), "wrk_1", "own_1")
    yield schema
    schema.close()
    postgres.drop(name)


def test_a_server_without_runs_has_no_file_and_is_made_none(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite"
    ledger = EngineLedger(LocalFile(path))
    assert not (ledger.knows("run_1"))
    assert not (ledger.has_open())
    assert not (ledger.has_queued())
    assert ledger.open_elsewhere(["run_1"]) == []
    ledger.forget("run_1")
    assert not path.exists()


def test_a_database_without_the_engines_tables_knows_nothing(postgres_url: str) -> None:
    home = SharedSchema(postgres_url, "wrk_1", "own_1")
    ledger = EngineLedger(home)
    assert not (ledger.knows("run_1"))
    assert not (ledger.has_open())
    assert not (ledger.has_queued())
    assert ledger.open_elsewhere(["run_1"]) == []
    ledger.forget("run_1")
    home.close()


def test_what_is_asked_each_second_has_one_connection_and_another_one_after_trouble(
    postgres: Postgres,
) -> None:
    name = migrated_engine(postgres)
    home = SharedSchema(postgres.url(name), "wrk_1", "own_1")

    def line() -> int:
        asked = "SELECT pg_backend_pid()"
        return home.asked(lambda rows: rows.execute(asked)[0][0], 0, is_frequent=True)

    try:
        first = line()
        assert line() == first > 0
        ended = f"SELECT pg_terminate_backend({first}, 10000)"
        home.asked(lambda rows: rows.execute(ended), [])
        with pytest.raises(StoreUnavailable):
            line()
        assert line() not in (0, first)
    finally:
        home.close()
        postgres.drop(name)


def test_a_file_that_is_no_database_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "engine.sqlite"
    path.write_text("Not a database, but long enough to be one. " * 40, encoding="utf-8")
    with pytest.raises(StoreUnavailable, match=r"engine\.sqlite cannot be used: .*Check its disk"):
        EngineLedger(LocalFile(path)).has_open()


def test_a_database_that_is_away_is_told_in_words_without_its_password() -> None:
    home = SharedSchema("postgresql://me:hidden@127.0.0.1:1/x", "wrk_1", "own_1")
    with pytest.raises(StoreUnavailable, match="Check that the database runs") as told:
        EngineLedger(home).has_open()
    assert "hidden" not in str(told.value)


def test_runs_are_known_open_and_forgotten_with_all_their_works_and_attempts(
    home: EngineHome,
) -> None:
    ledger = EngineLedger(home)
    rows = [
        ("run_1", "SUCCESS"),
        ("run_1.0.1", "SUCCESS"),
        ("run_1~2", "PENDING"),
        ("run_11", "ENQUEUED"),
    ]
    for name, status in rows:
        execute_in(
            home,
            "INSERT INTO workflow_status (workflow_uuid, status, priority, queue_name) "  # noqa: S608
            f"VALUES ('{name}', '{status}', 0, 'at:own_1')",
        )
    assert [ledger.knows(run) for run in ("run_1", "run_1~2", "run_2")] == [True, True, False]
    assert [ledger.has_open(run) for run in ("run_1", "run_1~2", "run_11")] == [False, True, True]
    assert ledger.has_open()
    assert ledger.has_queued()
    ledger.forget("run_1")
    assert rows_of(home, "SELECT workflow_uuid FROM workflow_status") == [("run_11",)]


def test_runs_that_go_on_under_another_name_are_found(home: EngineHome) -> None:
    ledger = EngineLedger(home)
    rows = [
        ("run_1", "PENDING", "another"),
        ("run_2", "PENDING", home.executor),
        ("run_3", "SUCCESS", "another"),
        ("run_4", "PENDING", "another"),
    ]
    for name, status, executor in rows:
        execute_in(
            home,
            "INSERT INTO workflow_status (workflow_uuid, status, priority, executor_id) "  # noqa: S608
            f"VALUES ('{name}', '{status}', 0, '{executor}')",
        )
    assert ledger.open_elsewhere(["run_1", "run_2", "run_3", "run_5"]) == ["run_1"]
    assert ledger.open_elsewhere([]) == []
