"""Which cage holds on this machine: a strong one, a narrow one, or none; why, and what to do."""

import errno
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from airboss.runtime.cage import devices
from airboss.runtime.cage.group import group_version
from airboss.runtime.cage.inside import landlock, syscalls
from airboss.runtime.cage.pid_bound import can_bound

AbilityKind: TypeAlias = Literal["strong", "narrow", "none"]

_TRY_SECONDS: Final = 10
_INSTALL: Final = "Install bubblewrap (Debian and Ubuntu: sudo apt-get install bubblewrap)."
_ALLOW: Final = (
    "Allow user namespaces: on Ubuntu load the AppArmor profile bwrap-userns-restrict (package "
    "apparmor-profiles); in a container start it with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined; elsewhere set sysctl user.max_user_namespaces above 0."
)
_ELSEWHERE: Final = "Run Airboss on Linux on x86-64 or arm64."
_FIRST_TO_BOUND: Final = (0, 7)
_FIRST_TO_DISABLE: Final = (0, 8)


@dataclass(frozen=True)
class Ability:
    """What holds here. `bwrap` is the program of a strong cage."""

    kind: AbilityKind
    why: str
    advice: str
    bwrap: str | None = None
    # Whether it can forbid namespaces inside by itself.
    disables_namespaces: bool = False
    # Whether it can bound a file system in memory.
    bounds_memory: bool = False
    # Whether a watch alone bounds its processes, which is not soon enough for a flood of root's.
    is_unbounded: bool = False


def ability(environ: Mapping[str, str] = os.environ) -> Ability:
    """Blocking, the first time: a cage is tried. Found again when the search path changes, and
    where it failed for a reason that may be gone."""
    try:
        found = _ability(environ.get("PATH", os.defpath))
    except _Passing as passing:
        found = passing.meanwhile
    return replace(found, is_unbounded=_is_unbounded(found.kind))


def _is_unbounded(kind: AbilityKind) -> bool:
    """Other users than root are bound by limits of the kernel in every namespace of users."""
    if kind == "none" or os.geteuid() != 0 or (kind == "strong" and can_bound()):
        return False
    return group_version() is None


class _Passing(Exception):
    """Nothing that is kept in mind: what holds as long as it fails."""

    def __init__(self, meanwhile: Ability) -> None:
        super().__init__(meanwhile.why)
        self.meanwhile = meanwhile


@functools.lru_cache(maxsize=4)
def _ability(path: str) -> Ability:
    if sys.platform != "linux":
        return Ability("none", "A cage needs Linux.", _ELSEWHERE)
    machine = os.uname().machine
    if machine not in syscalls.CALLS:
        return Ability("none", f"There is no cage for this architecture ({machine}).", _ELSEWHERE)
    bwrap = shutil.which("bwrap", path=path)
    if bwrap is None:
        return _lesser("Bubblewrap (bwrap) is not installed.", _INSTALL)
    version = _version(bwrap)
    failure = _tried(bwrap)
    if failure is not None:
        lesser = _lesser(f"Bubblewrap cannot make namespaces here: {failure.words}", _ALLOW)
        if failure.may_pass:
            raise _Passing(lesser)
        return lesser
    return Ability(
        *("strong", "Namespaces, seccomp and limits hold.", "", bwrap),
        disables_namespaces=version >= _FIRST_TO_DISABLE,
        bounds_memory=version >= _FIRST_TO_BOUND,
    )


def _lesser(why: str, advice: str) -> Ability:
    found = landlock.version()
    if found >= landlock.NARROW_NEEDS:
        return Ability("narrow", why, advice)
    known = f"has Landlock {found}" if found else "has no Landlock"
    return Ability(
        "none",
        f"{why} A narrow cage needs Landlock {landlock.NARROW_NEEDS}; this kernel {known}.",
        advice,
    )


def _version(bwrap: str) -> tuple[int, ...]:
    said = _run([bwrap, "--version"])
    found = re.search(r"(\d+)\.(\d+)", said.stdout) if said is not None else None
    return tuple(map(int, found.groups())) if found else (0, 0)


@dataclass(frozen=True)
class _Failure:
    words: str
    # A machine that is busy, or short of memory or processes.
    may_pass: bool


def _tried(bwrap: str) -> _Failure | None:
    """Why the walls could not be made; none where they could."""
    walls = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    # Without an init of its own, which we would adopt and have to bury.
    before = devices.closing()
    said = _run([*before, bwrap, *walls, "--as-pid-1", "--cap-drop", "ALL", "--", "/bin/true"])
    if said is None:
        return _Failure("it did not end.", may_pass=True)
    if said.returncode == 0:
        return None
    words = said.stderr.strip().splitlines()
    last = (words[-1] if words else f"exit code {said.returncode}").rstrip(".") + "."
    is_short = any(os.strerror(one) in last for one in (errno.EAGAIN, errno.ENOMEM))
    return _Failure(last, may_pass=is_short or said.returncode < 0)


def _run(command: list[str]) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(  # noqa: S603 - bubblewrap, with words of ours
            command, capture_output=True, text=True, timeout=_TRY_SECONDS, check=False, env={}
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", error.strerror or str(error))
