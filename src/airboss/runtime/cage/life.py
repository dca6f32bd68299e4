"""One life of a cage: everything that must be there before its outer process is started.

The outer process is a shell that joins the control group and becomes bubblewrap, or in a narrow
cage the warden itself. What they have to do is in files that nobody inside can write.
"""

import asyncio
import marshal
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.errors import CageUnavailable
from airboss.runtime.cage import bundle, devices
from airboss.runtime.cage.ability import Ability, ability
from airboss.runtime.cage.autogroups import Autogroups
from airboss.runtime.cage.doors import HAND, CageDoors, Handover
from airboss.runtime.cage.etc import furnish
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.git_folders import closes_git, git_binds, git_refusal
from airboss.runtime.cage.group import PROCESSES, CageGroup, make_group
from airboss.runtime.cage.inside import landlock
from airboss.runtime.cage.lifeline import Lifeline
from airboss.runtime.cage.mount_points import clear_way
from airboss.runtime.cage.own_code import code_binds, own_code, refusal_to_work
from airboss.runtime.cage.pid_bound import bound_processes, can_bound
from airboss.runtime.cage.pins import Pin, Pins
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.profile import expanded, folder_refusal, links, refusals
from airboss.runtime.cage.programs import CagePrograms, Place
from airboss.runtime.cage.system import system_facts
from airboss.runtime.cage.walls import (
    DOORS,
    PROGRAMS,
    WARDEN,
    Bind,
    CageLayout,
    made_up_files,
    narrow_rules,
    own_places,
    strong_rules,
    strong_walls,
)
from airboss.runtime.cage.watch import CageWatch
from airboss.runtime.cage.written_folders import WrittenFolders

CONFIG: Final = "config"
_SHELL: Final = "/bin/sh"
# The group first, so that nothing of the cage is ever outside of it. Then, as nobody inside writes
# in /proc: where the memory of the machine runs out, the kernel ends a process of the cage first.
# What an agent has in sockets or pipes counts for none, and the server would be the largest.
_JOIN: Final = (
    'walls=$1; shift; while [ "$1" != -- ]; do echo $$ >"$1" || exit 96; shift; done; shift; '
    'echo 1000 >/proc/self/oom_score_adj || exit 96; exec "$@" 9<"$walls"'
)
# What the runtime hears and says is not bubblewrap's: its first process inside closes these, and
# could be looked into where the kernel has no Landlock.
_WIRE: Final = (7, 8)
_APART: Final = " 7<&0 8>&1 </dev/null >/dev/null"
_DESCRIPTORS: Final = 8192
# The server and people come first, as with the weight of a control group.
_NICE: Final = 10


@dataclass(frozen=True)
class Caged:
    """What runs inside, and what it needs there beside the profile's folders."""

    command: tuple[str, ...] = ()
    binds: tuple[Bind, ...] = ()


