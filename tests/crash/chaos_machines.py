"""The chaos trial with many machines: random jobs on three workers and two portals, while any of
them is killed, stopped or cut off, and PostgreSQL goes away (`make chaos ARGS=--machines`)."""

import asyncio
import contextlib
import json
import random
import statistics
import sys
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import httpx2
import psycopg

from tests.crash.chaos_checks import Evidence, Finding, read_lines
from tests.crash.chaos_errands import JOBS, RULES, TASKS, Errands
from tests.crash.chaos_house import House, Seat, house_in, together
from tests.crash.chaos_moves import check_moved, heads_of, left_behind, told_of
from tests.crash.chaos_tree import Tree
from tests.crash.chaos_watch import RUN, Watch, all_sessions, read_all
from tests.crash.marks import left_of, soon
from tests.nursery import close_the_nursery
from tests.postgres import Mode, Postgres, running_postgres

FaultKind: TypeAlias = Literal[
    "kill", "end", "stop", "swallow", "refuse", "restart", "crash", "clock"
]

LEASE: Final = 3.0
AT_ONCE: Final = 4
# So many rounds have the same processes, as far as those live.
ROUNDS: Final = 5
_STUCK_SECONDS: Final = 120.0
_HOUR: Final = 3600.0
_WORDS: Final[dict[FaultKind, str]] = {
    "kill": "`kill -9`",
    "end": "SIGTERM",
    "stop": "SIGSTOP",
    "swallow": "cuts that swallow",
    "refuse": "cuts that refuse",
    "restart": "restarts of PostgreSQL (fast)",
    "crash": "restarts of PostgreSQL (immediate)",
    "clock": "jumps of a clock by an hour",
}
_KINDS: Final[tuple[FaultKind, ...]] = (*_WORDS,)
# How often each of these comes.
_OFTEN: Final = (6, 2, 4, 4, 3, 1, 1, 2)
# So often whoever works is meant, and else anybody.
_BUSY: Final = 0.6
_MODES: Final[dict[str, Mode]] = {"restart": "fast", "crash": "immediate"}
_BUSY_NOW: Final = """
SELECT DISTINCT workers.name FROM streams JOIN workers ON workers.id = streams.owner
JOIN views USING (stream) WHERE stream = ANY(%s) AND views.state = 'running' ORDER BY 1
"""
# Where the fence is out, these do not end themselves, nor does a guard of theirs: others count them
# as lost, and they work on.
DEAF_ONES: Final = ("portal-1", "worker-1", "worker-2")


@dataclass(frozen=True)
class Fault:
    kind: FaultKind
    # Nobody is named: one that works on a run by then.
    seat: str | None
    # Behind the one before.
    after: float
    seconds: float


def planned_faults(seed: int, most: int, names: list[str], lease: float = LEASE) -> list[Fault]:
    chance = random.Random(f"faults {seed}")  # noqa: S311
    faults: list[Fault] = []
    for _ in range(chance.randint(min(2, most), most)):
        kind = chance.choices(_KINDS, _OFTEN)[0]
        if kind in _MODES and any(one.kind in _MODES for one in faults):
            kind = "kill"
        match kind:
            case "kill" | "end":
                # Some are back at once, others when their runs have moved.
                seconds = chance.choice((0.1, 0.1, 1, 4, 7))
            case "restart" | "crash":
                seconds = chance.choice((chance.uniform(0.5, 1.5), chance.uniform(1, 10)))
            case "clock":
                seconds = chance.choice((-_HOUR, _HOUR))
            case _:
                seconds = chance.uniform(0.5, 3) * lease
        after = chance.choice((chance.uniform(0, 0.5), chance.uniform(0.5, 4)))
        seat = None if chance.random() < _BUSY else chance.choice(names)
        faults.append(Fault(kind, seat, after, seconds))
    return faults


