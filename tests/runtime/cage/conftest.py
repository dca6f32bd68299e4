"""Cages are tested where one holds; without bubblewrap the tests fail and say how to get it."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.group import make_group
from airboss.runtime.cage.usage import descendants
from tests.runtime.cage.yard import Yard
from tests.runtime.conftest import Flight

HERE = Path(__file__).parent
# Only with the fixture `group`: without it nothing bounds a bomb of root's soon enough.
BOMB = "bomb() { bomb | bomb & }; bomb; sleep 60"

FAMILY = (
    "import subprocess as s, time; [s.Popen(['sleep', '60']) for _ in range(20)]; time.sleep(60)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.platform != "linux":
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="only Linux has cages"))


@pytest.fixture(scope="session")
def strong() -> None:
    found = ability()
    if found.kind != "strong":
        pytest.fail(f"No strong cage holds here. {found.why} {found.advice}")


@pytest.fixture
def group() -> None:
    """For tests that flood: the kernel bounds the cage, so that the machine is not flooded."""
    made = make_group("try", CageProfile())
    if made is None:
        pytest.skip("this system gives us no control group")
    made.remove()


@pytest.fixture
def open_to_all() -> Generator[Path]:
    """A folder that an ordinary user reaches, and may write. Not among those of the other tests:
    whoever runs tests meanwhile closes these again."""
    with tempfile.TemporaryDirectory(prefix="airboss-stage-") as made:
        folder = Path(os.path.realpath(made))
        folder.chmod(0o777)
        if folder.parent.stat().st_mode & 0o011 == 0:  # that of this run alone, in memory
            folder.parent.chmod(0o711)
        yield folder


@pytest.fixture
async def yard(flight: Flight, tmp_path: Path) -> AsyncGenerator[Yard]:
    yard = Yard(flight, tmp_path / "data")
    yield yard
    await yard.stop()


@pytest.fixture
def family() -> Generator[int]:
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], start_new_session=True)
    until = time.monotonic() + 10
    while len(descendants(parent.pid, 100)) < 20 and time.monotonic() < until:
        time.sleep(0.02)
    yield parent.pid
    for pid in descendants(parent.pid, 100):
        subprocess.run(["kill", "-9", str(pid)], check=False)
    parent.kill()
    parent.wait()
