"""Every way out, tried by the real runtime itself: by its shell, its tools, and what it leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss.runtime.locate import cache_folder
from tests.runtime.cage.attempts import ATTEMPTS
from tests.runtime.cage.ordinary import as_ordinary_user
from tests.runtime.cage.runtime_shell import TOOLS
from tests.trials import sampled, share, trial

pytestmark = [pytest.mark.usefixtures("strong"), pytest.mark.timeout(300), trial]

ROOT = Path(__file__).parents[3]
# The same in both kinds of cage, whoever the server is.
CASES = [("strong", "own"), ("narrow", "ordinary"), ("strong", "ordinary"), ("narrow", "own")]


def tried(folder: Path, kind: str, user: str) -> dict[str, Any]:
    prefix = as_ordinary_user(folder / "home-of-theirs") if user == "ordinary" else ()
    program = [sys.executable, "-m", "tests.runtime.cage.runtime_shell"]
    # Each takes as long as its process: a part of them in each run, and all in the trials.
    command = [*prefix, *program, kind, str(folder / "scene"), str(share(3, 1))]
    # The runtime is where it was, also for who has another home.
    environ = {**os.environ, "AIRBOSS_CACHE": str(cache_folder().parents[1])}
    said = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=False, timeout=280, env=environ
    )
    assert said.returncode == 0, said.stderr.decode()
    found = json.loads(said.stdout)
    assert (found["user"] == 0) == (os.geteuid() == 0 and user == "own")
    assert len(found["answers"]) >= len(ATTEMPTS) // share(3, 1)
    return found


@pytest.mark.parametrize(("kind", "user"), sampled(2, CASES))
def test_nothing_that_the_runtime_starts_gets_out(open_to_all: Path, kind: str, user: str) -> None:
    found = tried(open_to_all, kind, user)
    through = {
        name: answer["said"]
        for name, answer in found["answers"].items()
        if answer["through"] and not (kind == "narrow" and ATTEMPTS[name].narrow)
    }
    assert through == {}
    assert found["tools"] == []
    assert found["damage"] == []
    assert found["daemon"] == [True, True], "what was left behind was there, and ended"


@pytest.mark.parametrize("user", sampled(1, ["own", "ordinary"]))
def test_without_a_cage_all_of_it_would(open_to_all: Path, user: str) -> None:
    """The control: but for what its own words say why nobody gets through here."""
    found = tried(open_to_all, "free", user)
    controls = {"anyone", "root"} if found["user"] == 0 else {"anyone"}
    held = {
        name: answer["said"]
        for name, answer in found["answers"].items()
        if ATTEMPTS[name].control in controls and not answer["through"]
    }
    assert held == {}
    assert found["tools"] == [tool for tool, _ in TOOLS]
