"""A command in a cage, without a runtime: to see what holds."""

import asyncio
import contextlib
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.life import Caged, CageLife
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.system import system_facts
from airboss.runtime.cage.variables import caged_environment
from airboss.runtime.cage.watch import Limit

_OWNER = "airboss-cage-try"


@dataclass(frozen=True)
class Attempted:
    """How it went. `code` is 128 + n for signal n; `limit` is what it went over, if anything."""

    code: int
    output: bytes = b""
    errors: bytes = b""
    limit: Limit | None = None
    peak: int = 0


async def attempt(
    plan: CagePlan,
    data: Path,
    command: tuple[str, ...],
    *,
    doors: CageDoors | None = None,
    environ: Mapping[str, str] = os.environ,
    is_quiet: bool = True,
) -> Attempted:
    """Run `command` behind the walls of `plan`. Its words are kept, unless it is not quiet: then
    they go where ours do."""
    life = CageLife(plan, data, doors)
    outer = await life.open(Caged(command), environ)
    try:
        return await run(life, outer, environ, is_quiet=is_quiet)
    finally:
        await life.close()


async def run(
    life: CageLife, outer: tuple[str, ...], environ: Mapping[str, str], *, is_quiet: bool = True
) -> Attempted:
    """Start a cage that is open, and wait for its end."""
    facts = await asyncio.to_thread(system_facts)
    plan = life.plan
    variables = caged_environment(
        *(environ, plan.terms, plan.kind, life.folders, facts),
        owner=_OWNER,
        life=plan.key,
        way_out=life.has_way_out,
    )
    pipe = PIPE if is_quiet else None
    process = await asyncio.create_subprocess_exec(
        *outer, stdout=pipe, stderr=pipe, env=variables, start_new_session=is_quiet
    )
    watch = life.watch(process.pid)
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch.until_over())
            ended = group.create_task(process.communicate())
            await asyncio.wait({watching, ended}, return_when=asyncio.FIRST_COMPLETED)
            limit = watching.result() if watching.done() else None
            if limit is not None:
                _kill(process)
            watching.cancel()
            output, errors = await ended
    finally:
        _kill(process)
    code = process.returncode or 0
    return Attempted(128 - code if code < 0 else code, output, errors, limit, watch.peak)


def _kill(process: Process) -> None:
    """The outer process; the kernel ends the rest."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
