"""Ends what agents left running. A shell command outlives a killed runtime, and one that detached
itself outlives even an abort; every one of them carries a mark in its environment. One that cleared
its environment is found as an orphan below the runtime's supervisor, or below us.

A server that an agent started on purpose carries a mark too, and goes with the rest.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from airboss.runtime.descendants import Descendants, process_table
from airboss.runtime.environment import LIFE, OWNER, SERVER
from airboss.runtime.pids import left_in
from airboss.runtime.process_threads import SWEEPS, in_threads
from airboss.runtime.supervisor import (
    PR_SET_CHILD_SUBREAPER,
    environ_of,
    prctl,
    stat_of,
    variables_in,
)

SESSION: Final = "COPILOT_AGENT_SESSION_ID"
# One run of a hook.
HOOK: Final = "AIRBOSS_HOOK"
# One process of an extension.
EXTENSION: Final = "AIRBOSS_EXTENSION"
_GONE_SECONDS = 2.0
_ROUNDS = 4
_ZOMBIE = "Z"
_LONGEST_MARK = 200


@dataclass
class OwnChildren:
    """The children that this process started in sessions of their own; orphans have such too."""

    known: set[int] = field(default_factory=set[int])
    adopting: bool = False


CHILDREN: Final = OwnChildren()


def become_subreaper() -> bool:
    """Orphans of our runtimes become our children, so that none escapes. Linux only."""
    if sys.platform != "linux":
        return False
    CHILDREN.adopting = prctl(PR_SET_CHILD_SUBREAPER, 1)
    return CHILDREN.adopting


async def sweep_session(session: str, servers_below: int | None = None) -> int:
    """End all that one session's agent left running; how many there were. The session's MCP servers
    stay where a process is named that they run below: the turn ends, and they are for the next."""
    bears = _bearing({SESSION: {session}})

    def meant(pid: int) -> bool:
        return bears(pid) and not (servers_below is not None and _is_server(pid, servers_below))

    return await in_threads(SWEEPS, _sweep, meant)


async def sweep_servers(session: str, names: Collection[str]) -> int:
    """End these MCP servers of a session."""
    of_session, of_server = _bearing({SESSION: {session}}), _bearing({SERVER: names})

    def meant(pid: int) -> bool:
        return of_session(pid) and of_server(pid)

    return await in_threads(SWEEPS, _sweep, meant)


def _is_server(pid: int, runtime: int) -> bool:
    """Who detached itself is none, whatever its environment says."""
    if sys.platform == "linux":
        is_marked = f"{SERVER}=".encode() in environ_of(pid)
    else:
        is_marked = SERVER in psutil.Process(pid).environ()
    return is_marked and any(parent.pid == runtime for parent in psutil.Process(pid).parents())


async def sweep_hooks(*marks: str) -> int:
    """End all that these runs of hooks left behind."""
    return await in_threads(SWEEPS, _sweep, _bearing({HOOK: set(marks)}))


async def sweep_extensions(mark: str, noted: Mapping[int, int] | None = None) -> int:
    """End all that this process of an extension started: by its mark, or noted with the time of its
    start; and orphans with no mark at all, which are nobody's any more."""
    bears, known = _bearing({EXTENSION: {mark}}), noted or {}

    def meant(pid: int) -> bool:
        return _is_noted(pid, known) or _is_stray(pid) or bears(pid)

    return await in_threads(SWEEPS, _sweep, meant)


def processes_of_extensions() -> dict[str, list[int]]:
    """By mark. Linux only: elsewhere nobody is told."""
    found: dict[str, list[int]] = {}
    begin = f"{EXTENSION}=".encode()
    for pid in psutil.pids() if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):
            environ = environ_of(pid)
            if begin in environ:
                words = (word for word in variables_in(environ) if word.startswith(begin))
                # Anybody may put anything there.
                said = next(words, begin)[len(begin) :][:_LONGEST_MARK]
                found.setdefault(said.decode("ascii", "replace"), []).append(pid)
    return found


async def sweep_orphans(supervisor: int, runtime: int) -> int:
    """End what lost its parent below a runtime that lives, marked or not."""

    def is_orphan(pid: int) -> bool:
        state, parent, _ = stat_of(pid)
        return parent == supervisor and pid != runtime and state != _ZOMBIE

    return await in_threads(SWEEPS, _sweep, is_orphan)


async def sweep_life(life: str, sessions: Collection[str]) -> int:
    """After a runtime's death: all that it and its sessions started, and orphans we adopted."""
    marks = {LIFE: {life}, SESSION: set(sessions)}
    count = await in_threads(SWEEPS, _sweep, _bearing(marks))
    return count + (await in_threads(SWEEPS, sweep_adopted) if CHILDREN.adopting else 0)


async def sweep_owner(
    owner: str,
    sessions: Collection[str] = (),
    but: Collection[int] = (),
    notes: Path | None = None,
) -> int:
    """At the start: all that an earlier server of this data folder left."""
    # First the runtimes, with all below them: who has no mark is found there only.
    count = await in_threads(SWEEPS, _sweep_noted, notes) if notes is not None else 0
    marks = {OWNER: {owner}, SESSION: set(sessions)}
    return count + await in_threads(SWEEPS, _sweep, _bearing(marks), frozenset(but))


