"""What people see of the machines of a database: who lives, what each has, and who is not heard, as
each server sees it by its own clock."""

import json
import signal

import httpx2
import pytest

from tests.machines.story import Fleet
from tests.machines.test_portals import Door, Json

pytestmark = pytest.mark.timeout(180)


def by_name(door: Door) -> dict[str, Json]:
    return {one["name"]: one for one in door.get("/workers")["items"]}


def metrics(door: Door) -> dict[str, float]:
    portal = door.machine.portal
    headers = {"Authorization": f"Bearer {portal.token}"}
    answer = httpx2.get(f"{portal.url}/metrics", headers=headers, timeout=60)
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(count) for name, _, count in (line.rpartition(" ") for line in lines)}


def test_every_server_shows_all_machines_and_tells_pages_who_is_not_heard_and_who_is_lost(
    fleet: Fleet,
) -> None:
    fleet.lease = 6
    first, second, third = (fleet.machine(f"build-{number}") for number in (1, 2, 3))
    first.serve()
    second.serve()
    third.work()
    here, there = Door(first), Door(second)
    run = fleet.start()
    fleet.until_it_ticks()
    fleet.until(lambda: len(by_name(there)) == 3)
    for door, name in ((here, "build-1"), (there, "build-2")):
        listed = door.get("/workers")
        assert listed["is_shared"]
        assert listed["lease_ms"] == 6000
        assert [one["name"] for one in listed["items"] if one["is_here"]] == [name]
    seen = by_name(there)
    assert {name: one["has_pages"] for name, one in seen.items()} == {
        "build-1": True,
        "build-2": True,
        "build-3": False,
    }
    assert {one["state"] for one in seen.values()} == {"alive"}
    assert [one["id"] for one in seen["build-1"]["runs"]] == [run]
    assert (seen["build-1"]["runs"][0]["title"], seen["build-1"]["runs"][0]["done"]) == ("story", 1)
    assert seen["build-1"]["runs"][0]["working"] == ["slow"]
    assert seen["build-1"]["slots_used"] == 1
    assert seen["build-1"]["slots"] >= 1
    assert seen["build-2"]["runs"] == []
    assert seen["build-1"]["shared_roots"] == [str(fleet.shared)]
    assert all(abs(one["clock_offset_ms"]) < 5000 for one in seen.values())
    assert all(one["beat_age_ms"] < 6000 for one in seen.values())

    with there.following("/feed?lists=true") as heard:

        def told() -> int:
            return sum(
                name == "changed" and "machines" in note["streams"] for name, note in heard.notes
            )

        before = told()
        process = first.portal.process
        process.send_signal(signal.SIGSTOP)
        try:
            fleet.until(lambda: not by_name(there)["build-1"]["is_heard"])
            silent = by_name(there)["build-1"]
            assert silent["state"] in ("alive", "lost")
            if silent["state"] == "alive":
                assert silent["beat_age_ms"] >= 2400
                assert 0 < silent["takeover_ms"] <= 2000 + 3600
            fleet.until(lambda: told() > before)
            fleet.until(lambda: by_name(there)["build-1"]["state"] == "lost")
            assert by_name(there)["build-1"]["beat_age_ms"] is None
            fleet.until(lambda: told() > before + 1)
        finally:
            process.send_signal(signal.SIGCONT)
    fleet.until_run_is(run, "succeeded")
    figures = metrics(there)
    assert figures['airboss_workers{state="lost"}'] == 1
    assert figures['airboss_workers{state="alive"}'] == 2
    assert figures['airboss_workers{state="not-heard"}'] == 0
    assert figures['airboss_worker_beat_age_seconds{machine="build-3"}'] < 6
    assert 'airboss_worker_beat_age_seconds{machine="build-1"}' not in figures
    assert figures["airboss_runs_without_worker"] == 0
    assert figures["airboss_takeovers_total"] in (0, 1)
    assert figures["airboss_fenced_writes_total"] == 0
    for name in ("commands_asked", "commands_done", "log_missed_notices", "log_reconnects"):
        assert f"airboss_{name}_total" in figures
    assert figures["airboss_log_append_seconds_total"] > 0
    assert figures["airboss_log_follow_seconds_total"] >= 0
    shown = second.portal.run("workers", "--json")
    assert shown.returncode == 0, shown.stderr
    items = {one["name"]: one for one in json.loads(shown.stdout)["items"]}
    assert items["build-1"]["state"] == "lost"
    assert items["build-2"]["slots"] >= 1
    assert items["build-2"]["runs"] == []
    assert "0 of " in second.portal.run("workers").stdout
