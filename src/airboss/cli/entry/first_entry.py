"""`airboss init`: a first entry for the repository at hand, with one job that is useful at once."""

import json
import os
import shlex
from pathlib import Path
from typing import Final

from airboss.cli.entry.projects import Project, projects_in
from airboss.cli.screen import aside, out, print_json, visible_line
from airboss.cli.trouble import CommandRefused
from airboss.entry.places import NAMES, find_repo_root, own_entries

JOB: Final = "fix-tests"

_UNKNOWN: Final = (
    "Find the command with which the developers of this project check that it works.",
    "Look in README, CONTRIBUTING, a Makefile and the CI configuration.",
    "If there are no tests, check that it builds.",
)

_ENTRY: Final = """\
# What agents do for this repository: tasks, and jobs that combine tasks.
# `airboss check` checks this file, `airboss rehearse {job}` tries the job for free,
# and `airboss run {job}` runs it. A running server picks up the file when you save it.

# Agents read, and ask you before they do anything else. To let them work without asking, in a cage
# that the kernel closes, remove the `#`. `airboss cage` says whether one holds on your machine.
# permissions: caged

# Your names for models. Tasks refer to these names. `airboss models` lists the models you have.
models:
  driving: gpt-5-mini     # required: answers the questions in `condition`
  coding: gpt-5.2         # writes code

# Texts that several prompts share: `$tests` is replaced with this text.
promptVariables:
  tests:
    # {kind}. Change this if it is wrong.
{lines}

tasks:
  run-tests:
    description: Runs the tests without changing anything.
    model: {{category: driving}}
    prompt:
      - Run the tests of this project in the working folder without changing anything, as follows.
      - $tests
      - List the tests that failed, with the error message of each.
    requireUserInput: false
    # The task succeeds if the answer is true. It is not retried.
    criteria:
      condition:
        - Did the tests run, and did all of them pass?
        - Call job_boolean_true if so, otherwise job_boolean_false with what failed.
      failureAction: {{retryTimes: 0}}

  fix-tests:
    description: Finds out why tests fail and fixes the cause.
    model: {{category: coding}}
    prompt:
      - Tests of this project fail. Find out why and fix the cause. Run the tests as follows.
      - $tests
      - Do not weaken, skip or delete a test to make it pass. Change nothing else.
      - Do not commit. Report what was wrong and what you changed.
    requireUserInput: false
    criteria:
      condition:
        - Does a test pass now that failed before?
        - Call job_boolean_true if so, otherwise job_boolean_false with what you tried.
      # Retry once, with these lines added to the prompt.
      failureAction:
        retryTimes: 1
        additionalPrompt: ["It did not work: $reported-false-reason", Look for another cause.]

jobs:
  {job}:
    description: Runs the tests and fixes failures until all tests pass.
    # After 60 minutes of work, a person decides whether the job continues.
    limits: {{minutes: 60}}
    # Run the tests. If they fail, fix them and run them again until they pass.
    work:
      kind: Alt
      condition: {{kind: Ref, taskId: run-tests}}
      falseWork:
        kind: Loop
        body: {{kind: Ref, taskId: fix-tests}}
        postCondition: [false, {{kind: Ref, taskId: run-tests}}]

# The buttons on the Jobs page, row by row.
grid:
  - keyword: Tests
    jobs: [{{name: Fix failing tests, jobName: {job}}}]
"""


def entry_text(projects: list[Project]) -> str:
    """The file for the best guess; the others are named beside it."""
    if not projects:
        kind, lines = "No test command was found in this repository", _UNKNOWN
    else:
        first, others = projects[0], [f"`{other.command}`" for other in projects[1:]]
        also = f"; {' and '.join(others)} would also work" if others else ""
        kind, lines = f"This looks like {first.kind}{also}", (f"`{first.command}`",)
    # In quotes as JSON has them, which YAML takes whatever is in them.
    shown = "\n".join(f"    - {json.dumps(line)}" for line in lines)
    return _ENTRY.format(job=JOB, kind=kind, lines=shown)


def init(folder: Path, *, is_json: bool) -> None:
    """Write it into the root of the repository, where there is none."""
    root = find_repo_root(folder)
    _refuse_another(root)
    projects = projects_in(root)
    file = root / NAMES[0]
    _write(file, entry_text(projects))
    if is_json:
        command = projects[0].command if projects else None
        print_json({"file": str(file), "job": JOB, "command": command})
        return
    _tell(file, projects)


def _refuse_another(root: Path) -> None:
    for found in own_entries(root)[:1]:
        raise CommandRefused(already(found))


def already(file: Path) -> str:
    name = shlex.quote(os.fspath(file))
    return (
        f"{file} already exists, and init never overwrites a file. To check it: "
        f"airboss check {name}. To start over, move it first: mv {name} {name}.old"
    )


def _write(file: Path, text: str) -> None:
    try:
        # Never over another one, also not over one that came a moment ago.
        with file.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except FileExistsError:
        raise CommandRefused(already(file)) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandRefused(
            f"Could not write {file}: {reason}. Use a folder that you can write to."
        ) from None


def _tell(file: Path, projects: list[Project]) -> None:
    pen = out()
    pen.line(visible_line(f"Created {file}"))
    if projects:
        found = projects[0]
        what = f"This looks like {found.kind}: the job {JOB} runs `{found.command}`"
        pen.line(f"{what} and fixes failing tests.")
    else:
        pen.line("No test command was found. Add it under promptVariables.")
    aside().line(
        f"""
Next steps:
  airboss check                 check the file
  airboss rehearse {JOB}    try the job for free, on a scripted model
  airboss serve                 start the server; a running one picks up the file by itself
  airboss run {JOB}         run the job"""
    )
