"""What ended long ago is deleted with all that belongs to it, and nothing else is."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Conflict, NotFound
from airboss.log.writer import now_ms
from airboss.model.runs import RunView
from airboss.service.retention import Retention, ended_in
from airboss.service.run_request import NewRun
from airboss.store.ended import EndedIndex, EndedStream
from tests.contract.job_guest import ref
from tests.engine.homes import rows_of
from tests.houses import HOUSES
from tests.service.errands import TaskHouse, task, task_house_in

SCRIPT = """
models: [{id: driver}, {id: coder}]
rules:
  - {when: "HOLD", steps: [{say: "One moment."}, {sleep: 60}]}
  - {steps: [{say: "Done."}]}
"""
TASKS: dict[str, Any] = {"it": task("Do it."), "hold": task("HOLD.")}
JOBS = {name: {"work": ref(name)} for name in TASKS}
DAY = 24 * 3600 * 1000


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = now_ms()

    def __call__(self) -> int:
        return self.at


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[TaskHouse]:
    async with task_house_in(tmp_path, SCRIPT) as house:
        await house.install(TASKS, jobs=JOBS)
        yield house


async def begun(house: TaskHouse, job: str = "it") -> RunView:
    asked_for = NewRun(job, "", str(house.work), "me", key=f"a key for {job}")
    return await house.services.runs.start(asked_for)


async def ran(house: TaskHouse) -> RunView:
    view = await begun(house)
    async with asyncio.timeout(20):
        while view.is_open:
            await asyncio.sleep(0.01)
            view = await house.services.runs.show(view.id)
    return view


def retention(house: TaskHouse, clock: Callable[[], int], **bounds: Any) -> Retention:
    services = house.services
    return Retention(
        services.log, services.runs, ended_in(services.runs.index.database), now=clock, **bounds
    )


async def kept(house: TaskHouse) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    services = house.services
    runs = [view.id for view in (await services.runs.page((), None, 100)).items]
    tasks = [view.id for view in (await services.tasks.page((), None, 100)).items]
    return runs, tasks, [view.id for view in (await services.sessions.page((), None, 100)).items]


async def has_session(house: TaskHouse, run: RunView) -> bool:
    """Then nothing more of it is opened by itself."""
    tasks = (await house.services.tasks.page((), None, 100)).items
    of_it = {f"task {one.id}" for one in tasks if one.run == run.id}
    sessions = (await house.services.sessions.page((), None, 100)).items
    return any(one.who in of_it for one in sessions)


async def all_is_gone(house: TaskHouse) -> None:
    async with asyncio.timeout(10):
        while any(await kept(house)):  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)


@dataclass(frozen=True)
class LateIndex(EndedIndex):
    """What it found has gone on since, here or on another machine."""

    late: str

    async def oldest(self, before: int | None, limit: int) -> list[EndedStream]:
        del before, limit
        return [EndedStream("session", self.late)]


async def test_a_session_that_was_resumed_meanwhile_is_not_deleted(house: TaskHouse) -> None:
    session = await house.sessions.start("driver", str(house.work), "me")
    keeper = retention(house, now_ms, keep_days=1)
    keeper.index = LateIndex(**vars(keeper.index), late=session.id)
    assert await keeper.tidy() == 0
    assert (await house.sessions.show(session.id)).is_open
    assert await house.services.log.after(session.id, 0)
    # Also where it goes on in the last moment.
    with pytest.raises(Conflict, match="goes on again"):
        await house.services.log.forget([session.id], session.id)


async def test_what_is_older_than_the_days_goes_with_all_that_belongs_to_it(
    house: TaskHouse,
) -> None:
    clock = Clock()
    old = await ran(house)
    alone = await house.begin("it")
    await house.tasks.stop(alone.id, "me")
    closed, left_open = [await house.sessions.start("driver", str(house.work), "me") for _ in "ab"]
    await house.sessions.close(closed.id, "me")
    going = await begun(house, "hold")
    async with asyncio.timeout(10):
        while not await has_session(house, going):  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)
    keeper = retention(house, clock, keep_days=2)

    clock.at += DAY
    before = await kept(house)
    assert (len(before[0]), await keeper.tidy()) == (2, 0)
    assert await kept(house) == before

    clock.at += 2 * DAY
    assert await keeper.tidy() >= 3
    runs, tasks, sessions = await kept(house)
    assert runs == [going.id]
    assert [(await house.tasks.show(one)).run for one in tasks] == [going.id]
    owners = {(await house.sessions.show(one)).who for one in sessions if one != left_open.id}
    assert owners <= {f"task {one}" for one in tasks}
    assert left_open.id in sessions
    with pytest.raises(NotFound):
        await house.services.runs.show(old.id)
    engine = HOUSES.engine_home(house.folder / "data")
    rows = rows_of(engine, "SELECT workflow_uuid FROM workflow_status")
    assert {name.partition(".")[0] for (name,) in rows} == {going.id}
    again = await ran(house)
    assert (again.state, again.id != old.id) == ("succeeded", True), "its key is free"
    await house.services.runs.stop(going.id, "me")
    clock.at = now_ms()
    assert await keeper.tidy() == 0, "what ended just now is not old"


async def test_the_oldest_goes_first_when_there_is_too_much(house: TaskHouse) -> None:
    clock = Clock()
    sessions: list[str] = []
    for _ in range(4):
        view = await house.sessions.start("driver", str(house.work), "me")
        await house.sessions.close(view.id, "me")
        sessions.append(view.id)
    used = await ended_in(house.services.runs.index.database).used_bytes()
    assert await retention(house, clock, keep_bytes=used).tidy() == 0
    assert await retention(house, clock, keep_bytes=1).tidy() == 4
    assert (await kept(house))[2] == []


async def test_the_oldest_is_the_one_that_ended_first(house: TaskHouse) -> None:
    first, second = [await house.sessions.start("driver", str(house.work), "me") for _ in "ab"]
    for view in (second, first):
        await house.sessions.close(view.id, "me")
        await asyncio.sleep(0.005)
    found = await ended_in(house.services.runs.index.database).oldest(None, 10)
    assert [one.stream for one in found] == [second.id, first.id]


async def test_a_server_deletes_at_its_start_and_then_again_and_again(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT) as house:
        await house.install(TASKS, jobs=JOBS)
        await ran(house)
        assert all(await kept(house)), "without a bound all is kept"
    async with task_house_in(tmp_path, SCRIPT, keep_days=0.5) as house:
        await asyncio.sleep(0.2)
        assert all(await kept(house))
    async with task_house_in(tmp_path, SCRIPT, keep_days=1e-9) as house:
        await all_is_gone(house)
        keeper = retention(house, now_ms, keep_days=1e-9, every_seconds=0.05)
        keeper.start()
        view = await house.sessions.start("driver", str(house.work), "me")
        await house.sessions.close(view.id, "me")
        await all_is_gone(house)
        await keeper.close()
