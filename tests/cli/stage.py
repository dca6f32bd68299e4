"""A server with a few jobs of a scripted model: quick, failing, slow, in rounds."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.portal import Portal

ENTRY = """\
models: {driving: rehearsal}
promptVariables:
  answer: ["Call job_boolean_true or job_boolean_false."]
tasks:
  first: {model: {category: driving}, prompt: [Do the first thing.], requireUserInput: false}
  second: {model: {category: driving}, prompt: [Do the second thing.], requireUserInput: false}
  told: {model: {category: driving}, prompt: [Do this. $user-input], requireUserInput: true}
  nap: {model: {category: driving}, prompt: [Have a nap.], requireUserInput: false}
  sleep: {model: {category: driving}, prompt: [Have a long sleep.], requireUserInput: false}
  break:
    model: {category: driving}
    prompt: [Do the third thing.]
    requireUserInput: false
    criteria: {condition: ["Is it whole? $answer"], failureAction: {retryTimes: 0}}
  mend:
    model: {category: driving}
    prompt: [Do the fourth thing.]
    requireUserInput: false
    criteria: {condition: ["Is it fixed? $answer"], failureAction: {retryTimes: 0}}
  enough:
    model: {category: driving}
    prompt: [Look at it.]
    requireUserInput: false
    criteria: {condition: ["Is it enough? $answer"], failureAction: {retryTimes: 0}}
jobs:
  two: {work: {kind: Seq, works: [{kind: Ref, taskId: first}, {kind: Ref, taskId: second}]}}
  broken:
    work:
      kind: Seq
      works: [{kind: Ref, taskId: first}, {kind: Ref, taskId: break}, {kind: Ref, taskId: second}]
  flaky: {work: {kind: Seq, works: [{kind: Ref, taskId: first}, {kind: Ref, taskId: mend}]}}
  rounds:
    work:
      kind: Loop
      body: {kind: Ref, taskId: first}
      postCondition: [false, {kind: Ref, taskId: enough}]
  input: {work: {kind: Ref, taskId: told}}
  napping:
    work:
      kind: Seq
      works: [{kind: Ref, taskId: first}, {kind: Ref, taskId: nap}, {kind: Ref, taskId: second}]
  slow:
    work:
      kind: Par
      works: [{kind: Ref, taskId: first}, {kind: Ref, taskId: sleep}]
grid: []
"""
SCRIPT = """\
rules:
  - when: "Have a nap"
    steps: [{say: "One moment. "}, {sleep: 2.5}, {say: Done.}]
  - when: "Have a long sleep"
    steps: [{say: "One moment. "}, {sleep: 120}, {say: Done.}]
  - when: "Is it whole"
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "it is in \\u001b[31mtwo"}}
  - when: "Is it fixed"
    times: 1
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "not yet"}}
  - when: "Is it enough"
    times: 1
    steps:
      - call: {tool: job_boolean_false, arguments: {argument: "once more"}}
"""


@contextmanager
def stage_in(folder: Path) -> Generator[Portal]:
    portal = Portal(folder, script=SCRIPT)
    portal.work.mkdir()
    (portal.work / "airboss.yaml").write_text(ENTRY, encoding="utf-8")
    portal.start()
    try:
        yield portal
    finally:
        portal.stop()


def started(portal: Portal, job: str) -> str:
    """A run that nobody watches."""
    done = portal.run("run", job, "--detach")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def told_of(portal: Portal, name: str) -> dict[str, Any]:
    done = portal.run("show", name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
