"""The proof that the doctor makes: nothing gets out of a cage, and all would without one."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from airboss.runtime.cage import life
from airboss.runtime.cage.inside import ways
from airboss.runtime.cage.plan import CageKind
from airboss.runtime.cage.proof import command_in, prove, staged
from airboss.runtime.cage.walls import CageLayout, strong_walls

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]

# An ordinary user mounts nothing, and not everywhere has namespaces.
OF_ROOT = {"a mount", "a namespace of its own"}


@pytest.mark.parametrize(("kind", "tried"), [("strong", 14), ("narrow", 13)])
async def test_nothing_gets_out_of_a_cage(tmp_path: Path, kind: CageKind, tried: int) -> None:
    found = await prove(kind, tmp_path)
    assert (found.tried, found.through) == (tried, ())


def test_without_a_cage_all_get_through(tmp_path: Path) -> None:
    with staged(tmp_path) as scene:
        environ = {**os.environ, "AIRBOSS_PROOF_TOKEN": scene["word"]}
        done = subprocess.run(command_in(scene), env=environ, capture_output=True, check=True)
    missing = ways.WAYS.keys() - set(json.loads(done.stdout))
    assert missing <= (set[str]() if os.geteuid() == 0 else OF_ROOT)


async def test_a_wall_that_is_missing_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_net(layout: CageLayout) -> list[str]:
        return [word for word in strong_walls(layout) if word != "--unshare-net"]

    monkeypatch.setattr(life, "strong_walls", without_net)
    found = await prove("strong", tmp_path)
    assert "the network" in found.through
