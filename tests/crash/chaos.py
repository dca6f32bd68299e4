"""The chaos trial: a random job on a real server that is killed at random moments, and so is its
agent runtime. `python -m tests.crash.chaos --trials 200` runs many and writes bench/CHAOS.md; with
`--caged` every agent works in a cage, whose outer process is killed as well; with `--machines`
many machines work on one database."""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

import httpx2
import psutil

from airboss.engine.ledger import EngineLedger
from airboss.engine.local_file import FILE, LocalFile
from airboss.store.folder import DataFolder
from tests.crash.chaos_cages import caged_runtimes, groups_left, outer_processes, uncaged
from tests.crash.chaos_checks import Evidence, Finding, check, read_lines
from tests.crash.chaos_machines import AT_ONCE, LEASE, MachineTally, play_all, words_of
from tests.crash.chaos_page import rewritten
from tests.crash.chaos_tree import JOB, Tree
from tests.crash.chaos_watch import RUN, Watch, all_sessions, read_all
from tests.crash.marks import left_of, soon
from tests.nursery import close_the_nursery
from tests.portal import Portal

Target: TypeAlias = Literal["server", "runtime", "both", "outer"]

TABLE: Final = Path(__file__).parents[2] / "bench" / "CHAOS.md"
MOST_KILLS: Final = 10
# What is killed, as often as it stands here.
FREE: Final[tuple[Target, ...]] = ("server", "server", "runtime", "both")
CAGED: Final[tuple[Target, ...]] = ("server", "server", "runtime", "both", "outer", "outer")
# A prompt may crash four times: the fifth fails its task, and that is no fault. An end of the
# server costs nothing.
_MOST_RUNTIMES: Final = 4
_STUCK_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Kill:
    """After so many seconds. A patient one waits until the run goes on, and how long that took."""

    what: Target
    after: float
    patient: bool


