"""(i) What a job of tasks costs, over the bare SDK that puts the same prompts to fresh sessions."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil

from bench.bare import TURN_SECONDS, bare_client, bare_session
from bench.figures import Pairs, spread
from bench.table import Line, Say
from bench.turns import EMPTY, SECOND
from bench.wire import Caller, Failed, calling, event_of, viewing
from bench.workshop import Server, Source, airboss, rehearsal

if TYPE_CHECKING:
    from copilot import CopilotClient

TASKS = 20
# Of tasks that take a second fewer are enough, in order.
FEW = 3
WARM_UP = 1
# No task takes as long as this, on a busy machine either.
TASK_SECONDS = 2.0
JOBS_A_SIDE = 10
GROWTH = (10, 100, 1000)

_ENDED = b'"kind":"run.ended"'

Run = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Kind:
    """A job of the same task, so many times, in order or all at once."""

    name: str
    what: str
    prompt: str
    count: int
    is_at_once: bool
    goal: str

    def work(self) -> dict[str, Any]:
        ref = {"kind": "Ref", "taskId": self.prompt, "modelOverride": {"category": "driving"}}
        return {"kind": "Par" if self.is_at_once else "Seq", "works": [ref] * self.count}


IN_ORDER = Kind("order-empty", f"{TASKS} empty tasks in order", EMPTY, TASKS, False, "≤ 15 ms each")
AT_ONCE = Kind("once-empty", f"{TASKS} empty tasks at once", EMPTY, TASKS, True, "≤ 8 ms CPU each")
KINDS = (
    IN_ORDER,
    AT_ONCE,
    Kind("order-second", f"{FEW} tasks of a second in order", SECOND, FEW, False, "≤ 1.05 times"),
    Kind("once-second", f"{TASKS} tasks of a second at once", SECOND, TASKS, True, "≤ 1.10 times"),
)
# For rows with a model of their own.
ONE_TASK = Kind("one", "a task", EMPTY, 1, False, "")
FEW_TASKS = Kind("few", f"{FEW} tasks in order", EMPTY, FEW, False, "")


def entry_in(folder: Path, source: Source) -> Path:
    path = folder / "entry.json"
    grown = [
        Kind(f"grown-{count}", "", EMPTY, count, is_at_once=False, goal="") for count in GROWTH
    ]
    kinds = (*KINDS, *grown, ONE_TASK, FEW_TASKS)
    entry: dict[str, Any] = {
        "models": {"driving": f"{source.name}/{source.model}"},
        "promptVariables": {},
        "tasks": {p: {"prompt": [p], "requireUserInput": False} for p in (EMPTY, SECOND)},
        "jobs": {kind.name: {"work": kind.work()} for kind in kinds},
        "grid": [],
    }
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


async def _bare(client: "CopilotClient", source: Source, work: Path, kind: Kind) -> None:
    async def one() -> None:
        async with bare_session(client, source, work) as session:
            await session.turn(kind.prompt)

    if not kind.is_at_once:
        for _ in range(kind.count):
            await one()
        return
    async with asyncio.TaskGroup() as group:
        for _ in range(kind.count):
            group.create_task(one())


async def through_portal(server: Server, caller: Caller, job: str, count: int) -> None:
    """Started over HTTP, and over when a viewer of the run hears so."""
    frames: list[bytes] = []
    over = asyncio.Event()

    def hear(frame: bytes, _: int) -> None:
        frames.append(frame)
        if _ENDED in frame:
            over.set()

    run = await caller.post("/api/v1/runs", {"job": job, "cwd": str(server.work)})
    async with viewing(server.address, f"runs/{run['id']}", 0, hear):
        await asyncio.wait_for(over.wait(), TURN_SECONDS + count * TASK_SECONDS)
    events = [found["event"] for frame in frames if (found := event_of(frame))]
    done = sum(event["kind"] == "run.work.stopped" for event in events)
    if done != count or events[-1].get("outcome") != "succeeded":
        raise Failed(f"{job} ended with {done} works and {events[-1]}.")


async def _timed(run: Run) -> float:
    began = time.perf_counter()
    await run()
    return 1000 * (time.perf_counter() - began)


async def _pairs(bare: Run, portal: Run, rounds: int, server: Server) -> tuple[Pairs, float]:
    """By turns, and who goes first changes each time; and how much more CPU a job takes in our
    process than in one that only has the SDK, in ms."""
    found, spent = Pairs(), 0.0
    ours, theirs = psutil.Process(server.pid), psutil.Process()
    for number in range(-WARM_UP, rounds):
        for is_ours in (True, False) if number % 2 else (False, True):
            process = ours if is_ours else theirs
            before = _cpu(process)
            taken = await _timed(portal if is_ours else bare)
            if number >= 0:
                (found.portal if is_ours else found.bare).append(taken)
                spent += (_cpu(process) - before) * (1 if is_ours else -1)
    return found, spent / rounds


def _cpu(process: psutil.Process) -> float:
    """Of this process alone, without the runtime and the model."""
    times = process.cpu_times()
    return 1000 * (times.user + times.system)


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    lines: list[Line] = []
    async with rehearsal(folder) as source:
        options = ("--entry", str(entry_in(folder, source)), "--max-tasks", str(TASKS))
        async with (
            airboss(folder, source, options=options) as server,
            bare_client(folder) as client,
            calling(server.address) as caller,
        ):
            for kind in KINDS:
                bare = partial(_bare, client, source, server.work, kind)
                portal = partial(through_portal, server, caller, kind.name, kind.count)
                rounds = 3 if quick else JOBS_A_SIDE
                pairs, cpu = await _pairs(bare, portal, rounds, server)
                lines.append(_line(kind, pairs, cpu))
                say(f"{kind.what}: {lines[-1].found}")
            lines.append(await _growth(server, caller, quick, say))
    return lines


def _line(kind: Kind, pairs: Pairs, cpu: float) -> Line:
    ratio = spread(pairs.ratios)
    added = median(pairs.differences) / kind.count
    cpu_each = cpu / kind.count
    found = (
        f"{ratio.words(' times', 3)}; {added:.1f} ms added and {cpu_each:.1f} ms more CPU a task; "
        f"{len(pairs.bare)} jobs a side"
    )
    met = {
        IN_ORDER.name: added <= 15,
        AT_ONCE.name: cpu_each <= 8,
        "order-second": ratio.middle <= 1.05,
        "once-second": ratio.middle <= 1.10,
    }[kind.name]
    return Line("i", kind.what, found, kind.goal, met)


async def _growth(server: Server, caller: Caller, quick: bool, say: Say) -> Line:
    """Runs of ten to a thousand tasks in order: the time of one stays the same."""
    each: list[float] = []
    process = psutil.Process(server.pid)
    before = process.memory_info().rss
    counts = GROWTH[:-1] if quick else GROWTH
    for count in counts:
        taken = await _timed(partial(through_portal, server, caller, f"grown-{count}", count))
        each.append(taken / count)
        say(f"a run of {count}: {each[-1]:.0f} ms a task")
    grown = (process.memory_info().rss - before) / 1_000_000
    each_words = ", ".join(f"{ms:.0f}" for ms in each)
    what = f"a run of {', '.join(str(count) for count in counts)} tasks in order"
    found = f"{each_words} ms a task; {grown:+.0f} MB"
    return Line("i", what, found, "flat", max(each[1:]) <= 1.2 * each[0])
