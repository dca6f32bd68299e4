"""What was finished is not done again: steps that are replayed give the same walk."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from airboss.engine.durable import Engine
from airboss.engine.local_file import FILE, LocalFile
from airboss.entry.document import Work
from tests.engine.walker import tour
from tests.engine.workshop import Diary, Workshop, fate, random_work

RUNS = 15


async def finish(folder: Path, diary: Diary, works: dict[str, Work], names: Sequence[str]) -> None:
    shop = Workshop(diary, works)
    engine = Engine(LocalFile(folder / FILE), shop)
    try:
        await engine.recover()
        for name in names:
            if not await engine.known(name):
                await engine.start(name)
        for name in names:
            await asyncio.wait_for(shop.end_of(name).wait(), 40)
        await until_kept(folder)
    finally:
        await engine.close()


async def until_kept(folder: Path) -> None:
    """The engine writes an end down a moment after its executor has heard of it."""
    async with asyncio.timeout(10):
        while statuses(folder) != [("SUCCESS",)]:  # noqa: ASYNC110 - another's file has no event
            await asyncio.sleep(0.05)


def statuses(folder: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(folder / FILE)) as file:
        return file.execute("SELECT DISTINCT status FROM workflow_status").fetchall()


def reopen(folder: Path, dice: Random) -> list[str]:
    """As if killed before the ends of some runs had been kept."""
    with closing(sqlite3.connect(folder / FILE)) as file, file:
        known = [name for (name,) in file.execute("SELECT workflow_uuid FROM workflow_status")]
        cut = sorted(name for name in known if dice.random() < 0.8)
        for name in cut:
            file.execute(
                "UPDATE workflow_status SET status = 'PENDING', completed_at = NULL "
                "WHERE workflow_uuid = ?",
                (name,),
            )
            file.execute("DELETE FROM workflow_output WHERE workflow_uuid = ?", (name,))
        return cut


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_trees_walk_the_same_way_again(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)  # noqa: S311
    works = {f"run_{number}": random_work(dice) for number in range(RUNS)}
    with closing(Diary(tmp_path / "diary.sqlite")) as diary:
        await finish(tmp_path, diary, works, [*works])
        before = {name: diary.read(name) for name in works}
        for name, work in works.items():
            toured = tour(work, fate)
            ends = {path: said for path, what, said in before[name] if what == "end"}
            expected = {run.path: fate(run) for run in toured.runs} | {"": toured.walked.succeeded}
            assert ends == {
                path: "succeeded" if good else "failed" for path, good in expected.items()
            }
        for _ in range(2):
            opened = reopen(tmp_path, dice)
            assert len(opened) > RUNS // 2
            await finish(tmp_path, diary, works, opened)
            assert {name: diary.read(name) for name in works} == before
            assert statuses(tmp_path) == [("SUCCESS",)]


async def copy_now_and_then(folder: Path, copies: list[bytes]) -> None:
    """The engine's file, as long as not all in it has ended."""
    while True:
        await asyncio.sleep(0.01)
        if (folder / FILE).exists() and statuses(folder) != [("SUCCESS",)]:
            with closing(sqlite3.connect(folder / FILE)) as file:
                copies.append(file.serialize())


def put_back(folder: Path, copy: bytes) -> None:
    for end in ("-wal", "-shm"):
        (folder / f"{FILE}{end}").unlink(missing_ok=True)
    (folder / FILE).write_bytes(copy)


def has_ended(folder: Path, run: str) -> bool:
    asked = "SELECT status FROM workflow_status WHERE workflow_uuid = ?"
    with closing(sqlite3.connect(folder / FILE)) as file:
        return file.execute(asked, (run,)).fetchone() == ("SUCCESS",)


async def test_what_a_loss_of_power_takes_from_the_engine_is_not_done_again(tmp_path: Path) -> None:
    """Its commits wait for no disk: its file may be older than what was written down since."""
    dice = Random(3)  # noqa: S311
    works = {f"run_{number}": random_work(dice) for number in range(6)}
    copies: list[bytes] = []
    with closing(Diary(tmp_path / "diary.sqlite")) as diary:
        copying = asyncio.create_task(copy_now_and_then(tmp_path, copies))
        await finish(tmp_path, diary, works, [*works])
        copying.cancel()
        before = {name: diary.read(name) for name in works}
        for copy in (copies[0], copies[len(copies) // 2], copies[-1]):
            put_back(tmp_path, copy)
            left = [name for name in works if not has_ended(tmp_path, name)]
            await finish(tmp_path, diary, works, left)
            assert {name: diary.read(name) for name in works} == before
