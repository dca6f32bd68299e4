"""Tasks whose agents ask people at random moments, several things at once, and share the places."""

import asyncio
from dataclasses import dataclass, field
from random import Random

from airboss.engine.slots import Slots
from airboss.engine.task_place import TaskPlace
from airboss.harness.turn import paused
from airboss.log.log import EventLog
from airboss.model.ids import TaskRunId
from airboss.model.run_events import WorkStarted


def place_in(
    log: EventLog, slots: Slots | None, name: str = "1", *, is_lone: bool = False
) -> TaskPlace:
    task_run = TaskRunId(f"tsk_{name}")
    started = WorkStarted(work=0, path="0", task="it", task_run=task_run)
    own = log.new_writer(task_run) if is_lone else None
    return TaskPlace(started, log.new_writer(f"run_{name}"), slots, own)


@dataclass
class Member:
    """One task. What it asks is answered, or given up, by whoever has the luck in their hands."""

    place: TaskPlace
    slots: Slots
    luck: Random
    most: int
    asked: "dict[asyncio.Task[None], asyncio.Event]" = field(
        default_factory=dict["asyncio.Task[None]", asyncio.Event]
    )

    async def work(self) -> None:
        for _ in range(2):
            with self.place:
                await self.place.end()
                for _ in range(self.luck.randint(0, self.most)):
                    self._step()
                    await self._let_others()
                if self.luck.random() < 0.8:  # else it is cut off, whatever it waits for
                    await self._finish()

    def _step(self) -> None:
        chance, open_ones = self.luck.random(), [one for one in self.asked if not one.done()]
        if chance < 0.4 or not open_ones:
            answered = asyncio.Event()
            self.asked[asyncio.create_task(self._ask(answered))] = answered
        elif chance < 0.9:
            self.asked[self.luck.choice(open_ones)].set()
        else:
            self.luck.choice(open_ones).cancel()

    async def _ask(self, answered: asyncio.Event) -> None:
        async with paused(self.place, "your answer", answered):
            await answered.wait()

    async def _let_others(self) -> None:
        for _ in range(self.luck.randint(0, 4)):
            await asyncio.sleep(0)
            assert self.slots.taken_count == len(self.slots.keys) <= self.slots.count

    async def _finish(self) -> None:
        """All is answered, and then it works: with a place, and says so."""
        for answered in self.asked.values():
            answered.set()
        if self.asked:
            await asyncio.wait(self.asked)
        await self.place.end()
        assert self.place.started.task_run in self.slots.keys
        assert self.place.waits_for is None

    async def stop(self) -> None:
        for asking in self.asked:
            asking.cancel()
        if self.asked:
            await asyncio.wait(self.asked)


async def work_at_random(
    log: EventLog, slots: Slots, seed: int, members: int = 4, most: int = 12
) -> None:
    """Whoever waits goes on, no task has two places, and in the end there are all of them."""
    luck = Random(seed)  # noqa: S311 - a seed, no secret
    crew = [
        Member(place_in(log, slots, f"{seed}_{number}"), slots, luck, most)
        for number in range(members)
    ]
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for member in crew:
            group.create_task(member.work())
    for member in crew:
        await member.stop()
    assert (slots.taken_count, slots.keys) == (0, frozenset())