@dataclass
class Trial:
    """One run of one tree, and what became of it."""

    tree: Tree
    portal: Portal
    watch: Watch
    run: str = ""
    chance: random.Random = field(init=False)
    kills: Counter[str] = field(default_factory=Counter[str])
    resumed: list[tuple[Target, float]] = field(default_factory=list[tuple[Target, float]])
    findings: list[Finding] = field(default_factory=list[Finding])
    # The servers that were killed.
    killed: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.chance = random.Random(f"trial {self.tree.seed}")  # noqa: S311

    async def accept(self) -> str:
        """The same request until it is answered: it is one run."""
        request = {"job": JOB, "cwd": str(self.portal.work)}
        key = {"Idempotency-Key": f"trial {self.tree.seed}"}
        answer = await self.watch.client.post("/api/v1/runs", json=request, headers=key)
        assert answer.status_code == 201, answer.text
        self.run = str(answer.json()["id"])
        self.watch.follow(RUN, self.run)
        return self.run

    async def start(self) -> None:
        await asyncio.to_thread(self.portal.start)
        await self.watch.meet()

    async def kill(self, what: Target) -> None:
        """Whoever is killed, a server runs afterwards."""
        self.kills[what] += 1
        if self.tree.caged and what != "server":
            await asyncio.to_thread(self._kill_in_cage, what)
        elif what != "server":
            await self._kill_runtime()
        if what in ("server", "both"):
            self.killed.append(self.portal.pid)
            await asyncio.to_thread(self.portal.kill)
            await self.start()

    def _kill_in_cage(self, what: Target) -> None:
        """One of those that are there, in whatever it is about to do."""
        find = outer_processes if what == "outer" else caged_runtimes
        if found := find(self.portal.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                self.chance.choice(found).kill()

    async def _kill_runtime(self) -> None:
        status = (await self.watch.client.get("/api/v1/status")).json()
        pid = status["runtime"]["pid"]
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    async def disturb(self, kills: Iterable[Kill]) -> None:
        for kill in kills:
            if await self.watch.over(kill.after):
                return
            began = time.time_ns() // 1_000_000
            await self.kill(kill.what)
            if kill.patient and not self.watch.is_over:
                at = await self.watch.progress(began, _STUCK_SECONDS)
                if at is not None:
                    self.resumed.append((kill.what, (at - began) / 1000))

    async def conclude(self, outcome: str | None = None) -> list[Finding]:
        """To the end of the run, and of its server; then everything is compared."""
        if not await self.watch.over(_STUCK_SECONDS):
            state = await self.watch.client.get(f"/api/v1/runs/{self.run}")
            self.findings.append(Finding("wrong", f"the run does not end: {state.text}"))
            return self.findings
        if not await self.watch.all_over(5):
            open_ = [s.name for s in self.watch.streams.values() if not s.is_over]
            self.findings.append(Finding("left", f"these streams have no end: {open_}"))
        found = await self._evidence()
        self.findings += check(found, outcome)
        if self.tree.caged:
            self.findings += uncaged(found.sessions)
        names = [str(view["id"]) for view in found.sessions]
        await self.watch.close()
        await asyncio.to_thread(self.portal.stop)
        self.findings += await asyncio.to_thread(self._left, names)
        return self.findings

    async def _evidence(self) -> Evidence:
        client = self.watch.client
        followed = dict(self.watch.streams)
        stored = {name: await read_all(client, s.kind, name) for name, s in followed.items()}
        return Evidence(
            tree=self.tree,
            state=(await client.get(f"/api/v1/runs/{self.run}")).json()["state"],
            stored=stored,
            followed=followed,
            sessions=await all_sessions(client),
            lines=read_lines(self.portal.work / "lines.txt"),
        )

    def _left(self, sessions: list[str]) -> list[Finding]:
        left: list[Finding] = []
        if not soon(lambda: not left_of(self.portal, *sessions), 3):
            left.append(Finding("left", f"processes: {left_of(self.portal, *sessions)}"))
        if DataFolder(self.portal.data).is_locked():
            left.append(Finding("left", "the folder's lock"))
        if EngineLedger(LocalFile(self.portal.data / FILE)).has_open():
            left.append(Finding("left", "a workflow is open in the engine's file"))
        return left + groups_left(self.killed, self.portal.pid)


MakePortal: TypeAlias = Callable[[Path, tuple[str, ...], str], Portal]


def make_trial(folder: Path, tree: Tree, make: MakePortal) -> Trial:
    folder.mkdir(parents=True, exist_ok=True)
    entry = folder / "entry.json"
    entry.write_text(tree.entry, encoding="utf-8")
    places = str(1 + tree.seed % 4)
    # Nobody is there to be asked: a caged job on such a server goes on all the same.
    policy = "ask" if tree.caged else "approve-all"
    given = ("--permissions", policy, "--entry", str(entry), "--max-tasks", places)
    portal = make(folder, given, tree.script)
    return Trial(tree, portal, Watch(portal))


def planned_kills(seed: int, most: int = MOST_KILLS, *, caged: bool = False) -> list[Kill]:
    chance = random.Random(f"kills {seed}")  # noqa: S311
    kills: list[Kill] = []
    runtimes = 0
    for _ in range(chance.randint(min(2, most), most)):
        what: Target = chance.choice(CAGED if caged else FREE)
        if what != "server":
            runtimes += 1
        if runtimes > _MOST_RUNTIMES:
            what = "server"
        # Some right behind the start, while the run is being taken up.
        after = chance.choice((chance.uniform(0, 0.4), chance.uniform(0, 2.5)))
        kills.append(Kill(what, after, patient=chance.random() < 0.5))
    return kills


async def run_trial(
    folder: Path, seed: int, make: MakePortal, most: int = MOST_KILLS, *, caged: bool = False
) -> Trial:
    trial = make_trial(folder, Tree(seed, caged=caged), make)
    try:
        await trial.start()
        await trial.accept()
        await trial.disturb(planned_kills(seed, most, caged=caged))
        await trial.conclude()
    except (AssertionError, httpx2.HTTPError, OSError) as error:
        trial.findings.append(Finding("wrong", f"the trial broke off: {error!r}"))
    finally:
        await trial.watch.close()
        await asyncio.to_thread(trial.portal.stop)
    return trial


# The table.


@dataclass
class Tally:
    """What many trials came to."""

    trials: list[Trial] = field(default_factory=list[Trial])

    @property
    def findings(self) -> list[Finding]:
        return [finding for trial in self.trials for finding in trial.findings]

    def count(self, kind: str) -> int:
        return sum(finding.kind == kind for finding in self.findings)

    def table(self) -> str:
        kills = sum((trial.kills for trial in self.trials), Counter[str]())
        works = sum(len(trial.tree.outcome.works) for trial in self.trials)
        rows: list[tuple[str, object]] = [
            ("trials", len(self.trials)),
            ("tasks in them", works),
            ("kills", f"{kills.total()}: {_counted(kills)}"),
            ("lost events", self.count("lost")),
            ("repeated tasks", self.count("repeated")),
            ("wrong outcomes", self.count("wrong")),
            ("lines behind an attempt's end", self.count("late")),
            ("sessions, processes or locks left", self.count("left")),
            ("time to resume behind the end of the server", self._resumed("server", "both")),
            ("time to resume behind the end of the runtime", self._resumed("runtime")),
        ]
        if kills["outer"]:
            rows.append(("time to resume behind the end of the cage", self._resumed("outer")))
        body = "\n".join(f"| {name} | {found} |" for name, found in rows)
        return f"| measured | found |\n| --- | --- |\n{body}\n"

    def _resumed(self, *targets: Target) -> str:
        took = sorted(s for trial in self.trials for what, s in trial.resumed if what in targets)
        if not took:
            return "not measured"
        p50 = statistics.median(took)
        return f"p50 {p50:.2f} s, max {took[-1]:.2f} s ({len(took)} measured)"


def _counted(kills: Counter[str]) -> str:
    words = {
        "server": "of the server",
        "runtime": "of the runtime",
        "both": "of both",
        "outer": "of a cage's outer process",
    }
    return ", ".join(f"{kills[what]} {words[what]}" for what in words if kills[what])


def _words(tally: Tally, asked: argparse.Namespace) -> str:
    how = "each server a new process" if asked.cold else "servers forked with their imports done"
    last = asked.seed + len(tally.trials) - 1
    if asked.caged:
        return f"""\
Written by `make chaos ARGS=--caged`: the same with `permissions: caged`, on a server whose own
policy is `ask`. Here the outer process of a cage is killed as well, and the runtime is that of one
of the open cages. These are the seeds {asked.seed} to {last}, {how}.

{tally.table()}"""
    return f"""\
Written by `make chaos`: random jobs on the real runtime in front of a scripted model. The server,
the runtime or both get `kill -9` at random moments, up to {MOST_KILLS} times a run. A trial's seed
makes its tree, its script and its moments; these are the seeds {asked.seed} to {last}, {how}.
The time to resume goes from the kill to the first request that an agent gets again.

{tally.table()}"""


async def _many(asked: argparse.Namespace, tally: Tally, root: Path) -> None:
    def make(folder: Path, options: tuple[str, ...], script: str) -> Portal:
        return Portal(folder, options, script, is_cold=asked.cold)

    began = time.monotonic()
    seeds = iter(range(asked.seed, asked.seed + asked.trials))

    async def work() -> None:
        for seed in seeds:
            trial = await run_trial(*(root / str(seed), seed, make, asked.kills), caged=asked.caged)
            tally.trials.append(trial)
            took = time.monotonic() - began
            state = "; ".join(f"{one.kind}: {one.words}" for one in trial.findings) or "as it must"
            works, kills = len(trial.tree.outcome.works), trial.kills.total()
            sys.stdout.write(f"{took:6.0f} s  seed {seed}: {works} tasks, {kills} kills, {state}\n")
            sys.stdout.flush()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(asked.at_once):
                group.create_task(work())
    finally:
        close_the_nursery()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first trial")
    parser.add_argument("--kills", type=int, default=MOST_KILLS, help="at most, in one run")
    parser.add_argument("--at-once", type=int, help="trials beside each other")
    parser.add_argument("--caged", action="store_true", help="every agent works in a cage")
    parser.add_argument("--machines", action="store_true", help="many machines on one PostgreSQL")
    parser.add_argument("--lease", type=float, default=LEASE, help="of the machines, in seconds")
    parser.add_argument("--without-fence", action="store_true", help="it must find something then")
    parser.add_argument("--cold", action="store_true", help="every server imports for itself")
    parser.add_argument("--keep", type=Path, help="a folder for what the trials leave")
    parser.add_argument("--no-table", action="store_true", help="do not write bench/CHAOS.md")
    asked = parser.parse_args()
    asked.at_once = asked.at_once or (AT_ONCE if asked.machines else 1)
    tally = MachineTally() if asked.machines else Tally()
    # Whoever has seen enough gets the table of what was tried.
    interrupted = contextlib.suppress(KeyboardInterrupt)
    with tempfile.TemporaryDirectory(prefix="chaos-") as made, interrupted:
        root = asked.keep or Path(made)
        if isinstance(tally, MachineTally):
            asyncio.run(play_all(asked, tally, root))
        else:
            asyncio.run(_many(asked, tally, root))
    sys.stdout.write(f"\n{tally.table()}")
    if not asked.no_table:
        before = TABLE.read_text("utf-8") if TABLE.exists() else ""
        TABLE.write_text(rewritten(before, *_section(tally, asked)), encoding="utf-8")
    return int(bool(tally.findings))


def _section(tally: Tally | MachineTally, asked: argparse.Namespace) -> tuple[str, str]:
    if isinstance(tally, MachineTally):
        return "without" if asked.without_fence else "machines", words_of(tally, asked)
    return "caged" if asked.caged else "free", _words(tally, asked)


if __name__ == "__main__":
    sys.exit(main())
