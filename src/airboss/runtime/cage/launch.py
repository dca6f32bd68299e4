"""A runtime behind walls: what of its start is different, and what is different while it runs."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from airboss.errors import CageUnavailable
from airboss.runtime.cage.life import Caged, CageLife
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.programs import CagePrograms, ProgramNotStarted
from airboss.runtime.cage.system import system_facts
from airboss.runtime.cage.variables import caged_environment
from airboss.runtime.cage.walls import RUNTIME, STATE, Bind, same
from airboss.runtime.cage.watch import CageWatch, Limit, in_words
from airboss.runtime.connection import ClientPlan
from airboss.runtime.launcher import top_of
from airboss.runtime.locate import Located
from airboss.runtime.runtime_plan import RuntimePlan
from airboss.runtime.supervisor import stat_of

_HAND_SECONDS: Final = 5.0


@dataclass(frozen=True)
class CageNews:
    """What there is to tell of a cage. `group` is the version of its control group: without one,
    a watch holds its limits, alone or beside the kernel's bound on processes. `peak` is the most
    memory that it has used so far, in bytes."""

    what: Literal["opened", "limit", "closed"]
    plan: CagePlan
    limit: Limit | None = None
    group: int | None = None
    bounds_processes: bool = False
    has_landlock: bool = False
    has_git: bool | None = None
    peak: Callable[[], int] = lambda: 0


@dataclass(frozen=True)
class RunningCage:
    """The cage of a runtime that runs. `reaper` is the parent of its orphans."""

    life: CageLife
    watch: CageWatch
    pid: int
    reaper: int

    @property
    def programs(self) -> CagePrograms:
        """Starts programs in it."""
        programs = self.life.programs
        if programs is None or not programs.is_open:
            raise ProgramNotStarted("The cage has ended.")
        return programs

    async def ended_by(self) -> tuple[Limit, str] | None:
        """The same of one that has ended, where the kernel did it."""
        limit = await asyncio.to_thread(self.watch.ended_by)
        return limit and (limit, in_words(limit, self.life.plan.terms))

    async def until_over(self) -> tuple[Limit, str]:
        """The limit that it has gone over, with the words for it."""
        limit = await self.watch.until_over()
        return limit, in_words(limit, self.life.plan.terms)

    def news(
        self, what: Literal["opened", "limit", "closed"], over: Limit | None = None
    ) -> CageNews:
        group = self.life.group
        version = None if group is None else group.version
        return CageNews(
            *(what, self.life.plan, over, version, self.life.bounds_processes),
            *(self.life.has_landlock, self.life.has_git),
            peak=lambda: self.watch.peak,
        )


@dataclass(frozen=True)
class CagedLaunch:
    """A cage that is built, and in which nothing runs yet."""

    life: CageLife
    client: ClientPlan

    async def entered(self, child: int, outer: int) -> RunningCage:
        """It runs: `child` is what we started, and `outer` the process below it. Which one the
        runtime is, the kernel said when the warden handed its doors out."""
        handover = self.life.handover
        if handover is None:
            raise CageUnavailable("The cage was not opened.")
        async with asyncio.timeout(_HAND_SECONDS):
            pid = await handover.pid
        return RunningCage(self.life, self.life.watch(outer), pid, stat_of(pid)[1])


async def caged_launch(
    plan: RuntimePlan, cage: CagePlan, located: Located, program: Path, note: Path, mark: str
) -> CagedLaunch:
    """`program` is the copy that cannot be read."""
    if plan.outside is not None:
        raise CageUnavailable(
            "An agent runtime that somebody else started (runtime_url) cannot be put in a cage."
        )
    life = CageLife(cage, plan.folder, plan.doors(cage))
    inside = await asyncio.to_thread(_inside, cage, located, program)
    command = await life.open(inside, plan.environ)
    environ = caged_environment(
        *(plan.environ, cage.terms, cage.kind, life.folders),
        await asyncio.to_thread(system_facts),
        owner=plan.owner,
        life=mark,
        secrets=plan.secrets,
        secret_names=plan.secret_names,
        way_out=life.has_way_out,
    )
    state = STATE if cage.kind == "strong" else life.folders.state
    client = ClientPlan(
        *(program, note, state, environ, False, None),
        folder=life.folders.root,
        outer=command,
        request_handler=plan.request_handler,
    )
    return CagedLaunch(life, client)


def _inside(cage: CagePlan, located: Located, program: Path) -> Caged:
    """The runtime with the files around it. Of a single file only that."""
    original = Path(os.path.realpath(located.path))
    top = top_of(original) if located.native else original
    if cage.kind == "narrow":
        return Caged((str(program),), (same(top), same(_place_of(program, original, top))))
    if not located.native:
        return Caged((str(RUNTIME / original.name),), (Bind(program, RUNTIME / original.name),))
    target = RUNTIME / original.relative_to(top)
    copied = () if program == original else (Bind(program, target),)
    return Caged((str(target),), (Bind(top, RUNTIME), *copied))


def _place_of(program: Path, original: Path, top: Path) -> Path:
    """The folder of the copy, with the links to what lies around the original."""
    if program in (original, top):
        return program
    depth = len(original.relative_to(top).parts) if top != original else 1
    return program.parents[depth - 1]
