"""What is told about workers without a server: `airboss workers` and `airboss lost`."""

import psycopg
import pytest

from airboss.shared_database import migrate
from airboss.store.postgres_workers import Worker, WorkerLine
from tests.portal import Portal
from tests.postgres import Postgres

WORKER = Worker("wrk_gone", "plc_1", "build-1", "host", 1, "1")


def test_a_worker_that_is_reported_as_lost_is_so_and_one_that_never_was_is_not(
    nowhere: Portal, postgres_url: str
) -> None:
    migrate(postgres_url)
    line = WorkerLine(postgres_url, WORKER.id)
    line.register(WORKER, 10)
    line.close()

    def lost(worker: str) -> tuple[int, str]:
        done = nowhere.run("lost", worker, AIRBOSS_DATABASE=postgres_url)
        return done.returncode, done.stdout + done.stderr

    assert lost("wrk_none") == (
        2,
        "error: There is no worker wrk_none. To list them: airboss workers\n",
    )
    assert lost(WORKER.id) == (0, "wrk_gone counts as lost. Others continue its runs.\n")
    assert lost(WORKER.id) == (0, "wrk_gone counted as lost already.\n")


@pytest.mark.parametrize("words", [("workers",), ("lost", "wrk_none"), ("token", "list")])
def test_a_database_that_nobody_has_served_on_is_told_in_words(
    nowhere: Portal, postgres_url: str, words: tuple[str, ...]
) -> None:
    done = nowhere.run(*words, AIRBOSS_DATABASE=postgres_url)
    assert done.returncode != 0
    assert done.stderr.startswith("error: This database has no tables of Airboss yet")
    assert "LINE" not in done.stderr


def test_a_role_without_rights_is_told_so_without_a_statement(
    nowhere: Portal, postgres: Postgres, postgres_url: str
) -> None:
    migrate(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "DO $$ BEGIN CREATE ROLE poor LOGIN PASSWORD 'poor'; "
            "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
    poor = postgres_url.replace(f"airboss:{postgres.password}", "poor:poor")
    done = nowhere.run("serve", "--port", "0", AIRBOSS_DATABASE=poor)
    assert done.returncode == 2
    assert "Create the schema airboss, or give its role the right to" in done.stderr
    assert "LINE" not in done.stderr


@pytest.mark.parametrize("address", ["postgresql://[::1", "host=db dbname=airboss", "mysql://db/x"])
def test_what_is_no_address_is_refused_in_words(nowhere: Portal, address: str) -> None:
    done = nowhere.run("serve", "--port", "0", AIRBOSS_DATABASE=address)
    assert done.returncode == 2
    assert "It is no address of a PostgreSQL" in done.stderr
    assert "Traceback" not in done.stderr
