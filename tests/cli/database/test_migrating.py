"""`airboss database migrate`: says what it does, does it once, and may be repeated."""

import json
from concurrent.futures import ThreadPoolExecutor
from subprocess import CompletedProcess

import psycopg

from airboss.store.postgres_migrations import latest_schema
from tests.portal import Portal
from tests.trials import whole_only


def schemas(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'")
        return {name for (name,) in found} - {"public", "information_schema"}


def migrated(portal: Portal, url: str, *options: str) -> CompletedProcess[str]:
    done = portal.run("database", "migrate", *options, AIRBOSS_DATABASE=url)
    assert done.returncode == 0, done.stderr
    return done


def test_it_says_what_it_would_do_does_it_and_then_has_nothing_to_do(
    nowhere: Portal, postgres_url: str
) -> None:
    planned = migrated(nowhere, postgres_url, "--dry-run").stdout
    assert f"The schema airboss would be made ({latest_schema()})." in planned
    assert "The schema dbos would be made" in planned
    assert schemas(postgres_url) == set()
    done = migrated(nowhere, postgres_url).stdout
    assert f"The schema airboss was made ({latest_schema()})." in done
    assert schemas(postgres_url) == {"airboss", "dbos"}
    again = migrated(nowhere, postgres_url).stdout
    assert again.count("is up to date") == 2


@whole_only
def test_two_at_once_do_it_once(nowhere: Portal, postgres_url: str) -> None:
    with ThreadPoolExecutor(2) as both:
        begun = [both.submit(migrated, nowhere, postgres_url, "--json") for _ in range(2)]
    for one in (one.result() for one in begun):
        told = {move["schema"]: move["after"] for move in json.loads(one.stdout)["schemas"]}
        assert told["airboss"] == latest_schema()
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT number FROM airboss.migrations").fetchall()
    assert max(found) == (latest_schema(),)


def test_a_database_that_is_away_is_not_waited_for(nowhere: Portal) -> None:
    done = nowhere.run("database", "migrate", AIRBOSS_DATABASE="postgresql://127.0.0.1:9/x")
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
