"""The page about entries: each that it shows is checked, and its tasks are run."""

import json
import re

from tests.cli.documents import blocks
from tests.cli.guides.guide import ROOT, Guide, Visit

_PAGE = blocks((ROOT / "docs/entry.md").read_text("utf-8"))
_BY_HAND, _GREETING = (
    next(block.text for block in _PAGE if block.text.startswith(begun))
    for begun in ("models:\n  driving: gpt-4.1 ", "models: {driving: rehearsal}")
)
_MODELS = "models: [{id: rehearsal}, {id: gpt-4.1}, {id: gpt-5.2}, {id: claude-sonnet-4.5}]\n"
# What `check` shows lines 10 to 15 of.
_WRONG = """\
# An entry with two mistakes.
models:
  driving: gpt-4.1
  coding: gpt-5.2

promptVariables:
  unused: []


tasks:
  implement:
    model: {category:  codin}
    prompt: "Carry out the plan."
    requireUserInput: false
jobs:
  build: {work: {kind: Ref, taskId: implement}}
grid: []
"""


def file_of_ones_own(visit: Visit) -> None:
    """The one that the page shows, in the place of what `init` has written."""
    assert "fix-tests" in (visit.home.work / "airboss.yaml").read_text("utf-8")
    visit.write("airboss.yaml", _BY_HAND)


def file_that_greets(visit: Visit) -> None:
    visit.write("airboss.yaml", _GREETING)


def open_session(visit: Visit) -> None:
    visit.said('airboss chat --keep "hello"')
    visit.reader.names["ID"] = visit.reader.ids["ses"]


def start_with_the_script(visit: Visit) -> None:
    """As the line above the command says."""
    visit.home.serve("airboss serve --rehearsal play.yaml")


def program(visit: Visit, shown: str) -> None:
    (visit.home.work / "airboss.yaml").unlink()
    visit.write("airboss.py", shown)
    assert "jobs: 1" in visit.said("airboss check --trust")


def file_with_mistakes(visit: Visit) -> None:
    (visit.home.work / "airboss.py").unlink()
    visit.write("airboss.yaml", _WRONG)


def answer_to_programs(visit: Visit, shown: str) -> None:
    told = json.loads(visit.said("airboss check --json; test $? = 1"))
    violations = set(told["violations"][0])
    named = re.findall(r'"(\w+)"', shown)
    assert set(named) == {*told, "where", "reason", "wished", "granted"}
    assert {"where", "reason"} <= violations


GUIDES = {
    "docs/entry.md": Guide(
        script=_MODELS,
        files={"other.yaml": _GREETING},
        before={
            "airboss chart feature": file_of_ones_own,
            'airboss task run greet --input "Ada"': file_that_greets,
            "airboss task run greet --input Ada --session ID": open_session,
            "airboss task run greet --input Ada": start_with_the_script,
            "airboss check airboss.yaml": file_with_mistakes,
        },
        codes={"airboss check airboss.yaml": 1},
        shown={
            "from airboss.entry.build import": program,
            '{"file", "valid"': answer_to_programs,
        },
    ),
}
