"""(o) A soak: the same work for an hour, at the end of which nothing has grown since the first
minutes but the disk.

Jobs, tasks by themselves, sessions with turns, commands, stops and viewers, all at once and again
and again. Twice it pauses until all is quiet: after five minutes (or a third of a shorter soak),
and at the end.
"""

import asyncio
import json
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import spread
from bench.portal import portal_session
from bench.processes import Taken, taken
from bench.table import Say
from bench.wire import Address, Caller, calling, viewing
from bench.workshop import Server, Source, airboss, rehearsal

DEFAULT = "1h"
WARM_SECONDS = 300.0
_QUIET_SECONDS = 10.0
_LOOK_SECONDS = 60.0
_OVER_SECONDS = 60.0
# What an allocator keeps for itself differs from look to look.
_MORE_MEMORY = 1.03
_MORE_MEGABYTES = 4.0
# One that listens and one that is being accepted at the very moment.
_MORE_DESCRIPTORS = 2

_SCRIPT = """
models: [{id: bench, name: Bench, multiplier: 0}]
rules:
  - when: "run something"
    steps:
      - call: {tool: bash, arguments: {command: "seq 2000", description: "count"}}
      - say: "Done."
  - when: "think for long"
    steps: [{sleep: 20}, {say: "Done."}]
  - steps: [{say: "%s"}]
""" % ("one two three " * 60)

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_ENDS = (b'"kind":"run.ended"', b'"kind":"task.ended"')

Work = Callable[[], Awaitable[None]]


def seconds_of(text: str) -> float:
    """Of `90s`, `10m` or `1h`."""
    known = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if known is None:
        raise ValueError(f"{text} is no time: write it as 90s, 10m or 1h.")
    return float(known[1]) * _UNITS[known[2]]


def _entry(folder: Path, source: Source) -> Path:
    path = folder / "entry.json"
    ref = {"kind": "Ref", "taskId": "talk", "modelOverride": {"category": "driving"}}
    work = {"kind": "Seq", "works": [ref, {"kind": "Par", "works": [ref] * 4}, ref]}
    tasks: dict[str, Any] = {
        name: {"model": {"category": "driving"}, "prompt": [text], "requireUserInput": False}
        for name, text in (("talk", "say it"), ("act", "run something"))
    }
    entry: dict[str, Any] = {
        "models": {"driving": f"{source.name}/{source.model}"},
        "promptVariables": {},
        "tasks": tasks,
        "jobs": {"whole": {"work": work}},
        "grid": [],
    }
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


async def _seen_through(address: Address, what: str) -> None:
    over = asyncio.Event()

    def hear(frame: bytes, _: int) -> None:
        if any(end in frame for end in _ENDS):
            over.set()

    async with viewing(address, what, 0, hear):
        await asyncio.wait_for(over.wait(), _OVER_SECONDS)


async def _job(server: Server, caller: Caller) -> None:
    run = await caller.post("/api/v1/runs", {"job": "whole", "cwd": str(server.work)})
    await _seen_through(server.address, f"runs/{run['id']}")
    await caller.get("/api/v1/runs?limit=20")


async def _task(server: Server, caller: Caller) -> None:
    run = await caller.post("/api/v1/task-runs", {"task": "act", "cwd": str(server.work)})
    await _seen_through(server.address, f"task-runs/{run['id']}")


async def _session(server: Server, source: Source) -> None:
    async with portal_session(server, source) as session:
        for text in ("say it", "run something", "say it"):
            await session.turn(text)


async def _stopped(server: Server, source: Source, caller: Caller) -> None:
    name = await server.open(caller, source)
    await caller.post(f"/api/v1/sessions/{name}/prompts", {"text": "think for long"})
    await asyncio.sleep(0.5)
    await caller.post(f"/api/v1/sessions/{name}/abort")
    await caller.post(f"/api/v1/sessions/{name}/close")


async def _again(work: Work, until: float) -> int:
    done = 0
    while time.monotonic() < until:
        await work()
        done += 1
    return done


async def _work(server: Server, source: Source, seconds: float) -> int:
    """All kinds at once, each one after another; how many there were."""
    until = time.monotonic() + seconds
    async with (
        calling(server.address) as jobs,
        calling(server.address) as tasks,
        calling(server.address) as stops,
        asyncio.TaskGroup() as group,
    ):
        kinds: tuple[Work, ...] = (
            partial(_job, server, jobs),
            partial(_task, server, tasks),
            partial(_session, server, source),
            partial(_stopped, server, source, stops),
        )
        going = [group.create_task(_again(kind, until)) for kind in kinds]
    return sum(one.result() for one in going)


async def _quiet(server: Server) -> Taken:
    """What it takes with nothing to do: the middle of a few looks."""
    await asyncio.sleep(_QUIET_SECONDS)
    looks: list[Taken] = []
    for _ in range(5):
        looks.append(taken(server.pid))
        await asyncio.sleep(1)
    return sorted(looks, key=lambda look: look.server)[len(looks) // 2]


def has_grown(early: Taken, late: Taken) -> list[str]:
    """What there is more of at the end, in words."""
    grown: list[str] = []
    if late.server > early.server * _MORE_MEMORY + _MORE_MEGABYTES:
        grown.append("memory")
    if late.descriptors > early.descriptors + _MORE_DESCRIPTORS:
        grown.append("descriptors")
    if late.threads > early.threads + _MORE_DESCRIPTORS:
        grown.append("threads")
    return grown


def _words(name: str, found: Taken) -> str:
    return (
        f"{name}: {found.server:.1f} MB, {found.descriptors} descriptors, {found.threads} threads "
        f"(its runtime {found.runtime:.0f} MB)"
    )


async def _soaked(server: Server, source: Source, seconds: float, say: Say) -> bool:
    warm = min(WARM_SECONDS, seconds / 3)
    done = await _work(server, source, warm)
    early = await _quiet(server)
    say(_words(f"after {warm / 60:.1f} min and {done} works", early))
    left, sizes = seconds - warm, list[float]()
    while left > 0:
        piece = min(_LOOK_SECONDS, left)
        done += await _work(server, source, piece)
        left -= piece
        found = taken(server.pid)
        sizes.append(found.server)
        say(_words(f"{left / 60:.1f} min left, {done} works", found))
    late = await _quiet(server)
    say(f"while it worked: {spread(sizes).words(' MB')}")
    say(_words(f"at the end, after {done} works", late))
    grown = has_grown(early, late)
    say(f"grown: {', '.join(grown)}" if grown else "nothing has grown")
    return not grown


async def soak(seconds: float, say: Say) -> bool:
    """Whether the server ended with what it had after the first minutes."""
    with tempfile.TemporaryDirectory(prefix="airboss-soak-") as place:
        folder = Path(place)
        async with rehearsal(folder, _SCRIPT) as source:
            entry = ("--entry", str(_entry(folder, source)))
            options = (*entry, "--permissions", "approve-all", "--max-tasks", "4")
            async with airboss(folder, source, options=options) as server:
                return await _soaked(server, source, seconds, say)
