"""`airboss settings`: what holds, where it is set, changed and put back in the terminal."""

import json
from typing import Any

from tests.portal import Portal


def found(portal: Portal, name: str) -> dict[str, Any]:
    items = json.loads(portal.run("settings", "--json").stdout)["items"]
    return next(item for item in items if item["name"] == name)


def test_a_setting_is_listed_changed_and_reset(portal: Portal) -> None:
    rows = [line.split("\t") for line in portal.run("settings").stdout.splitlines()]
    told = {row[0]: row[1:5] for row in rows}
    assert told["max_tasks"] == ["-", "-", "the default", "immediately"]
    assert told["permissions"] == ["read-only", "ask", "--permissions", "locked"]
    done = portal.run("settings", "set", "max_tasks", "24")
    assert (done.returncode, done.stdout) == (
        0,
        "max_tasks = 24, set in: a change by owner. It is in effect now.\n",
    )
    assert found(portal, "max_tasks")["value"] == 24
    done = portal.run("settings", "set", "max_body_bytes", "5000000")
    assert done.stdout.endswith("It takes effect when the server is restarted.\n")
    done = portal.run("settings", "reset", "max_tasks", "--json")
    assert (json.loads(done.stdout)["value"], done.stderr) == (None, "")
    portal.run("settings", "reset", "max_body_bytes")


def test_what_is_refused_says_why(portal: Portal) -> None:
    for words, said in (
        (("set", "max_tasks", "0"), "max_tasks: Input should be greater than 0"),
        (("set", "max_tasks", "1", "2"), "max_tasks takes one value, but you passed 2."),
        (("set", "loop_detection.enabled", "maybe"), "loop_detection.enabled: Input should be"),
        (("set", "permissions", "ask"), "permissions cannot be changed here. --permissions sets"),
        (("set", "max_task", "1"), "There is no setting max_task. `airboss settings` lists them."),
        (("reset", "max_task"), "There is no setting max_task."),
    ):
        done = portal.run("settings", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {said}")


def test_what_may_delete_something_is_asked_about(portal: Portal) -> None:
    done = portal.run("settings", "set", "keep_days", "30")
    assert (done.returncode, done.stdout) == (2, "")
    assert "may be permanently deleted. Pass --yes" in done.stderr
    assert found(portal, "keep_days")["value"] is None
    assert portal.run("settings", "set", "keep_days", "30", "--yes").returncode == 0
    assert found(portal, "keep_days")["value"] == 30
    assert portal.run("settings", "set", "keep_days", "none").returncode == 0
    assert portal.run("settings", "reset", "keep_days", "--yes").returncode == 0
    assert found(portal, "keep_days")["source"] == "default"
