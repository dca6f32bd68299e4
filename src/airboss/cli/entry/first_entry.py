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
    "Find the command by which this project's own people see that it works.",
    "Look in README, CONTRIBUTING, a Makefile and the CI's configuration.",
    "Where there are no tests, see whether it builds.",
)

_ENTRY: Final = """\
# What agents do for this repository: tasks, and jobs that are made of them.
# `airboss check` says whether this file is right, `airboss rehearse {job}` plays the job for
# nothing, `airboss run {job}` runs it. A server that runs takes the file up when you save it.

# Names for models, so that a task says what it needs. `airboss models` lists those that you have.
models:
  driving: gpt-5-mini     # answers the questions of `condition`; every entry has it
  coding: gpt-5.2         # writes code

# Texts that several prompts share: `$tests` stands for what is here.
promptVariables:
  tests:
    # {kind}. Change this where it is wrong.
{lines}

tasks:
  run-tests:
    description: Runs the tests, and changes nothing.
    model: {{category: driving}}
    prompt:
      - Run the tests of this project in the working folder, and change nothing. This is how.
      - $tests
      - Say which of them failed, with the message of each.
    requireUserInput: false
    # The task succeeds if this is answered with true. There is no second try.
    criteria:
      condition:
        - Did the tests run, and did all of them pass?
        - Call job_boolean_true if it is so, else job_boolean_false with what failed.
      failureAction: {{retryTimes: 0}}

  fix-tests:
    description: Finds out why tests fail, and fixes the cause.
    model: {{category: coding}}
    prompt:
      - Tests of this project fail. Find out why, and fix the cause. This is how they are run.
      - $tests
      - Do not weaken, skip or delete a test to make it pass. Change nothing else.
      - Do not commit. Say what was wrong, and what you changed.
    requireUserInput: false
    criteria:
      condition:
        - Does a test pass now that failed before?
        - Call job_boolean_true if it is so, else job_boolean_false with what you tried.
      # One more try, with these lines added to the prompt.
      failureAction:
        retryTimes: 1
        additionalPrompt: ["Nothing got better: $reported-false-reason", Look for another cause.]

jobs:
  {job}:
    description: Runs the tests, and fixes what fails until all of them pass.
    # After so long at work a person is asked whether it may go on.
    limits: {{minutes: 60}}
    # Run the tests. If they fail: fix, and run them again, until they pass.
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
        kind, lines = "Nothing here says how the tests are run", _UNKNOWN
    else:
        first, others = projects[0], [f"`{other.command}`" for other in projects[1:]]
        also = f"; {' and '.join(others)} would do as well" if others else ""
        kind, lines = f"This seems to be {first.kind}{also}", (f"`{first.command}`",)
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
        f"There is an entry already: {file}. init never overwrites a file. To see what is wrong "
        f"with it: airboss check {name}. To begin anew, move it away first: mv {name} {name}.old"
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
            f"{file} cannot be written: {reason}. Go to a folder that you may write to."
        ) from None


def _tell(file: Path, projects: list[Project]) -> None:
    pen = out()
    pen.line(visible_line(f"Wrote {file}"))
    if projects:
        found = projects[0]
        what = f"It seems to be {found.kind}, so the job {JOB} runs `{found.command}`"
        pen.line(f"{what} and fixes what fails.")
    else:
        pen.line("Nothing here says how the tests are run: put the command into promptVariables.")
    aside().line(
        f"""
What to do next:
  airboss check                 says whether the file is right
  airboss rehearse {JOB}    plays the job on a scripted model, for nothing
  airboss serve                 starts the server; one that runs takes the file up by itself
  airboss run {JOB}         runs the job"""
    )
