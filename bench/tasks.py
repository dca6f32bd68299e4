"""(g) What a managed task costs, over the bare SDK that puts the same prompts to such sessions."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.bare import TURN_SECONDS, bare_client, bare_session
from bench.figures import Pairs, spread
from bench.table import Line, Say
from bench.turns import EMPTY, SECOND
from bench.wire import Caller, Failed, calling, event_of, viewing
from bench.workshop import Server, Source, airboss, rehearsal

if TYPE_CHECKING:
    from copilot import CopilotClient

CONDITION = "is it done? Call job_boolean_true or job_boolean_false."
AT_ONCE = 5
WARM_UP = 2
EMPTY_PAIRS = 100
SECOND_PAIRS = 50

_ENDED = b'"kind":"task.ended"'

Run = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Kind:
    """A task of the entry: a prompt, and a condition in the same session or on another model."""

    name: str
    what: str
    prompt: str
    has_several: bool

    @property
    def width(self) -> int:
        return AT_ONCE if self.prompt == SECOND else 1

    @property
    def rounds(self) -> int:
        return (SECOND_PAIRS if self.prompt == SECOND else EMPTY_PAIRS) // self.width

    def task(self) -> dict[str, Any]:
        criteria = {
            "condition": [CONDITION],
            "runConditionInSameSession": not self.has_several,
            "failureAction": {"retryTimes": 0},
        }
        return {
            "model": {"category": "work"},
            "prompt": [self.prompt],
            "requireUserInput": False,
            "criteria": criteria,
        }


KINDS = (
    Kind("one-empty", "a task on one model, empty", EMPTY, has_several=False),
    Kind("two-empty", "a task on two models, empty", EMPTY, has_several=True),
    Kind("one-second", "a task that streams for a second, on one model", SECOND, has_several=False),
    Kind("two-second", "a task that streams for a second, on two models", SECOND, has_several=True),
)


def _entry(folder: Path, source: Source) -> Path:
    path = folder / "entry.json"
    judge = source.others[0]
    models = {"driving": f"{source.name}/{judge}", "work": f"{source.name}/{source.model}"}
    entry: dict[str, Any] = {
        "models": models,
        "promptVariables": {},
        "tasks": {kind.name: kind.task() for kind in KINDS},
        "jobs": {},
        "grid": [],
    }
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


async def _bare(client: "CopilotClient", source: Source, work: Path, kind: Kind) -> None:
    """The same sessions, opened and closed in the same order, and the same prompts."""
    async with bare_session(client, source, work) as session:
        await session.turn(kind.prompt)
        if not kind.has_several:
            await session.turn(CONDITION)
    if kind.has_several:
        judge = replace(source, model=source.others[0])
        async with bare_session(client, judge, work) as session:
            await session.turn(CONDITION)


async def _portal(server: Server, caller: Caller, kind: Kind) -> None:
    """Started over HTTP, and over when a viewer of the run hears so."""
    frames: list[bytes] = []
    over = asyncio.Event()

    def hear(frame: bytes, _: int) -> None:
        frames.append(frame)
        if _ENDED in frame:
            over.set()

    run = await caller.post("/api/v1/task-runs", {"task": kind.name, "cwd": str(server.work)})
    async with viewing(server.address, f"task-runs/{run['id']}", 0, hear):
        await asyncio.wait_for(over.wait(), TURN_SECONDS)
    _check(kind, frames)


def _check(kind: Kind, frames: list[bytes]) -> None:
    """It did what the bare SDK is made to do."""
    events = [found["event"] for frame in frames if (found := event_of(frame))]
    sent = [event["text"] for event in events if event["kind"] == "task.mission.sent"]
    opened = sum(event["kind"] == "task.session.started" for event in events)
    if (sent, opened) != ([kind.prompt, CONDITION], 1 + kind.has_several):
        raise Failed(f"{kind.name} sent {sent} to {opened} sessions.")
    if events[-1].get("outcome") != "succeeded":
        raise Failed(f"{kind.name} ended with {events[-1]}.")


async def _timed(run: Run) -> float:
    began = time.perf_counter()
    await run()
    return 1000 * (time.perf_counter() - began)


async def _at_once(runs: list[Run]) -> list[float]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_timed(run)) for run in runs]
    return [task.result() for task in tasks]


async def _pairs(bare: list[Run], portal: list[Run], rounds: int) -> Pairs:
    """By turns, and who goes first changes each time."""
    found = Pairs()
    sides = ((found.bare, bare), (found.portal, portal))
    for number in range(-WARM_UP, rounds):
        for times, runs in sides[:: 1 if number % 2 else -1]:
            taken = await _at_once(runs)
            if number >= 0:
                times.extend(taken)
    return found


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    lines: list[Line] = []
    async with rehearsal(folder) as source:
        options = ("--entry", str(_entry(folder, source)))
        async with (
            airboss(folder, source, options=options) as server,
            bare_client(folder) as client,
        ):
            for kind in KINDS:
                bare = partial(_bare, client, source, server.work, kind)
                pairs = await _measured(
                    kind, bare, server, kind.rounds // 5 if quick else kind.rounds
                )
                lines.append(_line(kind, pairs))
                say(f"{kind.what}: {lines[-1].found}; {median(pairs.differences):.1f} ms added")
    return lines


async def _measured(kind: Kind, bare: Run, server: Server, rounds: int) -> Pairs:
    async with AsyncExitStack() as stack:
        portal: list[Run] = []
        for _ in range(kind.width):
            caller = await stack.enter_async_context(calling(server.address))
            portal.append(partial(_portal, server, caller, kind))
        return await _pairs([bare] * kind.width, portal, rounds)


def _line(kind: Kind, pairs: Pairs) -> Line:
    ratio = spread(pairs.ratios)
    crowd = f", {kind.width} at once" if kind.width > 1 else ""
    found = (
        f"{ratio.words(' times', 3)}; {spread(pairs.bare).words(' ms', 0)} bare, "
        f"{spread(pairs.portal).words(' ms', 0)} through Airboss; {len(pairs.bare)} pairs{crowd}"
    )
    return Line("g", kind.what, found, "≤ 1.10 times", ratio.middle <= 1.10)
