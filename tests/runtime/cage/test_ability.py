"""Which cage holds, on systems that are played by taking things away."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.ability import Ability, ability
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.inside import landlock
from airboss.runtime.cage.life import must_hold
from airboss.runtime.cage.plan import CagePlan
from tests.trials import sampled

pytestmark = pytest.mark.usefixtures("strong")


def path_with(folder: Path, script: str | None) -> dict[str, str]:
    """A search path on which bubblewrap is this, or is not."""
    if script is not None:
        program = folder / "bwrap"
        program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        program.chmod(0o755)
    return {"PATH": str(folder)}


def older_bubblewrap(version: str) -> str:
    """The one of this machine, which knows only the options of that version."""
    program, real = Path(__file__).with_name("older_bwrap.py"), shutil.which("bwrap")
    return f'exec {sys.executable} -I {program} {version} {real} "$@"'


def test_here_a_strong_one_holds() -> None:
    found = ability()
    assert found.kind == "strong"
    assert found.bwrap == shutil.which("bwrap")


def test_without_bubblewrap_a_narrow_one_may_hold(tmp_path: Path) -> None:
    found = ability(path_with(tmp_path, None))
    assert found.kind == ("narrow" if landlock.version() >= 6 else "none")
    assert found.why.startswith("Bubblewrap (bwrap) is not installed.")
    assert "apt-get install bubblewrap" in found.advice


def test_where_namespaces_are_forbidden_it_is_said_what_to_do(tmp_path: Path) -> None:
    fails = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"
    found = ability(path_with(tmp_path, fails))
    assert found.kind in {"narrow", "none"}
    assert "setting up uid map: Permission denied" in found.why
    assert "bwrap-userns-restrict" in found.advice
    assert "container" in found.advice


@pytest.mark.parametrize(
    "fails", ["kill -9 $$", "echo 'bwrap: fork: Resource temporarily unavailable' >&2; exit 1"]
)
def test_what_failed_on_a_machine_that_is_short_of_something_is_tried_again(
    tmp_path: Path, fails: str
) -> None:
    real = shutil.which("bwrap")
    environ = path_with(tmp_path, f"{fails}; exit 1")
    assert ability(environ).kind != "strong"
    path_with(tmp_path, f'exec {real} "$@"')
    assert ability(environ).kind == "strong"


def test_an_old_kernel_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 3)
    found = ability(path_with(tmp_path, None))
    assert found.kind == "none"
    assert "needs Landlock 6; this kernel has Landlock 3" in found.why


def test_an_old_bubblewrap_is_used_without_what_it_does_not_know(tmp_path: Path) -> None:
    path = path_with(tmp_path, older_bubblewrap("0.4.1"))
    found = ability(path)
    assert (found.kind, found.disables_namespaces) == ("strong", False)


SHARED = "cd /dev/shm && echo kept >it && cat it"
LOCKED = "python3 -c 'import multiprocessing as m; m.Lock().acquire(); print(1)'"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return Path(os.path.realpath(folder))


@pytest.mark.parametrize("version", sampled(2, ["0.6.1", "0.7.0", "0.4.1"]))
async def test_a_cage_opens_with_an_old_bubblewrap(
    tmp_path: Path, work: Path, version: str
) -> None:
    environ = {**os.environ, **path_with(tmp_path, older_bubblewrap(version))}
    plan = CagePlan("strong", "default", CageProfile(), work, "k")
    command = ("sh", "-c", f"{SHARED} && {LOCKED}")
    ended = await attempt(plan, tmp_path / "data", command, environ=environ)
    assert (ended.code, ended.output, ended.errors) == (0, b"kept\n1\n", b"")
    scratch = CageFolders.of(tmp_path / "data", "k").scratch
    assert (scratch / "it").exists() == (version != "0.7.0"), "on the disk, or in memory"


@pytest.mark.skipif(not shutil.which("unshare"), reason="it takes namespaces away")
def test_where_the_kernel_refuses_namespaces_nothing_strong_is_promised(tmp_path: Path) -> None:
    """As in a container: no namespace of users can be made in the innermost one."""
    script = "echo 0 > /proc/sys/user/max_user_namespaces && exec bwrap --unshare-all true"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode
    found = ability(path_with(tmp_path, f"echo '{said.stderr.strip()}' >&2; exit 1"))
    assert found.kind != "strong"


@pytest.mark.parametrize("kind", ["strong", "narrow"])
def test_what_does_not_hold_is_refused_and_never_run_with_less(kind: str) -> None:
    plan = CagePlan("strong", "default", CageProfile(), Path("/srv"), "k")
    less = Ability("narrow" if kind == "strong" else "none", "Why.", "What to do.")
    with pytest.raises(CageUnavailable, match=r"No strong cage holds here\. Why\. What to do\."):
        must_hold(plan, less)
    assert os.uname().sysname == "Linux"


@pytest.mark.parametrize(
    ("system", "machine", "why"),
    [
        ("darwin", "arm64", "A cage needs Linux."),
        ("win32", "AMD64", "A cage needs Linux."),
        ("linux", "riscv64", "There is no cage for this architecture (riscv64)."),
    ],
)
def test_on_other_systems_there_is_none_and_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, why: str
) -> None:
    """Also where something has the name of bubblewrap."""
    is_there = os.uname()
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((*is_there[:4], machine)))
    found = ability(path_with(tmp_path, f"touch {tmp_path}/was-tried"))
    assert (found.kind, found.why) == ("none", why)
    assert found.advice == "Run Airboss on Linux on x86-64 or arm64."
    assert not (tmp_path / "was-tried").exists()
