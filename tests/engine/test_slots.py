"""So many agents of jobs work at once, and who waited first goes first."""

import asyncio
import contextlib

import pytest

from airboss.engine.slots import Slots
from airboss.harness.turn import CalledAway


class Worker:
    """Takes a slot and keeps it until it is told to leave."""

    def __init__(self, slots: Slots, key: str, order: list[str]) -> None:
        self.waited = 0
        self.leave = asyncio.Event()
        self._slots, self._key, self._order = slots, key, order
        self.task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        with self._slots.place(self._key, self._wait) as place:
            await place.take()
            self._order.append(self._key)
            await self.leave.wait()

    def _wait(self) -> None:
        self.waited += 1


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_as_many_work_as_there_are_slots_and_the_others_say_that_they_wait() -> None:
    slots, order = Slots(2), list[str]()
    workers = [Worker(slots, key, order) for key in ("a", "b", "c")]
    await settle()
    assert (order, slots.taken_count) == (["a", "b"], 2)
    assert [worker.waited for worker in workers] == [0, 0, 1]
    workers[0].leave.set()
    await settle()
    assert order == ["a", "b", "c"]
    for worker in workers:
        worker.leave.set()
        await worker.task
    assert slots.taken_count == 0


async def test_with_more_slots_who_waits_goes_and_with_fewer_nobody_is_stopped() -> None:
    slots, order = Slots(1), list[str]()
    workers = [Worker(slots, key, order) for key in ("a", "b", "c")]
    await settle()
    slots.resize(2)
    await settle()
    assert order == ["a", "b"]
    slots.resize(1)
    workers[0].leave.set()
    await settle()
    assert (order, slots.taken_count) == (["a", "b"], 1)
    for worker in workers[1:]:
        worker.leave.set()
        await worker.task
    assert order == ["a", "b", "c"]


async def test_who_waited_first_goes_first_whenever_it_asked() -> None:
    slots, order = Slots(1), list[str]()
    first = Worker(slots, "0", order)
    await settle()
    late, early = Worker(slots, "2", order), Worker(slots, "1", order)
    await settle()
    for worker in (first, early, late):
        worker.leave.set()
        await worker.task
    assert order == ["0", "1", "2"]


async def test_after_a_restart_all_come_back_before_the_first_begins() -> None:
    slots, order = Slots(1), list[str]()
    slots.hold()
    workers = [Worker(slots, key, order) for key in ("c", "a", "b")]
    await settle()
    assert (order, [worker.waited for worker in workers]) == ([], [0, 0, 0])
    slots.let_go()
    assert [worker.waited for worker in workers] == [1, 0, 1], "the others find no free place"
    for worker in workers:
        worker.leave.set()
    for worker in workers:
        await worker.task
    assert order == ["a", "b", "c"]


async def test_one_who_is_called_away_waits_no_longer_and_the_next_has_its_turn() -> None:
    slots, order = Slots(1), list[str]()
    workers = [Worker(slots, key, order) for key in ("a", "b", "c")]
    await settle()
    slots.call_away("b")
    await settle()
    assert isinstance(workers[1].task.exception(), CalledAway)
    workers[0].leave.set()
    await settle()
    assert (order, slots.taken_count) == (["a", "c"], 1)
    workers[2].leave.set()
    await settle()
    assert slots.taken_count == 0


async def test_who_asks_twice_for_the_slot_of_one_place_has_one_slot() -> None:
    slots, order = Slots(2), list[str]()
    workers = [Worker(slots, key, order) for key in ("a", "b")]
    await settle()
    with slots.place("c", lambda: None) as place:
        asking = [asyncio.create_task(place.take()) for _ in range(3)]
        await settle()
        for worker in workers:
            worker.leave.set()
            await worker.task
        async with asyncio.timeout(5):
            for one in asking:
                await one
        assert (slots.keys, slots.taken_count) == ({"c"}, 1)
    assert slots.taken_count == 0


@pytest.mark.parametrize("handed", [False, True], ids=["waiting", "at its turn"])
async def test_who_gives_back_what_is_not_there_yet_goes_on_without_it(handed: bool) -> None:
    slots, order = Slots(1), list[str]()
    first = Worker(slots, "a", order)
    await settle()
    with slots.place("b", lambda: None) as place:
        asking = [asyncio.create_task(place.take()) for _ in range(2)]
        await settle()
        if handed:
            first.leave.set()
            await asyncio.sleep(0)  # the slot is handed over, and not yet taken
        place.give_back()
        for one in asking:
            await asyncio.wait_for(one, 5)
        assert slots.keys == (frozenset() if handed else {"a"})
        again = asyncio.create_task(place.take())
        first.leave.set()
        await asyncio.wait_for(again, 5)
        assert slots.keys == {"b"}
    assert slots.taken_count == 0


async def test_one_who_is_cancelled_while_waiting_or_at_its_turn_keeps_no_slot() -> None:
    slots, order = Slots(1), list[str]()
    first = Worker(slots, "a", order)
    await settle()
    waiting, next_one = Worker(slots, "b", order), Worker(slots, "c", order)
    await settle()
    waiting.task.cancel()
    first.leave.set()
    await settle()
    assert order == ["a", "c"]
    third = Worker(slots, "d", order)
    await settle()
    next_one.leave.set()
    await asyncio.sleep(0)  # the slot is handed over, and not yet taken
    third.task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await third.task
    await settle()
    assert slots.taken_count == 0
