"""The control group of a cage: the kernel's bound on its memory and its processes.

Version 2 where a folder of it is ours to use, else version 1 for root. Where there is neither, a
watch looks after the cage instead.
"""

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile

_NEEDED: Final = frozenset({"memory", "pids"})
_SHARING: Final = frozenset({"cpu"})
# An eighth of what a group gets that nobody says anything of: where the processors are busy, the
# server and people come first, however many processes a cage has. With a quarter, a command that
# prints without end kept the server's loop waiting for a processor for hundreds of milliseconds. A
# quiet machine is all its own.
_SHARES: Final = 128
_WEIGHT: Final = 12
_PREFIX: Final = "airboss-"
PROCESSES: Final = "cgroup.procs"
_KILL: Final = "cgroup.kill"
_LOOK_SECONDS: Final = 0.01
# Two servers may have cages of one name, and so may two lives whose ends overlap.
_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True)
class GroupUsage:
    """`killed` are processes that the kernel ended for want of memory."""

    memory: int = 0
    peak: int = 0
    tasks: int = 0
    killed: int = 0


@dataclass(frozen=True)
class CageGroup:
    """One folder in version 2; in version 1, one for each controller."""

    memory: Path
    pids: Path
    # Where there is this one, too: all in it share what it gets of the processors.
    cpu: Path | None = None

    @property
    def version(self) -> int:
        return 2 if self.memory == self.pids else 1

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(filter(None, (self.memory, self.pids, self.cpu))))

    def usage(self) -> GroupUsage:
        """Blocking."""
        if self.version == 2:
            return GroupUsage(
                _number(self.memory / "memory.current"),
                _number(self.memory / "memory.peak"),
                _number(self.pids / "pids.current"),
                _counts(self.memory / "memory.events").get("oom_kill", 0),
            )
        return GroupUsage(
            _number(self.memory / "memory.usage_in_bytes"),
            _number(self.memory / "memory.max_usage_in_bytes"),
            _number(self.pids / "pids.current"),
            _counts(self.memory / "memory.oom_control").get("oom_kill", 0),
        )

    def remove(self, seconds: float = 2.0) -> None:
        """Blocking. With all that is left in it: of a cage without namespaces what hides from a
        sweep. The kernel may take a moment for that."""
        self._kill()
        until = time.monotonic() + seconds
        left = [folder for folder in self.folders if not _removed(folder)]
        while left and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
            left = [folder for folder in left if not _removed(folder)]

    def _kill(self) -> None:
        if (self.pids / _KILL).exists():
            with contextlib.suppress(OSError):
                (self.pids / _KILL).write_text("1", encoding="ascii")
            return
        for pid in map(int, _text(self.pids / PROCESSES).split()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def make_group(name: str, terms: CageProfile, root: Path = Path("/")) -> CageGroup | None:
    """Blocking. None where this system gives us none."""
    mounted = list(_mounts(_text(root / "proc/self/mountinfo")))
    ours = _ours(_text(root / "proc/self/cgroup"))
    folder = f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}-{name}"
    try:
        return _second(folder, terms, mounted, ours, root) or _first(
            folder, terms, mounted, ours, root
        )
    except OSError:
        return None


def group_version() -> int | None:
    """Blocking. Of the control groups that cages get here; none where there are none."""
    made = make_group("look", CageProfile())
    if made is None:
        return None
    made.remove()
    return made.version


def _second(
    name: str,
    terms: CageProfile,
    mounted: list[tuple[str, frozenset[str], str]],
    ours: Mapping[str, str],
    root: Path,
) -> CageGroup | None:
    mount = next((point for kind, _, point in mounted if kind == "cgroup2"), None)
    if mount is None or "" not in ours:
        return None
    top = root / mount.lstrip("/")
    place = top / ours[""].lstrip("/")
    for parent in (place, *place.parents):
        given = frozenset(_text(parent / "cgroup.subtree_control").split())
        if given >= _NEEDED and os.access(parent / PROCESSES, os.W_OK):
            folder = parent / name
            with _whole(folder):
                _say(folder / "memory.max", terms.memory_mb << 20)
                _say(folder / "pids.max", terms.processes)
                for file, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
                    if (folder / file).exists():
                        _say(folder / file, value)
                if given >= _SHARING:
                    _say(folder / "cpu.weight", _WEIGHT)
            return CageGroup(folder, folder, folder if given >= _SHARING else None)
        if parent == top:
            break
    return None


def _first(
    name: str,
    terms: CageProfile,
    mounted: list[tuple[str, frozenset[str], str]],
    ours: Mapping[str, str],
    root: Path,
) -> CageGroup | None:
    parents: dict[str, Path] = {}
    for kind, options, point in mounted:
        for controller in (_NEEDED | _SHARING) & options:
            if kind == "cgroup" and controller in ours:
                parents[controller] = root / f"{point}{ours[controller]}".strip("/")
    if not parents.keys() >= _NEEDED:
        return None
    sharing = [parents[one] / name for one in _SHARING if one in parents]
    group = CageGroup(parents["memory"] / name, parents["pids"] / name, *sharing)
    with _whole(group.memory):
        _say(group.memory / "memory.limit_in_bytes", terms.memory_mb << 20)
        with contextlib.suppress(OSError):  # without swap there is no such file
            _say(group.memory / "memory.memsw.limit_in_bytes", terms.memory_mb << 20)
        with _whole(group.pids):
            _say(group.pids / "pids.max", terms.processes)
            if group.cpu is not None:
                with _whole(group.cpu):
                    _say(group.cpu / "cpu.shares", _SHARES)
    return group


@contextlib.contextmanager
def _whole(folder: Path) -> Generator[None]:
    """A new group with its limits, or none at all."""
    _forget_the_dead(folder.parent)
    folder.mkdir()
    try:
        yield
    except OSError:
        _removed(folder)
        raise


def _forget_the_dead(parent: Path) -> None:
    """Groups of servers that were killed. Those of the living may be empty for a moment."""
    for left in parent.glob(f"{_PREFIX}*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            _removed(left)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _mounts(said: str) -> Iterable[tuple[str, frozenset[str], str]]:
    """Kind, options and place of each file system that is mounted."""
    for line in said.splitlines():
        before, _, after = line.partition(" - ")
        place, kind = before.split()[4], after.split()
        if kind[0].startswith("cgroup"):
            yield kind[0], frozenset(kind[2].split(",")), place


def _ours(said: str) -> dict[str, str]:
    """Our own group, by controller; by nothing in version 2."""
    found: dict[str, str] = {}
    for line in said.splitlines():
        _, controllers, path = line.split(":", 2)
        found.update(dict.fromkeys(controllers.split(","), path))
    return found


def _say(file: Path, value: int) -> None:
    file.write_text(f"{value}\n", encoding="ascii")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""


def _number(file: Path) -> int:
    said = _text(file).strip()
    return int(said) if said.isdecimal() else 0


def _counts(file: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(file).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
