"""The engine's file without DBOS: which runs it knows, and which of them are open."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from dbos import DBOS

from airboss.engine.ledger import EngineLedger
from airboss.engine.tables import url_of
from airboss.errors import StoreUnavailable


def test_a_server_without_runs_has_no_file_and_is_made_none(tmp_path: Path) -> None:
    ledger = EngineLedger(tmp_path / "engine.sqlite")
    assert not (ledger.knows("run_1"))
    assert not (ledger.has_open())
    assert not (ledger.has_queued())
    ledger.forget("run_1")
    assert not ledger.path.exists()


def test_a_file_that_is_no_database_is_told_in_words(tmp_path: Path) -> None:
    ledger = EngineLedger(tmp_path / "engine.sqlite")
    ledger.path.write_text("Not a database, but long enough to be one. " * 40, encoding="utf-8")
    with pytest.raises(StoreUnavailable, match=r"engine\.sqlite cannot be used: .*Check its disk"):
        ledger.has_open()


def test_runs_are_known_open_and_forgotten_with_all_their_works_and_attempts(
    tmp_path: Path,
) -> None:
    ledger = EngineLedger(tmp_path / "engine.sqlite")
    DBOS.migrate(url_of(ledger.path))
    rows = [
        ("run_1", "SUCCESS"),
        ("run_1.0.1", "SUCCESS"),
        ("run_1~2", "PENDING"),
        ("run_11", "ENQUEUED"),
    ]
    with closing(sqlite3.connect(ledger.path)) as file, file:
        file.executemany(
            "INSERT INTO workflow_status (workflow_uuid, status, priority) VALUES (?, ?, 0)", rows
        )
    assert [ledger.knows(run) for run in ("run_1", "run_1~2", "run_2")] == [True, True, False]
    assert [ledger.has_open(run) for run in ("run_1", "run_1~2", "run_11")] == [False, True, True]
    assert ledger.has_open()
    assert ledger.has_queued()
    ledger.forget("run_1")
    with closing(sqlite3.connect(ledger.path)) as file:
        left = file.execute("SELECT workflow_uuid FROM workflow_status").fetchall()
    assert left == [("run_11",)]