def _sweep_noted(notes: Path) -> int:
    if sys.platform != "linux":
        return 0
    left = left_in(notes)
    count = _sweep(lambda pid: any(pids and pid in pids.living() for pids in left.values()))
    for note in left:
        with contextlib.suppress(OSError):
            note.unlink()
    return count


def sweep_adopted() -> int:
    """End the children that nobody here started, marked or not. Only a subreaper has such."""
    return _sweep(_adopted) if CHILDREN.adopting else 0


def reap_adopted() -> int:
    """Bury adopted children that ended by themselves; how many there were."""
    if not CHILDREN.adopting or not _has_dead_child():
        return 0
    # Sessions that end together sweep together: another may bury it while we look.
    children = [child.pid for child in psutil.Process().children()]
    return sum(_reaped(pid) for pid in children if _is(_is_dead_orphan, pid))


def _has_dead_child() -> bool:
    """Asked of the system at once; which one it is takes a look at all processes."""
    if sys.platform != "linux":
        return False
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _bearing(marks: Mapping[str, Collection[str]]) -> Callable[[int], bool]:
    """Whether a process has one of `marks` in its environment."""
    if sys.platform != "linux":
        return lambda pid: any(
            psutil.Process(pid).environ().get(name) in values for name, values in marks.items()
        )
    # Every process of the machine is looked at: reading the file is 20 times faster than psutil,
    # and most of them need not be taken apart.
    names = [f"{name}=".encode() for name in marks]
    wanted = {f"{name}={value}".encode() for name, values in marks.items() for value in values}

    def bears(pid: int) -> bool:
        environ = environ_of(pid)
        is_worth_a_look = any(name in environ for name in names)
        return is_worth_a_look and not wanted.isdisjoint(variables_in(environ))

    return bears


def _is_noted(pid: int, known: Mapping[int, int]) -> bool:
    if pid not in known:
        return False
    state, _, started = stat_of(pid)
    return started == known[pid] and state != _ZOMBIE


def _is_stray(pid: int) -> bool:
    if not CHILDREN.adopting or stat_of(pid)[1] != os.getpid() or not _adopted(pid):
        return False
    environ = environ_of(pid)
    return not any(f"{mark}=".encode() in environ for mark in (EXTENSION, HOOK, SESSION, LIFE))


def _adopted(pid: int) -> bool:
    process = psutil.Process(pid)
    ours = process.ppid() == os.getpid() and not _is_zombie(process)
    return ours and _is_orphan(pid)


def _is_orphan(pid: int) -> bool:
    """Of our children, those that nobody here started: agents' commands have sessions of their
    own (in the system's sense), and a child that somebody here gave one is in the list."""
    return pid not in CHILDREN.known and os.getsid(pid) != os.getsid(0)


def _is_dead_orphan(pid: int) -> bool:
    return _is_orphan(pid) and _is_zombie(psutil.Process(pid))


def _sweep(meant: Callable[[int], bool], but: Collection[int] = ()) -> int:
    """Kill until a look finds none: one that is being killed may just have started another."""
    swept: set[int] = set()
    for _ in range(_ROUNDS):
        marked = [pid for pid in psutil.pids() if _is(meant, pid)]
        # Only now: who our parents are takes longer than a look at all processes.
        spared = frozenset({*_ourselves(), *but}) if marked else frozenset[int]()
        found = [pid for pid in marked if pid not in spared]
        if not found:
            break
        swept.update(found)
        _kill(found, spared)
    reap_adopted()
    return len(swept)


def _is(meant: Callable[[int], bool], pid: int) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        return meant(pid)
    return False


def _ourselves() -> set[int]:
    process = psutil.Process()
    with contextlib.suppress(psutil.Error):
        return {process.pid, *(parent.pid for parent in process.parents())}
    return {process.pid}


def _kill(found: list[int], spared: Collection[int]) -> None:
    doomed: dict[int, psutil.Process] = {}
    for pid in _with_all_below(found):
        with contextlib.suppress(psutil.Error):
            doomed[pid] = psutil.Process(pid)
    dying = [process for pid, process in doomed.items() if pid not in spared]
    for process in dying:
        with contextlib.suppress(psutil.Error):
            process.kill()
    end = time.monotonic() + _GONE_SECONDS
    while time.monotonic() < end and not all(_is_gone(process) for process in dying):
        time.sleep(0.005)


def _with_all_below(found: Collection[int]) -> Collection[int]:
    """From one look at all processes, where that can be had: one for each of some hundred would
    leave them seconds to start more."""
    if sys.platform == "linux":
        table = process_table()
        family = Descendants({pid: table[pid][1] for pid in found if pid in table})
        family.look(table)
        return family.noted.keys()
    below: set[int] = {*found}
    for pid in found:
        with contextlib.suppress(psutil.Error):
            below |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
    return below


def _is_gone(process: psutil.Process) -> bool:
    try:
        if not _is_zombie(process):
            return False
    except psutil.Error:
        return True
    if CHILDREN.adopting and _is(_is_orphan, process.pid):
        _reaped(process.pid)  # a child that somebody here started is theirs to bury
    return True


def _is_zombie(process: psutil.Process) -> bool:
    return process.status() == psutil.STATUS_ZOMBIE


def _reaped(pid: int) -> bool:
    """A dead child of ours stays in the table until somebody asks for it."""
    if sys.platform == "win32":
        return False
    with contextlib.suppress(OSError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False