class CageLife:
    """From `open`, which says the command to start, to `close`, after that has ended."""

    def __init__(self, plan: CagePlan, data: Path, doors: CageDoors | None = None) -> None:
        self.plan = plan
        self.folders = CageFolders.of(Path(os.path.realpath(data)), plan.key)
        self._data = Path(os.path.realpath(data))
        # A narrow one has no network, and so no doors.
        has_doors = doors is not None and plan.kind == "strong"
        self._doors = doors if has_doors and doors is not None else CageDoors()
        self.has_way_out = self._doors.way_out is not None
        self.handover: Handover | None = None
        self.group: CageGroup | None = None
        # Whether the kernel does, also where there is no group.
        self.bounds_processes = False
        self.has_landlock = False
        self.has_git = False
        self._pins: Pins | None = None
        self._lifeline: Lifeline | None = None

    async def open(self, inside: Caged, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """The command that starts it; more arguments of what runs inside may come behind."""
        found = await asyncio.to_thread(ability, environ)
        must_hold(self.plan, found)
        try:
            await asyncio.to_thread(self.folders.make, self.plan.owner)
            place = await asyncio.to_thread(self._place)
            self.handover = Handover(self.folders.doors, self._doors, place, self._hold)
            self.handover.open()
            return await asyncio.to_thread(self._build, inside, found)
        except BaseException as error:
            await self.close()
            if isinstance(error, OSError):
                words = f"{error.filename or self.folders.root}: {error.strerror or error}"
                raise CageUnavailable(f"The cage could not be built: {words}.") from error
            raise

    def watch(self, outer: int) -> CageWatch:
        """`outer` is the process that the command became."""
        shares = self.group is not None and self.group.cpu is not None
        sessions = None if shares else Autogroups(outer, _NICE)
        return CageWatch(self.plan.terms, outer, self.group, self._written(), self._pins, sessions)

    def _written(self) -> tuple[Path, ...]:
        home = Path(os.path.realpath(Path.home()))
        named = (expanded(path, home) for path in self.plan.terms.write)
        return (self.folders.root, self.plan.cwd, *named)

    @property
    def programs(self) -> CagePrograms | None:
        """Starts programs inside, once the cage runs."""
        return None if self.handover is None else self.handover.programs

    def _hold(self, pid: int) -> None:
        """Blocking, while the warden waits: `pid` is its process."""
        is_strong = self.plan.kind == "strong"
        self._lifeline = Lifeline(pid, has_first=is_strong)
        has_bound = is_strong and self.group is None and can_bound()
        if has_bound:
            bound_processes(pid, self.plan.terms.processes)
        # NPROC bounds those of every other user than root.
        self.bounds_processes = has_bound or (is_strong and os.geteuid() != 0)

    async def close(self) -> None:
        if self.handover is not None:
            await self.handover.close()
        if self._lifeline is not None:
            self._lifeline.end()
        if self.group is not None:
            await asyncio.to_thread(self.group.remove)
        if self._pins is not None:
            self._pins.close()

    def _build(self, inside: Caged, found: Ability) -> tuple[str, ...]:
        plan, folders = self.plan, self.folders
        layout = self._layout(inside, found)
        furnish(folders.etc, layout.system, made_up_files(layout.system.author))
        for folder, place, source in own_places(layout) if plan.kind == "strong" else ():
            clear_way(folder, place, source)
        if plan.kind == "strong":
            self._pins = Pins(layout)
        options = strong_walls(layout) if plan.kind == "strong" else []
        folders.walls.write_text("".join(f"{word}\0" for word in options), encoding="utf-8")
        self.group = make_group(plan.key, plan.terms)
        (folders.doors / CONFIG).write_bytes(marshal.dumps(self._config(layout, inside)))
        groups = self.group.folders if self.group else ()
        script = _JOIN + (_APART if plan.kind == "strong" else "")
        join = (_SHELL, "-c", script, "cage", str(folders.walls))
        return (*join, *(str(folder / PROCESSES) for folder in groups), "--", *self._outer(found))

    def _outer(self, found: Ability) -> tuple[str, ...]:
        python = (str(system_facts().python), "-I", "-S", "-c", bundle.BEGIN)
        if self.plan.kind == "strong":
            bwrap = (found.bwrap or "bwrap", "--args", "9", "--")
            return (*devices.closing(), *bwrap, *python, str(WARDEN), str(DOORS / CONFIG))
        return (*python, str(bundle.FOLDER), str(self.folders.doors / CONFIG))

    def _layout(self, inside: Caged, found: Ability) -> CageLayout:
        plan, home = self.plan, Path(os.path.realpath(Path.home()))
        code = own_code()
        wrong = (*refusals(plan.terms, home, self._data, code), *links(plan.terms, home))
        why = folder_refusal(plan.cwd, home, self._data) or refusal_to_work(plan.cwd, code)
        if plan.kind == "strong":
            why = why or git_refusal(plan.cwd)
        closed = code_binds(plan.cwd, code)
        if closed and plan.kind == "narrow":
            why = "a part of Airboss itself is in it, and a narrow cage cannot close that"
        if os.path.realpath(plan.cwd) != str(plan.cwd):
            why = "it is not a real path, or became a link"
        if why:
            wrong = (f"The folder {plan.cwd} cannot be worked in from a cage: {why}.", *wrong)
        if wrong:
            raise CageUnavailable(" ".join(wrong))

        read = tuple(expanded(path, home) for path in plan.terms.read)
        write = tuple(expanded(path, home) for path in plan.terms.write)
        if missing := [str(path) for path in (*read, *write) if not path.exists()]:
            raise CageUnavailable(
                f"The profile {plan.profile} hands in what is not there: {', '.join(missing)}."
            )

        def refusal(path: Path) -> str | None:
            return folder_refusal(path, home, self._data)

        known = WrittenFolders(self._data)
        git = git_binds(plan.cwd, refusal, self.folders.worktrees, known, write)
        self.has_git = bool(git)
        known.note(plan.cwd, is_closed=plan.kind == "strong" and closes_git(plan.cwd, git))
        for folder in write:
            known.note(folder)
        return CageLayout(
            terms=plan.terms,
            cwd=plan.cwd,
            folders=self.folders,
            system=system_facts(),
            warden=bundle.FOLDER,
            read=read,
            write=write,
            runtime=inside.binds,
            code=closed,
            git=git,
            disables_namespaces=found.disables_namespaces,
            bounds_memory=found.bounds_memory,
        )

    def _mounted(self) -> tuple[Pin, ...]:
        return () if self._pins is None else self._pins.mounted

    def _place(self) -> Place:
        """Where files of programs are handed in, and what is there without that."""
        terms, facts, home = self.plan.terms, system_facts(), Path(os.path.realpath(Path.home()))
        named = tuple(expanded(path, home) for path in (*terms.read, *terms.write))
        seen = (self.plan.cwd, *named, *facts.folders, *facts.toolchains)
        here = self.folders.programs
        inside = PROGRAMS if self.plan.kind == "strong" else here
        return Place(here, inside, seen, written=(self.plan.cwd, *named))

    def _config(self, layout: CageLayout, inside: Caged) -> dict[str, object]:
        """What the warden reads."""
        plan, is_strong = self.plan, self.plan.kind == "strong"
        self.has_landlock = landlock.version() > 0
        rules = strong_rules(layout) if is_strong else narrow_rules(layout, landlock.NARROW_NEEDS)
        limits = {
            "FSIZE": plan.terms.file_mb << 20,
            # With 0 the kernel would still hand the core to a program of the system, outside.
            "CORE": 1,
            "NOFILE": _DESCRIPTORS,
            # Some users may go before all others, for sound.
            "RTPRIO": 0,
            "NICE": 0,
            # Without a namespace of users it would count what its user has anywhere.
            **({"NPROC": plan.terms.processes} if is_strong else {}),
        }
        return {
            "modules": bundle.modules(),
            "command": [*inside.command],
            "cwd": str(layout.cwd),
            "hand": str((DOORS if is_strong else self.folders.doors) / HAND),
            "ports": self.handover.ports if self.handover is not None else [],
            "network": is_strong,
            "wire": _WIRE if is_strong else (),
            "mounted": [(str(one.target), one.device, one.number) for one in self._mounted()],
            "drops_capabilities": True,
            "seccomp": True,
            "debuggers": plan.terms.debuggers,
            "landlock": {
                "needs": rules.needs,
                "read": [str(path) for path in rules.read],
                "write": [str(path) for path in rules.write],
                "listed": [str(path) for path in rules.listed],
            },
            "limits": limits,
            # Where a group holds it back, all in it are alike.
            "nice": 0 if self.group and self.group.cpu else _NICE,
        }


def must_hold(plan: CagePlan, found: Ability) -> None:
    """Refused rather than run with less than was asked for."""
    holds = {"strong": ("strong", "narrow"), "narrow": ("narrow",), "none": ()}[found.kind]
    if plan.kind not in holds:
        raise CageUnavailable(f"No {plan.kind} cage holds here. {found.why} {found.advice}".strip())
    if plan.kind == "narrow" and sys.platform == "linux":
        known = landlock.version()
        if known < landlock.NARROW_NEEDS:
            raise CageUnavailable(
                f"A narrow cage needs Landlock {landlock.NARROW_NEEDS}; this kernel has {known}."
            )
