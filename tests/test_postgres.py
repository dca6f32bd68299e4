"""The server that other tests run on: it starts, crashes, comes back, and its line can be cut."""

import time

import psycopg
import pytest

from tests.cut_line import cut_line_to
from tests.postgres import Postgres

SHORT = 5


def test_a_test_has_an_empty_database_of_its_own(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone()
        fsync = connection.execute("SHOW fsync").fetchone()
    assert found == (0,)
    assert fsync == ("on",)


def test_what_is_committed_survives_a_crash_of_the_server(
    postgres: Postgres, postgres_url: str
) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('here')")
    postgres.restart("immediate")
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT word FROM kept").fetchone() == ("here",)


def test_a_template_is_prepared_once_and_copied(postgres: Postgres) -> None:
    prepared: list[str] = []

    def prepare(url: str) -> None:
        prepared.append(url)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE known (word text)")

    names = [postgres.new_database(postgres.template("known", prepare)) for _ in range(2)]
    assert len(prepared) == 1
    for name in names:
        assert postgres.execute("SELECT count(*) FROM known", name) == [(0,)]
        postgres.drop(name)


def test_a_cut_that_refuses_ends_connections_and_lets_nobody_in(postgres: Postgres) -> None:
    with cut_line_to(postgres.port) as line:
        url = postgres.url(port=line.port)
        connection = psycopg.connect(url, connect_timeout=SHORT)
        assert connection.execute("SELECT 1").fetchone() == (1,)
        line.refuse()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(url, connect_timeout=SHORT)
        line.heal()
        with psycopg.connect(url, connect_timeout=SHORT) as again:
            assert again.execute("SELECT 1").fetchone() == (1,)


def test_a_cut_that_swallows_answers_nothing(postgres: Postgres) -> None:
    with cut_line_to(postgres.port) as line:
        url = postgres.url(port=line.port)
        with psycopg.connect(url, connect_timeout=SHORT):
            line.swallow()
            began = time.monotonic()
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(url, connect_timeout=2)
            assert time.monotonic() - began >= 1.5
        line.heal()
        with psycopg.connect(url, connect_timeout=SHORT) as again:
            assert again.execute("SELECT 1").fetchone() == (1,)
