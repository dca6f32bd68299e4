"""Jobs for the tests of the tracking page, and somebody who looks at their runs."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from tests.contract.job_guest import alt, loop, par, seq
from tests.e2e.visit import asked, signed_in
from tests.pauses import pauses
from tests.portal import Portal

# In order: of several rules that match, the first that has a time left speaks.
SCRIPT = r"""
models:
  - {id: driver, name: Driver, multiplier: 0}
  - {id: worker, name: Worker, multiplier: 0}
rules:
  - when: "Does the web part build"
    times: 1
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "npm run build exits with 2"}}
      - say: "No."
  - when: "Did it work"
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "2 tests still fail"}}
      - say: "No."
  - when: "first: is it good"
    times: 1
    steps: &not-yet
      - call: {tool: job_boolean_false, arguments: {argument: "not good yet"}}
      - say: "No."
  - when: "second: is it good"
    times: 1
    steps: *not-yet
  - when: "Do the tests pass"
    times: 1
    steps: [{say: "Not yet."}]
  - when: "Once more"
    times: 1
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "once more"}}
      - say: "Once more."
  - when: "Once more"
    steps: [{say: "Enough."}]
  - when: "Mend it"
    times: 1
    steps: [{say: "I could not."}]
  - when: "Take a moment"
    steps:
      - say: "One moment. "
      - sleep: 1.5
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Yes."
  - when: "Linger"
    steps:
      - say: "Still here. "
      - sleep: 5
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Yes."
  - when: "Take your time"
    steps: [{say: "One moment."}, {sleep: 60}]
  - when: "Run a command"
    steps:
      - call: {tool: bash, arguments: {command: "echo ahoy", description: "greet"}}
      - call: {tool: job_boolean_true, arguments: {argument: "greeted"}}
      - say: "Greeted."
  - when: "."
    steps:
      - reasoning: "Let me see."
      - call: {tool: job_boolean_true, arguments: {argument: "done"}}
      - say: "It is **done**."
"""


def task(prompt: str, retries: int = 0, **criteria: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"toolExecuted": ["job_boolean_true"], **criteria}
    return {
        "prompt": [prompt],
        "model": {"category": "working"},
        "requireUserInput": "$user-input" in prompt,
        "criteria": {**said, "failureAction": {"retryTimes": retries}},
    }


def judged(prompt: str, question: str, retries: int) -> dict[str, Any]:
    """Worked on in one session for each attempt, and judged in others."""
    apart = {"condition": [question], "runConditionInSameSession": False}
    return task(prompt, retries, **apart)


CALL = "Call job_boolean_true or job_boolean_false."
TASKS: dict[str, Any] = {
    "design": task("Design it."),
    "scan-risk": task("Scan the risk."),
    "needs-migration": task("Does it need a migration?"),
    "write-migration": task("Write the migration."),
    "build-server": task("Build the server."),
    "build-web": judged("Build the web part.", f"Does the web part build? {CALL}", 2),
    "translate": task("Translate a page."),
    "fix-tests": task("Fix the tests."),
    "tests-pass": task("Do the tests pass?"),
    "open-pr": task("Open a pull request."),
    "hopeless": judged("Work on it.", f"Did it work? {CALL}", 1),
    "first": judged("Take a moment.", f"first: is it good? {CALL}", 1),
    "second": judged("Take a moment.", f"second: is it good? {CALL}", 1),
    "more": task("Once more?"),
    "mend": task("Mend it."),
    "linger": task("Linger."),
    "moment": task("Take a moment."),
    "slow": task("Take your time."),
    "greet": task("Run a command."),
    "input": task("Do $user-input."),
}


def ref(name: str) -> dict[str, Any]:
    return {"kind": "Ref", "taskId": name}


SHIP = seq(
    ref("design"),
    alt(seq(ref("scan-risk"), ref("needs-migration")), true=ref("write-migration")),
    par(ref("build-server"), ref("build-web"), *[ref("translate") for _ in range(6)]),
    loop(ref("fix-tests"), post=[False, ref("tests-pass")]),
    ref("open-pr"),
)
JOBS: dict[str, Any] = {
    "ship": SHIP,
    "hopeless": seq(ref("design"), ref("hopeless"), ref("open-pr")),
    "mend": seq(ref("design"), ref("mend")),
    "short": seq(ref("design"), ref("moment"), ref("open-pr")),
    "slow": seq(ref("design"), ref("slow")),
    "greet": ref("greet"),
    "input": seq(ref("input"), ref("design")),
    "rounds": loop(ref("linger"), post=[True, ref("more")]),
    "first": ref("first"),
    "second": ref("second"),
    "wide": par(*[ref("design" if n % 2 else "translate") for n in range(24)]),
}


def tracked_portal(folder: Path, *options: str) -> Portal:
    """A server whose repository brings the jobs along; agents ask before they do anything."""
    portal = Portal(folder, ("--permissions", "ask", *options), SCRIPT)
    portal.work.mkdir(parents=True, exist_ok=True)
    entry: dict[str, Any] = {
        "models": {"driving": "driver", "working": "worker"},
        "promptVariables": {},
        "tasks": TASKS,
        "jobs": {name: {"work": work} for name, work in JOBS.items()},
        "grid": [],
    }
    (portal.work / "airboss.json").write_text(json.dumps(entry), encoding="utf-8")
    return portal


def begun(portal: Portal, job: str, **asked_for: Any) -> str:
    answer = asked(portal, "POST", "/api/v1/runs", {"job": job, **asked_for})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def shown(portal: Portal, run: str) -> dict[str, Any]:
    return asked(portal, "GET", f"/api/v1/runs/{run}").json()


def until(portal: Portal, run: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The run as soon as something holds."""
    end = time.monotonic() + 60
    pause = pauses()
    while not holds(view := shown(portal, run)):
        assert time.monotonic() < end, view
        time.sleep(next(pause))
    return view


def over(portal: Portal, run: str) -> dict[str, Any]:
    return until(portal, run, lambda view: view["ended_at"] is not None)


def address(portal: Portal, job: str, run: str | None = None, fragment: str = "") -> str:
    words = {"jobName": job} | ({"jobId": run} if run else {})
    return f"{portal.url}/jobTracking.html?{urlencode(words)}{fragment}"


def visit(page: Page, portal: Portal, job: str, run: str | None = None, fragment: str = "") -> Page:
    signed_in(page, portal).goto(address(portal, job, run, fragment))
    expect(page.get_by_role("heading", level=1)).to_contain_text("JOB:")
    return page


def state(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def node(page: Page, name: str) -> Locator:
    """A task or a condition of the chart, by the beginning of what it is called."""
    return page.locator(f'.flow [role=button][aria-label^="{name}"]')


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tablist", name="Sessions").get_by_role("tab", name=name)


def run_tab(page: Page, name: str) -> Locator:
    """A tab of the right part: the report, the selected task, changes or the definition."""
    return page.get_by_role("tablist", name="Report, task").get_by_role("tab", name=name)
