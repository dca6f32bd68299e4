"""A run's figures are the same wherever it is shown: task runs, requests, cost, working time."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.contract.job_guest import loop, ref, seq, task
from tests.e2e.visit import asked, signed_in
from tests.pauses import pauses
from tests.portal import Portal

PAUSE_MS = 2_000
# Three rounds of a loop, an approval, and a task that fails at first.
SCRIPT = r"""
models:
  - {id: driver, name: Driver, multiplier: 1}
rules:
  - when: "True twice"
    times: 2
    steps: &yes
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Yes."
  - when: "True twice"
    steps: [{say: "No more."}]
  - when: "Touch it"
    steps:
      - call: {tool: bash, arguments: {command: "touch made.txt", description: "make it"}}
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Done."
  - when: "Fix it"
    times: 1
    steps: [{say: "I could not."}]
  - when: "."
    steps: *yes
"""
ENTRY: dict[str, Any] = {
    "models": {"driving": "driver"},
    "promptVariables": {},
    "tasks": {
        "twice": task("True twice."),
        "yes": task("Say yes."),
        "touch": task("Touch it."),
        "fix": task("Fix it."),
    },
    "jobs": {
        "figures": {
            "work": seq(loop(ref("yes"), post=[True, ref("twice")]), ref("touch"), ref("fix"))
        }
    },
    "grid": [],
}


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("figures"), ("--permissions", "ask"), SCRIPT)
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.yaml").write_text(json.dumps(ENTRY), encoding="utf-8")
    portal.start()
    yield portal
    portal.stop()


def show(portal: Portal, path: str) -> Any:
    answer = asked(portal, "GET", f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(portal: Portal, run: str, *states: str) -> dict[str, Any]:
    end = time.monotonic() + 40
    pause = pauses()
    while (view := show(portal, f"runs/{run}"))["state"] not in states:
        assert time.monotonic() < end, view
        time.sleep(next(pause))
    return view


@pytest.fixture(scope="module")
def run(portal: Portal) -> dict[str, Any]:
    """With a loop, a pause for an approval, and a retry of what failed."""
    request = {"job": "figures", "cwd": str(portal.work)}
    name = str(asked(portal, "POST", "/api/v1/runs", request).json()["id"])
    until(portal, name, "waiting-for-person")
    [item] = show(portal, "inbox")["items"]
    events = show(portal, f"runs/{name}/events?limit=1000")["items"]
    since = [one["at"] for one in events if one["event"].get("for_person")][-1]
    while time.time() * 1000 <= since + PAUSE_MS:
        time.sleep(0.05)
    said = asked(portal, "POST", f"/api/v1/inbox/{item['id']}/decision", {"choice": "allow-once"})
    assert said.status_code == 200, said.text
    until(portal, name, "failed")
    asked(portal, "POST", f"/api/v1/runs/{name}/retry")
    return until(portal, name, "succeeded")


def figures(usage: dict[str, Any]) -> tuple[int, float, int]:
    """Requests, cost and milliseconds, those of sub-agents included."""
    sub = usage["sub_agents"]
    whole = usage["requests"] + sub["requests"], usage["cost"] + sub["cost"]
    return (*whole, usage["milliseconds"])


def summed(some: list[dict[str, Any]]) -> tuple[float, ...]:
    return tuple(map(sum, zip(*(figures(one["usage"]) for one in some), strict=True)))


def test_the_api_has_the_same_figures_everywhere(portal: Portal, run: dict[str, Any]) -> None:
    requests, cost, worked = figures(run["usage"])
    assert requests > 9
    assert worked > 0
    # Three rounds with a condition each, the one that asked, and the one that failed, twice.
    task_runs = run["works_succeeded"] + run["works_failed"]
    assert task_runs == len(run["works"]) == 9
    [listed] = show(portal, "runs")["items"]
    assert (listed["usage"], listed["running"]) == (run["usage"], [])
    assert summed(run["works"]) == pytest.approx((requests, cost, worked))
    sessions = show(portal, "sessions?of=task&limit=200")["items"]
    assert summed(sessions) == pytest.approx((requests, cost, worked))
    report = show(portal, f"runs/{run['id']}/report")
    assert (report["task_runs"], report["usage"]) == (task_runs, run["usage"])
    assert report["worked_ms"] == worked == sum(line["worked_ms"] for line in report["tasks"])
    assert sum(line["rounds"] for line in report["tasks"]) == task_runs
    assert summed(report["tasks"]) == pytest.approx((requests, cost, worked))
    [job] = show(portal, "jobs")["items"]
    assert (job["stats"]["usual_ms"], job["stats"]["usual_requests"]) == (worked, requests)
    # What a person took is in none of it.
    assert report["waited_for_person_ms"] >= PAUSE_MS
    assert worked <= report["took_ms"] - report["waited_for_person_ms"]


def clock(milliseconds: int) -> str:
    return f"{milliseconds // 60_000}:{milliseconds // 1000 % 60:02}"


def test_the_terminal_has_the_same_figures_everywhere(portal: Portal, run: dict[str, Any]) -> None:
    requests, cost, worked = figures(run["usage"])
    cells = portal.run("runs").stdout.rstrip("\n").split("\t")
    assert int(cells[3]) + int(cells[4]) == 9
    assert [cells[6], *cells[10:]] == [clock(worked), str(requests), f"{cost:g}"]
    used = f"{requests} requests, "
    shown = portal.run("show", run["id"]).stdout
    assert f"State        succeeded after {clock(worked)} of work\n" in shown
    assert "Task runs    9\n" in shown
    assert f"Usage        {used}" in shown
    report = portal.run("report", run["id"]).stdout
    assert f"worked {clock(worked)} · 9 task runs · {used}" in report


def test_the_pages_have_the_same_figures_everywhere(
    portal: Portal, run: dict[str, Any], page: Page
) -> None:
    requests, cost, worked = figures(run["usage"])
    billed = f"{cost:g} premium requests"
    signed_in(page, portal).goto(f"{portal.url}/history.html?kind=runs")
    row = page.locator(".hist tbody tr")
    expect(row).to_contain_text("Job · 9 task runs")
    cells = row.locator("td.num").all_text_contents()
    assert cells[1:] == [clock(worked), str(requests), f"{cost:g}"]
    page.goto(portal.url)
    mine = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="figures"))
    expect(mine).to_contain_text("9 task runs")
    expect(mine).to_contain_text(clock(worked))
    expect(mine).to_contain_text(billed)
    page.goto(f"{portal.url}/jobTracking.html?jobName=figures&jobId={run['id']}#tab=report")
    head = f"9 task runs · worked {clock(worked)} · {requests} requests · {billed}"
    expect(page.locator(".counts")).to_contain_text(head)
    in_all = page.get_by_role("listitem").filter(has_text="Total")
    expect(in_all.locator(".num")).to_have_text([clock(worked), str(requests)])
