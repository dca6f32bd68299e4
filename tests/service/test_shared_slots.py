"""All machines of a database together have so many agents of jobs at work, and whoever waited first
goes first, on whatever machine."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from sqlalchemy import text

from airboss.engine.slots import Slots
from airboss.log.log import EventLog
from airboss.service.shared_slots import SharedSlots
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.slot_rows import SlotRows
from tests.engine.crew import work_at_random
from tests.log.neighbours import register
from tests.pauses import pauses


def at(*keys: str) -> frozenset[str]:
    return frozenset(keys)


@dataclass
class Machine:
    """A worker with so many slots of its own."""

    name: str
    database: PostgresDatabase
    slots: Slots
    log: EventLog
    waited: list[str] = field(default_factory=list[str])
    tasks: "dict[str, asyncio.Task[None]]" = field(default_factory=dict[str, "asyncio.Task[None]"])

    def begin(self, key: str) -> None:
        self.tasks[key] = asyncio.create_task(self._work(key))

    async def _work(self, key: str) -> None:
        def wait() -> None:
            self.waited.append(f"{key}: {self.slots.why_full}")

        with self.slots.place(key, wait) as place:
            await place.take()
            await asyncio.Event().wait()

    async def end(self, key: str) -> None:
        task = self.tasks.pop(key)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def machine(url: str, name: str, count: int, most: int | None) -> AsyncGenerator[Machine]:
    database = PostgresDatabase(url)
    await database.open()
    await register(database, name)
    try:
        async with EventLog(database, None).running() as log:
            slots = Slots(count, most)
            shared = SharedSlots(slots, SlotRows(database, name), log)
            shared.start()
            made = Machine(name, database, slots, log)
            try:
                yield made
            finally:
                for key in list(made.tasks):
                    await made.end(key)
                await shared.close()
    finally:
        await database.close()


async def until(holds: Callable[[], Awaitable[bool] | bool]) -> None:
    async with asyncio.timeout(30):
        for pause in pauses():
            held = holds()
            if held if isinstance(held, bool) else await held:
                return
            await asyncio.sleep(pause)


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url


async def test_machines_together_have_so_many_at_work_and_the_first_to_wait_goes_first(
    url: str,
) -> None:
    async with machine(url, "one", 4, 2) as one, machine(url, "two", 4, 2) as two:
        one.begin("a")
        two.begin("b")
        await until(lambda: (one.slots.keys, two.slots.keys) == (at("a"), at("b")))
        assert one.waited == two.waited == []
        one.begin("d")
        await until(lambda: len(one.waited) > 0)
        assert one.waited == ["d: 2 of 2 agents of jobs are at work on all machines"]
        two.begin("c")
        await until(lambda: len(two.waited) > 0)
        await one.end("a")
        await until(lambda: two.slots.keys == at("b", "c"))
        assert one.slots.keys == frozenset(), "the one that is older goes first"
        await two.end("b")
        await until(lambda: one.slots.keys == at("d"))


async def test_what_a_lost_worker_had_is_free_and_a_called_away_task_takes_nothing(
    url: str,
) -> None:
    async with machine(url, "one", 4, 1) as one, machine(url, "two", 4, 1) as two:
        one.begin("a")
        await until(lambda: one.slots.keys == at("a"))
        two.begin("b")
        two.begin("c")
        await until(lambda: len(two.waited) >= 2)
        await two.end("b")
        lost = text("UPDATE workers SET state = 'lost' WHERE id = 'one'")
        await two.database.write(lambda c: c.execute(lost) and None)
        await until(lambda: two.slots.keys == at("c"))
        rows = text("SELECT worker, key, is_taken FROM slots")
        found = await two.database.read(lambda c: [tuple(row) for row in c.execute(rows)])
        assert found == [("two", "c", True)]


async def test_a_bound_that_comes_later_counts_those_at_work_and_without_it_all_go(
    url: str,
) -> None:
    async with machine(url, "one", 4, None) as one, machine(url, "two", 4, None) as two:
        one.begin("a")
        one.begin("b")
        await until(lambda: one.slots.keys == at("a", "b"))
        for some in (one, two):
            some.slots.resize(4, 2)
        rows = text("SELECT count(*) = 2 FROM slots WHERE is_taken")
        await until(lambda: two.database.read(lambda c: bool(c.execute(rows).scalar())))
        two.begin("c")
        await until(lambda: len(two.waited) > 0)
        two.slots.resize(4, None)
        await until(lambda: two.slots.keys == at("c"))


async def test_a_machine_that_takes_nothing_new_lets_others_go_first(url: str) -> None:
    async with machine(url, "one", 4, 1) as one, machine(url, "two", 4, 1) as two:
        one.begin("a")
        await until(lambda: one.slots.keys == at("a"))
        one.begin("b")
        await until(lambda: len(one.waited) > 0)
        two.begin("c")
        await until(lambda: len(two.waited) > 0)
        one.slots.close()
        await one.end("a")
        await until(lambda: two.slots.keys == at("c"))
        assert one.slots.keys == frozenset()


async def test_a_task_that_is_said_twice_counts_once(url: str) -> None:
    async with machine(url, "one", 4, 2) as one:
        rows = SlotRows(one.database, "one")
        assert await rows.settle((), ("a", "a"), 2) == at("a")
        assert await rows.settle(("a",), ("a", "b"), 2) == at("a", "b")
        assert await rows.settle((), (), 2) == frozenset()


async def test_what_agents_ask_at_once_on_two_machines_loses_no_place(url: str) -> None:
    async with machine(url, "one", 4, 2) as one, machine(url, "two", 1, 2) as two:
        async with asyncio.TaskGroup() as group:
            for seed, some in enumerate((one, two)):
                group.create_task(work_at_random(some.log, some.slots, seed, 3, 6))
        rows = text("SELECT count(*) = 0 FROM slots")
        await until(lambda: one.database.read(lambda c: bool(c.execute(rows).scalar())))
