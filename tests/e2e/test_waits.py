"""Whatever waits says for what, wherever it is listed: its own request, or another session's."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.contract.job_guest import ref, task
from tests.e2e.visit import asked, new_session, signed_in
from tests.pauses import pauses
from tests.portal import Portal

SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "first edit"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "a", new_str: "b"}}
      - say: "Done."
  - when: "second edit"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "x", new_str: "y"}}
      - say: "Done."
  - when: "Edit it"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/tally.py", old_str: "m", new_str: "n"}}
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Done."
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {"edit": task("Edit it.")},
    "jobs": {"mend": {"work": ref("edit")}},
    "grid": [],
}
Told = dict[str, Any]


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("waits"), ("--permissions", "ask"), SCRIPT)
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.json").write_text(json.dumps(ENTRY), encoding="utf-8")
    (portal.work / "tally.py").write_text("a\nx\nm\n", encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


def until(portal: Portal, path: str, holds: Callable[[Told], object]) -> Told:
    end = time.monotonic() + 40
    pause = pauses()
    while not holds(view := asked(portal, "GET", f"/api/v1/{path}").json()):
        assert time.monotonic() < end, view
        time.sleep(next(pause))
    return view


def test_what_waits_is_named_in_every_list(portal: Portal, page: Page) -> None:
    first = new_session(portal, "first edit")
    item = until(portal, f"sessions/{first}", lambda view: view["items"])["items"][0]
    own = f"your approval: {item['asked']['title']}"
    behind = f"the approval “{item['asked']['title']}” in the session “first edit”"
    second = new_session(portal, "second edit")
    until(portal, f"sessions/{second}", lambda view: view["waiting_calls"])
    request = {"job": "mend", "cwd": str(portal.work)}
    run = str(asked(portal, "POST", "/api/v1/runs", request).json()["id"])
    view = until(portal, f"runs/{run}", lambda view: view["waits_for"] == behind)
    assert view["state"] == "waiting-for-person"

    # The terminal.
    [told] = portal.run("runs").stdout.splitlines()
    assert f"waiting for {behind}" in told.split("\t")
    lines = portal.run("sessions").stdout.splitlines()
    waits = {line.split("\t")[0]: line.split("\t")[-1] for line in lines}
    assert (waits[first], waits[second]) == (own, behind)
    assert f"Waiting for  {behind}\n" in portal.run("show", run).stdout
    assert f"Waiting for  {own}\n" in portal.run("show", first).stdout

    # The pages.
    signed_in(page, portal).goto(f"{portal.url}/history.html")

    def row(name: str) -> str:
        return page.get_by_role("row").filter(has=page.get_by_role("link", name=name)).inner_text()

    expect(page.locator(".hist .waits")).to_have_count(3)
    assert f"Waiting for {own}" in row("first edit")
    assert f"Waiting for {behind}" in row("second edit")
    assert f"Waiting for {behind}" in row("mend")
    page.goto(f"{portal.url}/jobTracking.html?jobName=mend&jobId={run}")
    expect(page.get_by_role("status").filter(has_text="edit is waiting for")).to_contain_text(
        behind
    )

    # Decided one after the other, each goes on, and asks itself.
    def decided(view: Told) -> bool:
        for one in asked(portal, "GET", "/api/v1/inbox").json()["items"]:
            path = f"/api/v1/inbox/{one['id']}/decision"
            asked(portal, "POST", path, {"choice": "allow-once"})
        return view["state"] == "succeeded"

    until(portal, f"runs/{run}", decided)
    until(portal, f"sessions/{second}", lambda view: view["state"] == "idle")
    assert (portal.work / "tally.py").read_text(encoding="utf-8") == "b\ny\nn\n"
    said = asked(portal, "GET", f"/api/v1/runs/{run}/events?limit=200").json()["items"]
    reasons = [one["event"]["reason"] for one in said if one["event"]["kind"] == "run.work.waiting"]
    assert reasons[0] == behind
    assert reasons[-1].startswith("your approval: ")