@dataclass
class MachineTrial:
    """One run, and what became of it."""

    tree: Tree
    house: House
    watches: list[Watch]
    run: str = ""
    moves: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    # By the kind of what was done to the machine that had it: seconds until it was another's.
    moved: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    @property
    def cwd(self) -> Path:
        return self.house.shared / str(self.tree.seed)

    async def accept(self) -> None:
        """The same request until it is answered, of any portal: it is one run."""
        self.cwd.mkdir()
        request = {"job": self.tree.job, "cwd": str(self.cwd)}
        key = {"Idempotency-Key": f"trial {self.tree.seed}"}
        door = self.tree.seed
        async with asyncio.timeout(_STUCK_SECONDS):
            while not self.run:
                client = self.watches[door % 2].client
                with contextlib.suppress(httpx2.HTTPError):
                    answer = await client.post("/api/v1/runs", json=request, headers=key)
                    if answer.is_success:
                        self.run = str(answer.json()["id"])
                    elif answer.status_code < 500:
                        raise AssertionError(answer.text)
                door += 1
        for watch in self.watches:
            watch.follow(RUN, self.run)

    async def conclude(self) -> None:
        try:
            over = [watch.over(_STUCK_SECONDS) for watch in self.watches]
            if not all(await together(*over)):
                state = await self.watches[0].client.get(f"/api/v1/runs/{self.run}")
                self.findings.append(Finding("wrong", f"{self.run} does not end: {state.text}"))
                return
            for watch in self.watches:
                if not await watch.all_over(15):
                    open_ = [s.name for s in watch.streams.values() if not s.is_over]
                    self.findings.append(Finding("left", f"these streams have no end: {open_}"))
            await self._check()
        except (AssertionError, httpx2.HTTPError, OSError, psycopg.Error, TimeoutError) as error:
            self.findings.append(Finding("wrong", f"the trial broke off: {error!r}"))

    async def _check(self) -> None:
        first, second = self.watches
        followed = dict(first.streams)
        names = list(followed)
        client = second.client
        found = Evidence(
            tree=self.tree,
            state=(await client.get(f"/api/v1/runs/{self.run}")).json()["state"],
            stored={name: await read_all(client, s.kind, name) for name, s in followed.items()},
            followed=followed,
            sessions=[one for one in await all_sessions(client) if one["id"] in followed],
            lines=read_lines(self.cwd / "lines.txt"),
        )
        told = await told_of(self.house, self.run, names)
        self.moves = len(told.moves)
        heads = await heads_of(self.house, names)
        self.findings += check_moved(found, told, dict(second.streams), heads)
        self.findings += await self._views(names)
        self.findings += await left_behind(self.house, self.run, [v["id"] for v in found.sessions])
        began = next(one.at for one in told.rows if one.stream == self.run)
        self.moved += self._times(found.run, [began, *(one.at for one in told.moves)])

    async def _views(self, names: list[str]) -> list[Finding]:
        """No portal knows more than another."""
        found: list[Finding] = []
        for name in names:
            path = f"/api/v1/{self.watches[0].streams[name].kind}/{name}"
            one, other = [(await watch.client.get(path)).json() for watch in self.watches]
            if one != other:
                found.append(Finding("viewer", f"{name} is {one} here and {other} there"))
        return found

    def _times(self, events: list[Any], at: list[int]) -> Iterator[tuple[str, float]]:
        """`at`: when the run began, and each of its moves. What was done to a machine before it had
        the run was not what moved it."""
        moves = [one["event"] for one in events if one["event"]["kind"] == "run.moved"]
        for move, (since, when) in zip(moves, pairwise(at), strict=True):
            done = [
                (began, kind)
                for began, kind, seat in self.house.done
                if seat == move["from"] and since <= began <= when
            ]
            if done:
                began, kind = max(done)
                yield kind, (when - began) / 1000

    async def close(self) -> None:
        for watch in self.watches:
            await watch.close()


