"""Does toy tasks for the engine and keeps a diary: what was begun, done and ended, once.

A task's name says what comes of it: `bad` says no, `third` says no before a loop's third round,
`mute` cannot be asked, `slow` takes its time, everything else says yes.
"""

import asyncio
import re
import sqlite3
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from airboss.engine.acts import ActRefused, Answer, AskRetry, Close, OpenAct, Opened, Put
from airboss.engine.executor import RunOver
from airboss.engine.task import TaskPlan, Verdict, run_task
from airboss.engine.task_at_work import play
from airboss.engine.walk import RunTask
from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.document import Task, Work
from airboss.model.ids import SessionId
from airboss.model.run_events import RunEnding
from airboss.model.task_events import TaskChecked, TaskDecided, TaskRetrying
from tests.engine.player import TRUE, criteria, done

TABLES = """
CREATE TABLE IF NOT EXISTS diary (
    id INTEGER PRIMARY KEY, run TEXT, path TEXT, what TEXT, said TEXT DEFAULT '', once TEXT UNIQUE
);
"""


class Diary:
    """What it was told survives a kill. A line that is written once has a key of its own."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        # Enough for a process that is killed; only a loss of power could take something back.
        self._file.execute("PRAGMA synchronous=NORMAL")
        self._file.execute(TABLES)

    def write(self, run: str, path: str, what: str, said: str = "", *, once: bool = True) -> None:
        key = f"{run}/{path}/{what}" if once else None
        self._file.execute(
            "INSERT OR IGNORE INTO diary (run, path, what, said, once) VALUES (?, ?, ?, ?, ?)",
            (run, path, what, said, key),
        )

    def read(self, run: str) -> list[tuple[str, str, str]]:
        rows = "SELECT path, what, said FROM diary WHERE run = ? ORDER BY id"
        return self._file.execute(rows, (run,)).fetchall()

    def find(self, run: str, path: str, what: str) -> str | None:
        row = self._file.execute(
            "SELECT said FROM diary WHERE once = ?", (f"{run}/{path}/{what}",)
        ).fetchone()
        return None if row is None else row[0]

    def close(self) -> None:
        self._file.close()


def repeated(diary: Diary, run: str = "run_1") -> list[tuple[str, str]]:
    """Acts that were begun again after they had been done."""
    finished: set[tuple[str, str]] = set()
    again: list[tuple[str, str]] = []
    for path, what, _ in diary.read(run):
        if what.endswith(" done"):
            finished.add((path, what.removesuffix(" done")))
        elif (path, what) in finished:
            again.append((path, what))
    return again


def endings(shop: "Workshop", name: str = "run_1") -> list[str]:
    """The tasks that ended, by their paths, and how the run ended."""
    lines = shop.diary.read(name)
    return [f"{path} {said}".strip() for path, what, said in lines if what == "end"]


async def until(shop: "Workshop", *lines: tuple[str, str], name: str = "run_1") -> None:
    """Until the diary has each of these: a path and what happened there."""
    end = time.monotonic() + 30
    while not {*lines} <= {(path, what) for path, what, _ in shop.diary.read(name)}:
        assert time.monotonic() < end, shop.diary.read(name)
        await asyncio.sleep(0.005)


def random_work(dice: Random, depth: int = 3) -> Work:
    """A tree whose loops end."""
    kind = dice.choice(["ref", "seq", "par", "loop", "alt"]) if depth else "ref"
    if kind == "ref":
        return ref(dice.choice(["good", "good", "fine", "bad"]))
    part = partial(random_work, dice, depth - 1)
    if kind in ("seq", "par"):
        return (seq if kind == "seq" else par)(*(part() for _ in range(dice.randint(1, 3))))
    if kind == "alt":
        return alt(part(), true=part(), false=part() if dice.random() < 0.5 else None)
    before = (True, part()) if dice.random() < 0.4 else None
    return loop(part(), before=before, after=(False, ref("third")))


def fate(task: RunTask) -> bool:
    rounds = re.findall(r"it(\d+)", task.path)
    if task.ref.task_id == "third":
        return int(rounds[-1]) >= 3
    return task.ref.task_id != "bad"


@dataclass
class Play:
    workshop: "Workshop"
    run: str
    task: RunTask

    def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        if isinstance(event, TaskDecided):
            self.workshop.diary.write(self.run, self.task.path, f"tell {number}", event.text)

    async def do(self, number: int, act: OpenAct | Put | AskRetry | Close) -> Answer:
        shop, path = self.workshop, self.task.path
        name = f"{type(act).__name__.removesuffix('Act').lower()} {number}"
        if shop.diary.find(self.run, path, f"{name} done") is None:
            shop.diary.write(self.run, path, name, once=False)
            try:
                await shop.work(self.task, act)
            except asyncio.CancelledError:
                await asyncio.sleep(shop.cleanup_seconds)
                shop.diary.write(self.run, path, f"{name} cut", once=False)
                raise
            shop.diary.write(self.run, path, f"{name} done")
        if isinstance(act, OpenAct):
            return Opened(SessionId(f"ses_{path}"))
        if isinstance(act, Put):
            if self.task.ref.task_id == "mute":
                return ActRefused("Nobody is there.")
            return done((TRUE, "It is.")) if fate(self.task) else done()
        return None


@dataclass
class Workshop:
    diary: Diary
    works: dict[str, Work]
    seconds: float = 0.0
    slow_seconds: float = 30.0
    cleanup_seconds: float = 0.0
    # Names of tasks in whose prompt an exception of ours is raised, when there is fire.
    breaks: frozenset[str] = frozenset()
    fire: asyncio.Event = field(default_factory=asyncio.Event)
    ended: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    over: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.fire.set()

    def end_of(self, run: str) -> asyncio.Event:
        return self.ended.setdefault(run, asyncio.Event())

    async def work(self, task: RunTask, act: OpenAct | Put | AskRetry | Close) -> None:
        if isinstance(act, Put) and task.ref.task_id in self.breaks:
            await self.fire.wait()
            raise OSError("The workshop burns.")
        slow = isinstance(act, Put) and task.ref.task_id == "slow"
        await asyncio.sleep(self.slow_seconds if slow else self.seconds)

    async def work_of(self, run: str) -> Work:
        if run in self.over:
            raise RunOver
        return self.works[run]

    async def run_task(self, run: str, step: RunTask) -> Verdict:
        if run in self.over:
            raise RunOver
        previous = ", ".join(step.previous)
        self.diary.write(run, step.path, "begin", f"{step.ref.task_id} after {previous}")
        said = criteria(TRUE)
        task = Task(prompt=("Do it.",), require_user_input=False, criteria=said)
        plan = TaskPlan(
            name=step.ref.task_id,
            task=task,
            task_model="coder",
            driving_model="driver",
            driving_retries=None,
            user_input="",
            borrowed=None,
            checks_availability=True,
            previous_tasks=step.previous,
        )
        doing = Play(self, run, step)
        verdict = await play(run_task(plan), doing.tell, doing.do)
        await self.end_task(run, step.path, verdict)
        return verdict

    async def end_task(self, run: str, path: str, verdict: Verdict) -> None:
        self.diary.write(run, path, "end", "succeeded" if verdict.succeeded else "failed")

    async def end_run(self, run: str, *, succeeded: bool) -> None:
        self.diary.write(run, "", "end", "succeeded" if succeeded else "failed")
        self.end_of(run).set()

    async def crash_run(self, run: str, path: str, error: Exception) -> RunEnding:
        self.diary.write(run, "", "crash", f"{path}: {error}")
        return RunEnding(outcome="failed", reason=str(error))

    async def begin_ending(self, run: str, ending: RunEnding) -> RunEnding | None:
        if self.end_of(run).is_set():
            return None
        self.over.add(run)
        self.diary.write(run, "", "ending", ending.reason)
        return ending

    async def dismiss(self, run: str, ending: RunEnding) -> None:
        self.diary.write(run, "", "dismissed", ending.reason)
        self.end_of(run).set()
