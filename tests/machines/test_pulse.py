"""Where no notice comes, what somebody did is found within a second all the same: one question asks
for everything."""

from typing import Any, Final
from urllib.parse import quote

import httpx2
import psycopg
import pytest

from tests.machines.story import ENTRY, Fleet, Machine
from tests.trials import whole_only

pytestmark = pytest.mark.timeout(180)

# Whoever looks for this function finds ours first, which swallows the call.
SWALLOW: Final = "CREATE FUNCTION airboss.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''"
FIRST: Final = "-c search_path=airboss,pg_catalog"

BEATS: Final = "SELECT beat FROM airboss.workers"
SESSIONS: Final = """
SELECT sessions FROM pg_stat_clear_snapshot(), pg_stat_database WHERE datname = current_database()
"""


def asked(machine: Machine, method: str, path: str, given: Any = None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {machine.portal.token}"}
    url = f"{machine.portal.url}/api/v1{path}"
    return httpx2.request(method, url, json=given, headers=headers, timeout=60)


def test_what_no_notice_tells_of_is_found_all_the_same(fleet: Fleet) -> None:
    with psycopg.connect(fleet.url) as connection:
        connection.execute(SWALLOW)
    url = f"{fleet.url}?options={quote(FIRST)}"
    door, works = (fleet.machine(name, url=url) for name in ("door", "build-1"))
    for one in (door, works):
        one.serve()
    assert asked(door, "POST", "/workers/door/drain", {}).is_success

    # A run that another machine accepted.
    folder = fleet.folder_of("runs")
    run = fleet.start(folder, job="paced")
    fleet.until(lambda: (folder / "paced.txt").exists())
    assert fleet.owner_of(run) == "build-1"

    # What is asked of the one that works on it.
    titled = fleet.ask("PATCH", f"/api/v1/runs/{run}", {"title": "Over there"})
    assert titled["short_title"] == "Over there"

    # A rule: its removal is answered when every machine has seen it.
    rule = {"rule": {"verdict": "allow", "wish": "shell", "command": "echo *"}}
    made = asked(door, "POST", "/rules", rule)
    assert made.is_success, made.text
    assert asked(door, "DELETE", f"/rules/{made.json()['id']}").is_success
    assert asked(works, "GET", "/rules").json()["items"] == []

    # Who may come in.
    token = door.portal.run("token", "add", "ann", "--role", "view").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    signins = f"{works.portal.url}/api/v1/signins"
    fleet.until(lambda: httpx2.get(signins, headers=headers, timeout=60).is_success)

    # The entry that everybody uses.
    (folder / "go.txt").touch()
    fleet.until_run_is(run, "succeeded")
    entry = {**ENTRY, "tasks": {**ENTRY["tasks"], "installed": ENTRY["tasks"]["first"]}}
    installed = asked(works, "POST", "/entry/install", {"entry": entry}).json()["digest"]
    fleet.until(lambda: asked(door, "GET", "/entry").json()["digest"] == installed)


@whole_only
def test_who_has_nothing_to_do_makes_no_new_connections(fleet: Fleet) -> None:
    """Each costs PostgreSQL a process."""
    fleet.machine("build-1").work()
    with psycopg.connect(fleet.url, autocommit=True) as connection:

        def asked(what: str) -> int:
            row = connection.execute(what.encode()).fetchone()
            assert row is not None
            return row[0]

        def until_it_has_beaten(times: int) -> None:
            end = asked(BEATS) + times
            fleet.until(lambda: asked(BEATS) >= end)

        until_it_has_beaten(20)  # by then all that it begins with is there
        before = asked(SESSIONS)
        until_it_has_beaten(20)
        assert asked(SESSIONS) == before
