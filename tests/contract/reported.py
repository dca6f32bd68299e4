"""Jobs whose runs have something to report: edits in a git folder, rounds, branches, a failure."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.job_guest import alt, loop, par, seq
from tests.git_command import git
from tests.pauses import pauses
from tests.portal import Portal

WORDS = """2 of 613 tests still fail, both for one reason.

FAILED tests/test_merge.py::test_two_writers
  AssertionError: assert [1, 2, 4] == [1, 2, 3, 4]"""
INPUT = "# A follower loses events\n\nFind out why. Do not change `store/`."
# In order: of several rules that match, the first that has a time left speaks.
SCRIPT = f"""
models:
  - {{id: driver, name: Driver, multiplier: 0}}
  - {{id: worker, name: Worker, multiplier: 0}}
rules:
  - when: "Does it hold"
    steps:
      - call: {{tool: job_boolean_false, arguments: {{argument: {json.dumps(WORDS)}}}}}
      - say: "No."
  - when: "Do the tests pass"
    times: 1
    steps: [{{say: "2 failed."}}]
  - when: "Do the tests pass"
    steps: &yes
      - call: {{tool: job_boolean_true, arguments: {{argument: "yes"}}}}
      - say: "613 passed."
  - when: "Does it need a migration"
    steps: [{{say: "No table changes."}}]
  - when: "Build the server"
    steps:
      - call:
          tool: edit
          arguments: {{path: "{{cwd}}/server.py", old_str: "old", new_str: "new"}}
      - call: {{tool: job_boolean_true, arguments: {{argument: "built"}}}}
      - say: "# Done\\n\\n`resume` subscribes\\nfirst.\\n\\nThe rest is details."
  - when: "Fix the tests"
    steps:
      - call: {{tool: create, arguments: {{path: "{{cwd}}/fix.txt", file_text: "fixed\\n"}}}}
      - call: {{tool: bash, arguments: {{command: "echo made > made.txt", description: "make"}}}}
      - call: {{tool: job_boolean_true, arguments: {{argument: "fixed"}}}}
      - say: "A queue for each follower."
  - when: "Ask somebody"
    steps:
      - call:
          tool: ask_user
          arguments: {{question: "Keep the fallback?", choices: ["Yes", "No"]}}
      - call: {{tool: job_boolean_true, arguments: {{argument: "asked"}}}}
      - say: "It was kept."
  - when: "Work on it"
    times: 1
    steps:
      - call: {{tool: job_boolean_true, arguments: {{argument: "done"}}}}
      - say: "Sorted the rows."
  - when: "Work on it"
    steps:
      - call: {{tool: job_boolean_true, arguments: {{argument: "done"}}}}
      - say: "Held the rows back."
  - when: "Linger"
    steps: [{{say: "One moment."}}, {{sleep: 60}}]
  - when: "."
    steps:
      - call: {{tool: job_boolean_true, arguments: {{argument: "done"}}}}
      - say: "No findings."
"""


def task(prompt: str, retries: int = 0, **criteria: Any) -> dict[str, Any]:
    said = {"toolExecuted": ["job_boolean_true"], **criteria}
    return {
        "prompt": [prompt],
        "model": {"category": "working"},
        "requireUserInput": "$user-input" in prompt,
        "criteria": {**said, "failureAction": {"retryTimes": retries}},
    }


CALL = "Call job_boolean_true or job_boolean_false."
JUDGED = {"condition": [f"Does it hold? {CALL}"], "runConditionInSameSession": False}
TASKS: dict[str, Any] = {
    "design": task("Design $user-input."),
    "needs-migration": task("Does it need a migration?"),
    "write-migration": task("Write the migration."),
    "build-server": task("Build the server."),
    "build-web": task("Build the web part."),
    "lint": task("Lint it."),
    "fix-tests": task("Fix the tests."),
    "tests-pass": task("Do the tests pass?"),
    "review": task("Review it."),
    "hopeless": task("Work on it.", 1, **JUDGED),
    "ask": task("Ask somebody."),
    "linger": task("Linger."),
}


def ref(name: str) -> dict[str, Any]:
    return {"kind": "Ref", "taskId": name}


JOBS: dict[str, Any] = {
    "ship": seq(
        ref("design"),
        alt(ref("needs-migration"), true=ref("write-migration")),
        par(seq(ref("build-server"), ref("lint")), seq(ref("build-web"), ref("lint"))),
        loop(ref("fix-tests"), post=[False, ref("tests-pass")]),
        ref("review"),
    ),
    "broken": seq(ref("lint"), ref("hopeless"), ref("review"), ref("build-web")),
    "ask": seq(ref("ask"), ref("review")),
    "linger": seq(ref("lint"), ref("linger"), ref("review")),
    "wide": par(*[ref("lint") for _ in range(24)]),
}


def reported_portal(folder: Path, *options: str) -> Portal:
    """A server whose repository is in git, with a file that nobody has committed."""
    portal = Portal(folder, ("--permissions", "approve-all", *options), SCRIPT)
    portal.work.mkdir(parents=True, exist_ok=True)
    entry: dict[str, Any] = {
        "models": {"driving": "driver", "working": "worker"},
        "promptVariables": {},
        "tasks": TASKS,
        "jobs": {name: {"work": work} for name, work in JOBS.items()},
        "grid": [],
    }
    (portal.work / "airboss.json").write_text(json.dumps(entry), encoding="utf-8")
    (portal.work / "server.py").write_text("old = 1\n", encoding="utf-8")
    (portal.work / ".gitignore").write_text("*.log\n", encoding="utf-8")
    git(portal.work, "init", "-q")
    git(portal.work, "add", "-A")
    git(portal.work, "commit", "-qm", "First")
    (portal.work / "mine.txt").write_text("not committed\n", encoding="utf-8")
    return portal


def reset(portal: Portal) -> None:
    """The folder as it was before any run."""
    git(portal.work, "checkout", "-q", "--", ".")
    for name in ("fix.txt", "made.txt"):
        (portal.work / name).unlink(missing_ok=True)


def until_over(show: Callable[[str], Any], run: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    pause = pauses()
    while (view := show(f"/api/v1/runs/{run}"))["ended_at"] is None:
        assert time.monotonic() < end, view
        time.sleep(next(pause))
    return view
