"""Two versions on one database: machines are renewed one by one, and what runs goes on."""

import json
import shutil
from pathlib import Path
from typing import Final

import psycopg
import pytest

from airboss.store.postgres_migrations import latest_schema
from tests.machines.story import Fleet, Machine
from tests.trials import whole_only

pytestmark = [pytest.mark.timeout(300), pytest.mark.timed]

SOURCE: Final = Path(__file__).parents[2] / "src"
NEXT: Final = latest_schema() + 1
# What the next release changes: a column more, a walk more, and a kind of event.
CHANGES: Final = {
    "store/postgres_migrations.py": (
        f"_KNOWN: Final = {{{latest_schema()}: ",
        "def _next(connection: Connection) -> None:\n"
        '    connection.exec_driver_sql("ALTER TABLE streams ADD COLUMN mood text")\n\n\n'
        f"_KNOWN: Final = {{{NEXT}: Migration(_next, {latest_schema()}), {latest_schema()}: ",
    ),
    "engine/homes.py": (
        'WALK: Final = "walk-1"\nWALKS: Final = (WALK,)',
        'WALK: Final = "walk-2"\nWALKS: Final = (WALK, "walk-1")',
    ),
}


def next_release(folder: Path) -> Path:
    """A copy of this one with its changes, in a folder of its own."""
    # With what is compiled: to do that again takes a minute on a busy machine.
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("static"))
    for name, (before, after) in CHANGES.items():
        file = folder / "airboss" / name
        text = file.read_text("utf-8")
        assert text.count(before) == 1, f"{name} has changed: change this test, too"
        file.write_text(text.replace(before, after), encoding="utf-8")
    return folder


def renewed(machine: Machine, release: Path) -> Machine:
    machine.portal.extra_environ["PYTHONPATH"] = str(release)
    machine.portal.is_cold = True
    return machine


def say_something_new(url: str, run: str) -> None:
    """As the next release says it, to whoever reads on an older one."""
    with psycopg.connect(url, options="-c search_path=airboss") as connection:
        found = connection.execute("SELECT head FROM streams WHERE stream = %s", (run,)).fetchone()
        seq = found[0] + 1 if found else 1
        body = json.dumps({"kind": "run.dreamed", "of": "sheep"})
        connection.execute("UPDATE streams SET head = %s WHERE stream = %s", (seq, run))
        connection.execute(
            "INSERT INTO events (stream, seq, at, kind, body) VALUES (%s, %s, 1, %s, %s)",
            (run, seq, "run.dreamed", body),
        )
        connection.execute(
            "UPDATE views SET seq = %s, body = jsonb_set(body::jsonb, '{mood}', '\"calm\"')::text "
            "WHERE stream = %s",
            (seq, run),
        )


def test_an_older_server_goes_on_beside_what_the_next_release_said(fleet: Fleet) -> None:
    with psycopg.connect(fleet.url, options="-c search_path=airboss") as connection:
        connection.execute("ALTER TABLE streams ADD COLUMN mood text")
        connection.execute("INSERT INTO migrations VALUES (%s, %s)", (NEXT, latest_schema()))
    server = fleet.machine("older")
    server.serve()
    run = fleet.start(job="short")
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    say_something_new(fleet.url, run)
    shown = json.loads(server.portal.run("show", run, "--json").stdout)
    assert shown["state"] == "succeeded"
    listed = json.loads(server.portal.run("runs", "--json").stdout)["items"]
    assert [one["id"] for one in listed] == [run]
    told = fleet.get(f"/api/v1/runs/{run}/events")["items"]
    assert told[-1]["event"] == {"kind": "run.dreamed", "of": "sheep"}, "it is passed on"
    report = server.portal.run("report", run)
    assert report.returncode == 0, report.stderr


def test_a_release_that_is_too_old_is_refused_in_words(fleet: Fleet) -> None:
    with psycopg.connect(fleet.url, options="-c search_path=airboss") as connection:
        connection.execute("INSERT INTO migrations VALUES (%s, %s)", (NEXT, NEXT))
    server = fleet.machine("older")
    refused = server.portal.run("serve", "--port", "0")
    assert refused.returncode == 2
    assert f"written by a newer Airboss (schema {NEXT}, this one knows" in refused.stderr


@whole_only
def test_machines_are_renewed_one_by_one_while_runs_go_on(fleet: Fleet, tmp_path: Path) -> None:
    release = next_release(tmp_path / "next")
    older = fleet.machine("older")
    older.serve()
    run = fleet.start()
    fleet.until_it_ticks()
    newer = renewed(fleet.machine("newer"), release)
    newer.work()
    assert fleet.rows("SELECT max(number) FROM migrations") == [(NEXT,)]
    quick = fleet.start(job="short")
    assert fleet.until_run_is(quick, "succeeded", "failed")["state"] == "succeeded"
    # What only the next release can walk, the older one leaves alone.
    fleet.rows("UPDATE work SET walk = 'walk-2' WHERE run = %s RETURNING run", run)
    older.portal.stop()
    assert fleet.until_run_is(run, "succeeded", "failed")["state"] == "succeeded"
    moved = [event for event in fleet.events(run) if event["kind"] == "run.moved"]
    assert [(one["from"], one["to"]) for one in moved] == [("older", "newer")]
    assert fleet.done == ["first", "first", "last", "again", "last"]
    assert fleet.state_of("newer") == "alive"