@dataclass
class Round:
    """Some runs at the same time, and what is done to their machines meanwhile."""

    house: House
    seeds: list[int]
    most: int
    names: list[str]
    lease: float = LEASE
    trials: list[MachineTrial] = field(default_factory=list[MachineTrial])
    faults: Counter[str] = field(default_factory=Counter[str])
    asked: int = 0

    @cached_property
    def chance(self) -> random.Random:
        return random.Random(f"round {self.seeds[0]}")  # noqa: S311

    async def play(self) -> None:
        for seed in self.seeds:
            watches = [Watch(portal) for portal in self.house.portals]
            for watch in watches:
                await watch.meet()
            self.trials.append(MachineTrial(tree_of(seed), self.house, watches))
        doors = [watch.client for watch in self.trials[0].watches]
        errands = Errands(self.house, self.seeds[0], doors)
        asking: asyncio.Task[None] | None = None
        try:
            await together(*(trial.accept() for trial in self.trials))
            asking = asyncio.create_task(errands.run())
            await self._disturb()
            await together(*(one.watches[0].over(_STUCK_SECONDS) for one in self.trials))
            errands.finish()
            await asking
            self.asked = errands.asked
            if not await self.house.whole():
                ends = {name: seat.ends for name, seat in self.house.seats.items()}
                self.trials[0].findings.append(Finding("left", f"not all came back: {ends}"))
            for trial in self.trials:
                await trial.conclude()
            self.trials[0].findings += await errands.check()
        except (AssertionError, httpx2.HTTPError, OSError, psycopg.Error, TimeoutError) as error:
            self.trials[0].findings.append(Finding("wrong", f"the round broke off: {error!r}"))
        finally:
            if asking is not None:
                asking.cancel()
                await asyncio.wait({asking})
            for trial in self.trials:
                await trial.close()

    async def _disturb(self) -> None:
        """One behind the other, and beside it where it takes longer."""
        async with asyncio.TaskGroup() as group:
            for fault in planned_faults(self.seeds[0], self.most, self.names, self.lease):
                await asyncio.sleep(fault.after)
                if all(trial.watches[0].is_over for trial in self.trials):
                    break
                self.faults[fault.kind] += 1
                seat = self.house.seats[fault.seat or await self._busy()]
                self.house.done.append((time.time_ns() // 1_000_000, fault.kind, seat.name))
                group.create_task(_do(self.house, fault, seat))

    async def _busy(self) -> str:
        runs = [trial.run for trial in self.trials]
        names = [name for (name,) in await self.house.rows(_BUSY_NOW, runs)]
        return self.chance.choice(names or self.names)


async def _do(house: House, fault: Fault, seat: Seat) -> None:
    match fault.kind:
        case "kill":
            await house.kill(seat, fault.seconds)
        case "end":
            await house.terminate(seat, fault.seconds)
        case "stop":
            await house.stop(seat, fault.seconds)
        case "swallow" | "refuse":
            await house.cut(seat, fault.seconds, swallows=fault.kind == "swallow")
        case "restart" | "crash":
            await house.restart_postgres(_MODES[fault.kind], fault.seconds)
        case "clock":
            seat.set_clock(fault.seconds)


def tree_of(seed: int) -> Tree:
    return Tree(seed, prefix=f"s{seed}")


def entry_of(trees: list[Tree]) -> dict[str, Any]:
    """One for all of them: their names differ."""
    entries = [json.loads(tree.entry) for tree in trees]
    return {
        **entries[0],
        "tasks": {**TASKS, **{k: v for one in entries for k, v in one["tasks"].items()}},
        "jobs": {**JOBS, **{k: v for one in entries for k, v in one["jobs"].items()}},
    }


def script_of(trees: list[Tree]) -> str:
    rules = [rule for tree in trees for rule in tree.rules]
    models = [{"id": "driver"}, {"id": "other"}]
    return json.dumps({"models": models, "rules": [*RULES, *rules, {"steps": [{"say": "So."}]}]})


# The table.


@dataclass
class MachineTally:
    """What many trials came to."""

    trials: list[MachineTrial] = field(default_factory=list[MachineTrial])
    faults: Counter[str] = field(default_factory=Counter[str])
    asked: int = 0
    restarts: int = 0
    # What was left when a house was closed.
    left: list[Finding] = field(default_factory=list[Finding])

    @property
    def findings(self) -> list[Finding]:
        return [*self.left, *(one for trial in self.trials for one in trial.findings)]

    def count(self, *kinds: str) -> int:
        return sum(finding.kind in kinds for finding in self.findings)

    def table(self) -> str:
        works = sum(len(trial.tree.outcome.works) for trial in self.trials)
        told = ", ".join(f"{n} {_WORDS[k]}" for k in _WORDS if (n := self.faults[k]))
        rows: list[tuple[str, object]] = [
            ("trials, each a run", len(self.trials)),
            ("tasks in them", works),
            ("faults", f"{self.faults.total()}: {told}"),
            ("lives of processes", self.restarts),
            ("takeovers", sum(trial.moves for trial in self.trials)),
            ("asked through one of the portals", self.asked),
            ("lost events", self.count("lost")),
            ("repeated tasks", self.count("repeated")),
            ("wrong outcomes", self.count("wrong")),
            ("lines behind an attempt's end", self.count("late")),
            ("events or lines of a former owner", self.count("former")),
            ("viewers who saw something else than the table has", self.count("viewer")),
            ("commands that counted twice, or not at all", self.count("command")),
            ("sessions, processes, rows or locks left", self.count("left")),
            *self._moved(),
        ]
        body = "\n".join(f"| {name} | {found} |" for name, found in rows)
        return f"| measured | found |\n| --- | --- |\n{body}\n"

    def _moved(self) -> Iterator[tuple[str, object]]:
        took: defaultdict[str, list[float]] = defaultdict(list)
        for kind, seconds in (one for trial in self.trials for one in trial.moved):
            took[kind].append(seconds)
        for kind, words in (("kill", "`kill -9`"), ("stop", "SIGSTOP"), ("swallow", "a cut")):
            if found := took[kind]:
                told = (
                    f"p50 {statistics.median(found):.1f} s, max {max(found):.1f} s ({len(found)})"
                )
                yield f"from {words} to the run's next owner", told


async def _play_house(
    folder: Path, postgres: Postgres, seeds: list[int], asked: Namespace, tally: MachineTally
) -> None:
    trees = [tree_of(seed) for seed in seeds]
    opened = house_in(
        *(folder, postgres, entry_of(trees), script_of(trees), asked.lease),
        fenced=not asked.without_fence,
        deaf=DEAF_ONES if asked.without_fence else (),
    )
    began = time.monotonic()
    async with opened as house:
        names = [*house.seats]
        for first in range(0, len(seeds), asked.at_once):
            some = seeds[first : first + asked.at_once]
            played = Round(house, some, asked.kills, names, asked.lease)
            await played.play()
            tally.trials += played.trials
            tally.faults += played.faults
            tally.asked += played.asked
            _say(played, time.monotonic() - began)
        tally.restarts += sum(seat.lives for seat in house.seats.values())
    for seat in house.seats.values():
        if not await asyncio.to_thread(soon, lambda p=seat.portal: not left_of(p), 5):
            tally.left.append(Finding("left", f"of {seat.name}: {left_of(seat.portal)}"))


def _say(played: Round, took: float) -> None:
    for trial in played.trials:
        state = (
            "; ".join(f"{one.kind}: {one.words[:600]}" for one in trial.findings) or "as it must"
        )
        works = len(trial.tree.outcome.works)
        sys.stdout.write(f"seed {trial.tree.seed}: {works} tasks, {trial.moves} moves, {state}\n")
    sys.stdout.write(f"{took:6.0f} s  {dict(played.faults)}\n")
    sys.stdout.flush()


async def play_all(asked: Namespace, tally: MachineTally, root: Path) -> None:
    seeds = list(range(asked.seed, asked.seed + asked.trials))
    many = asked.at_once * ROUNDS
    try:
        with running_postgres() as postgres:
            for first in range(0, len(seeds), many):
                some = seeds[first : first + many]
                await _play_house(root / f"from-{some[0]}", postgres, some, asked, tally)
    finally:
        close_the_nursery()


def words_of(tally: MachineTally, asked: Namespace) -> str:
    seeds = f"{asked.seed} to {asked.seed + len(tally.trials) - 1}"
    if asked.without_fence:
        return f"""\
The same with `--without-fence`, which has to find something: the database lets every worker write,
and three of the five machines do not end themselves when others count them as lost.
These are the seeds {seeds}.

{tally.table()}"""
    return f"""\
Written by `make chaos ARGS=--machines`: three workers and two portals on one PostgreSQL, with a
folder that all share and a lease of {asked.lease:g} s. Each has a line of its own to the database,
which can be cut, and a clock of its own, which can be set. {asked.at_once} runs work at the same
time, with up to {asked.kills} faults; people ask for something through both portals meanwhile. What
exits is started again. These are the seeds {seeds}.

{tally.table()}"""
