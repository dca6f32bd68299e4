"""The cages of a server that is tried: which processes they are, and what is left of them."""

import contextlib
from pathlib import Path
from typing import Final

import psutil

from tests.crash.chaos_checks import Finding, Json

_OUTER: Final = "bwrap"
_RUNTIME: Final = "copilot-runtime"
_GROUPS: Final = Path("/sys/fs/cgroup")


def outer_processes(server: int) -> list[psutil.Process]:
    """Of each cage the outermost one: with it all of the cage ends."""
    return [one for one in _below(server, _OUTER) if _parent_name(one) != _OUTER]


def caged_runtimes(server: int) -> list[psutil.Process]:
    return [one for one in _below(server, _RUNTIME) if _parent_name(one) == _OUTER]


def _below(server: int, name: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for one in psutil.Process(server).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if one.name() == name:
                    found.append(one)
    return found


def _parent_name(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        parent = process.parent()
        return "" if parent is None else parent.name()
    return ""


def uncaged(sessions: list[Json]) -> list[Finding]:
    """Every session of a caged job has a cage, also one that was begun anew behind a crash."""
    return [
        Finding("wrong", f"the session {view['id']} works in no cage")
        for view in sessions
        if view["cage_profile"] is None
    ]


def groups_left(killed: list[int], stopped: int) -> list[Finding]:
    """Those of a server that was killed are removed by the next one, and until then are empty."""
    left = [group for pid in killed for group in _groups_of(pid) if _is_full(group)]
    return [Finding("left", f"the control group {one}") for one in (*left, *_groups_of(stopped))]


def _groups_of(server: int) -> list[Path]:
    return [one for depth in ("*", "*/*", "*/*/*") for one in _GROUPS.glob(_named(depth, server))]


def _named(depth: str, server: int) -> str:
    return f"{depth}/airboss-{server}-*"


def _is_full(group: Path) -> bool:
    with contextlib.suppress(OSError):
        return bool((group / "cgroup.procs").read_text("ascii").strip())
    return False
