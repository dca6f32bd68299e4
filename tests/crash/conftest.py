"""Servers to be killed: quick ones, with agents that may do everything."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
chunk_ms: 4
chunk_chars: 7
rules:
  - when: "^stream"
    steps:
      - reasoning: "First I think about it for a while, in small pieces, as one does."
      - say: "I begin with a sentence that is long enough to be cut anywhere in its middle."
      - call: {tool: bash, arguments: {description: "count", command: "{count}"}}
      - say: "Then I look around, and say so at some length before I do."
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - say: "That was all that there is to see; nothing more is said after this sentence."
  - when: "^shell "
    steps:
      - call: {tool: bash, arguments: {description: "run it", command: 'shell() { "$@"; }; {last}'}}
      - say: "Done."
  - when: "^wait"
    steps:
      - say: "One moment. "
      - sleep: 60
      - say: "Here."
  - when: "^say"
    steps: [{say: "Understood."}]
""".replace("{count}", "for i in 1 2 3 4 5; do echo line $i; sleep 0.03; done")

MakePortal: TypeAlias = Callable[..., Portal]


@pytest.fixture
def make_portal(tmp_path: Path) -> Generator[MakePortal]:
    """Portals that are not started yet; all are gone at the end."""
    made: list[Portal] = []

    def make(*options: str, script: str = SCRIPT, name: str = "portal") -> Portal:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        portal = Portal(folder, options, script)
        made.append(portal)
        return portal

    yield make
    for portal in made:
        portal.stop()


@pytest.fixture
def portal(make_portal: MakePortal) -> Portal:
    portal = make_portal("--permissions", "approve-all")
    portal.start()
    return portal
