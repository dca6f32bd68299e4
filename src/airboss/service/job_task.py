"""One task of a run at work: which place it takes, who stopped it, and what its run says of it."""

import asyncio
import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field

from airboss.engine.acts import Act, ActRefused, Answer, Close, Done, OpenAct, Put
from airboss.engine.slots import CalledAway, SlotPlace, Slots
from airboss.engine.task import Verdict
from airboss.engine.task_executor import TaskExecutor
from airboss.log.writer import Writer
from airboss.model.ids import TaskRunId
from airboss.model.run_events import WorkGoing, WorkRetrying, WorkStarted, WorkWaiting
from airboss.model.task_events import (
    TaskChecked,
    TaskDecided,
    TaskGoing,
    TaskRetrying,
    TaskWaiting,
)

_STOP_SECONDS = 1.8


@dataclass
class JobTask:
    """One task of a run at work."""

    started: WorkStarted
    acts: Generator[Act, Answer, Verdict]
    task_executor: TaskExecutor
    # None in a lent session: whoever lends it is not made to wait.
    slots: Slots | None
    run_writer: Writer
    # What the run says that it waits for; an earlier server may have said so.
    waits_for: str | None = None
    # Started by itself, so that its own stream says what it waits for as well.
    is_lone: bool = False
    # Who stopped it, once somebody has: it fails with that.
    stopped_by: str | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    place: SlotPlace | None = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.slots.place(self.id, self._wait) if self.slots else None

    @property
    def id(self) -> TaskRunId:
        return self.started.task_run

    async def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.task_executor.tell(number, event)
        if isinstance(event, TaskRetrying):
            path, retry = self.started.path, event.retry
            said = WorkRetrying(path=path, task_run=self.id, retry=retry, of=event.of)
            self.run_writer.say_from(f"{self.id}/retry{retry}", said)

    async def do(self, number: int, act: OpenAct | Put | Close) -> Answer:
        if not isinstance(act, Put):
            return await self.task_executor.do(number, act)
        answer: Answer = None
        # What an earlier server began is answered, or waits for a person: it needs no place yet.
        is_begun = self.task_executor.has_begun(number)
        if self.stopped_by is None or is_begun:
            with contextlib.suppress(CalledAway), self.place or contextlib.nullcontext():
                if not is_begun:
                    await self.end()
                answer = await self.task_executor.do(number, act)
        if self.stopped_by is None or isinstance(answer, Done):
            return answer
        return ActRefused(f"Stopped by {self.stopped_by}.", by_person=True)

    async def stop(self, who: str) -> None:
        """It fails. This answers when it has, or soon."""
        self.stopped_by = self.stopped_by or who
        if self.slots:
            self.slots.call_away(self.id)
        await self.task_executor.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await self.over.wait()

    # While its agent waits for a person.

    def begin(self, reason: str) -> None:
        if self.place:
            self.place.give_back()
        self._say_waiting(reason, for_person=True)

    async def end(self) -> None:
        if self.place:
            await self.place.take()
        self._go()

    def _wait(self) -> None:
        count = self.slots.count if self.slots else 0
        self._say_waiting(f"a free place: {count} of {count} agents of jobs are at work")

    def _say_waiting(self, reason: str, *, for_person: bool = False) -> None:
        if self.waits_for != reason:
            self.waits_for = reason
            waiting = WorkWaiting(path=self.started.path, reason=reason, for_person=for_person)
            self.run_writer.say(waiting)
            if self.is_lone:
                self.task_executor.writer.say(TaskWaiting(reason=reason, for_person=for_person))

    def _go(self) -> None:
        if self.waits_for:
            self.waits_for = None
            self.run_writer.say(WorkGoing(path=self.started.path))
            if self.is_lone:
                self.task_executor.writer.say(TaskGoing())
