"""The bound on processes where root has no control group: the kernel's, not the watch's.

Nothing here is a bomb: each flood ends by itself, whether it is held or not.
"""

import asyncio
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from airboss.cage_settings import CageProfile
from airboss.runtime.cage import ability as ability_module
from airboss.runtime.cage import life, watch
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.attempt import Attempted, attempt
from airboss.runtime.cage.inside.warden import FAILED
from airboss.runtime.cage.pid_bound import bound_processes, can_bound
from airboss.runtime.cage.plan import CagePlan
from tests.runtime.cage.ordinary import as_ordinary_user
from tests.runtime.cage.yard import Yard
from tests.runtime.conftest import Listener

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("strong")]

MOST = 700
FLOOD = f"""python3 -c '
import os, time
made = 0
try:
    while made < {MOST}:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        made += 1
    print(made, "all")
except OSError as error:
    print(made, error.strerror)
'"""
bounded = pytest.mark.skipif(not can_bound(), reason="only root can, on Linux 6.14 and later")


def no_group(*_: object) -> None:
    return None


async def flooded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int) -> Attempted:
    """Without a control group, and while the watch looks elsewhere."""
    monkeypatch.setattr(life, "make_group", no_group)
    monkeypatch.setattr(watch, "LOOK_SECONDS", 15)
    (tmp_path / "work").mkdir(exist_ok=True)
    plan = CagePlan("strong", "default", CageProfile(processes=processes), tmp_path / "work", "k")
    return await attempt(plan, tmp_path / "data", ("bash", "-c", FLOOD))


def highest_number() -> str:
    return Path("/proc/sys/kernel/pid_max").read_text("ascii")


@bounded
async def test_the_kernel_bounds_the_processes_of_roots_cage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = highest_number()
    ended = await flooded(tmp_path, monkeypatch, 100)
    made, _, why = ended.output.decode().strip().partition(" ")
    assert why == "Resource temporarily unavailable", ended
    assert 100 <= int(made) <= 400
    assert highest_number() == before


@bounded
async def test_without_that_bound_nothing_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life, "can_bound", lambda: False)
    ended = await flooded(tmp_path, monkeypatch, 100)
    assert ended.output.decode().strip() == f"{MOST} all", ended


@bounded
@pytest.mark.parametrize("is_bound", [True, False])
async def test_a_cage_without_a_group_tells_whether_the_kernel_bounds_its_processes(
    yard: Yard, listener: Listener, monkeypatch: pytest.MonkeyPatch, is_bound: bool
) -> None:
    monkeypatch.setattr(life, "make_group", no_group)
    monkeypatch.setattr(life, "can_bound", lambda: is_bound)
    await yard.session(listener)
    [opened] = yard.news
    assert (opened.group, opened.bounds_processes) == (None, is_bound)


async def test_a_cage_that_cannot_be_bound_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: int, __: int) -> None:
        raise OSError(0, "its processes cannot be bound")

    monkeypatch.setattr(life, "can_bound", lambda: True)
    monkeypatch.setattr(life, "bound_processes", refused)
    ended = await flooded(tmp_path, monkeypatch, 100)
    assert ended.code == FAILED
    assert b"The cage could not be closed: the server did not take its doors." in ended.errors
    assert ended.output == b""


AS_THEY = "import sys; from tests.runtime.cage.test_pid_bound import crowd; crowd(sys.argv[1])"


def crowd(folder: str) -> None:
    """A program for another user: says what the flood said in a cage without a control group."""
    with pytest.MonkeyPatch.context() as patch:
        ended = asyncio.run(flooded(Path(folder), patch, 100))
    sys.stdout.write(ended.output.decode())


def test_an_ordinary_users_are_bound_by_a_limit(open_to_all: Path) -> None:
    prefix = as_ordinary_user(open_to_all / "home")
    command = [*prefix, sys.executable, "-c", AS_THEY, str(open_to_all)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=60)
    made, _, why = said.stdout.decode().strip().partition(" ")
    assert why == "Resource temporarily unavailable", said.stderr.decode()
    assert int(made) <= 100


@bounded
def test_the_machines_own_highest_number_is_never_touched() -> None:
    with pytest.raises(OSError, match="it has no namespace of its own"):
        bound_processes(os.getpid(), 100)


class OldKernel(NamedTuple):
    release: str
    machine: str = platform.machine()


def test_an_older_kernel_has_no_such_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: OldKernel("6.13.7-amd64"))
    assert not can_bound()
    monkeypatch.setattr(os, "uname", lambda: OldKernel("odd"))
    assert not can_bound()


def test_root_without_any_bound_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(ability_module, "can_bound", lambda: False)
    assert not ability().is_unbounded or ability_module.group_version() is None
    monkeypatch.setattr(ability_module, "group_version", no_group)
    assert ability().is_unbounded
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not ability().is_unbounded
