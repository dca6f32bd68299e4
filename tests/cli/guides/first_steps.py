"""The pages that somebody reads who tries Airboss."""

from pathlib import Path

import yaml

from airboss.runtime.hook_child import answer
from tests.cli.guides.guide import Guide, Visit
from tests.cli.terminal import Terminal


def in_the_clone(visit: Visit) -> None:
    visit.reader.folder = visit.home.home / "airboss"


def chat(visit: Visit) -> None:
    """As the line below the command says: type `look around`."""
    with Terminal(visit.home, "chat") as terminal:
        terminal.rest_at("> ")
        terminal.type("look around\n")
        terminal.see("That was a real tool call")
        terminal.rest_at("> ")
        terminal.press_ctrl_d()
        assert terminal.leave() == 0


def entry_with_limits(visit: Visit, shown: str) -> None:
    """The page shows the limits alone; an entry has more around them."""
    entry = yaml.safe_load(shown)
    entry["tasks"]["implement"] |= {"prompt": ["Do it."], "requireUserInput": False}
    entry["tasks"]["implement"]["model"] = {"category": "driving"}
    entry["jobs"]["deliver"]["work"] = {"kind": "Ref", "taskId": "implement"}
    entry |= {"models": {"driving": "rehearsal"}, "promptVariables": {}, "grid": []}
    visit.write("limits.yaml", yaml.safe_dump(entry))
    visit.said("airboss check limits.yaml")


def first_hook(visit: Visit, shown: str) -> None:
    file = Path(visit.home.environ["HOME"]) / "hooks" / "no-push.sh"
    file.parent.mkdir()
    file.write_text(shown, "utf-8")


def python_hook(visit: Visit, shown: str) -> None:
    file = visit.write("hooks.py", shown)
    assert answer(str(file), "run_tests", "", {"stopHookActive": False}) == {}


GUIDES = {
    "README.md": Guide(
        is_served=False,
        before={".venv/bin/airboss chat": in_the_clone},
        instead={".venv/bin/airboss chat": chat},
    ),
    "docs/installing.md": Guide(is_served=False),
    "docs/built-in-entry.md": Guide(is_served=False),
    "docs/gate.md": Guide(is_served=False),
    "docs/hooks.md": Guide(
        is_served=False, shown={"#!/bin/sh": first_hook, "import subprocess": python_hook}
    ),
    "docs/jobs.md": Guide(),
    "docs/limits.md": Guide(
        is_served=False,
        shown={"limits: {tokens: 2000000}": entry_with_limits},
    ),
    "ARCHITECTURE.md": Guide(is_served=False),
}
