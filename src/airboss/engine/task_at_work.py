"""One task of a run at work: its acts are done one by one, until it comes to a verdict."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.engine.acts import (
    ActRefused,
    Acts,
    Answer,
    AskRetry,
    Close,
    Done,
    OpenAct,
    Put,
    RetryWord,
    Tell,
)
from airboss.engine.task import Verdict
from airboss.engine.task_executor import TaskExecutor
from airboss.engine.task_place import TaskPlace
from airboss.harness.turn import CalledAway
from airboss.log.writer import Writer
from airboss.model.ids import TaskRunId
from airboss.model.run_events import WorkRetrying, WorkStarted
from airboss.model.task_events import TaskChecked, TaskDecided, TaskRetrying
from airboss.model.traces import TraceContext, traced

_STOP_SECONDS: Final = 1.8

TellAct: TypeAlias = Callable[[int, TaskChecked | TaskRetrying | TaskDecided], None]
DoAct: TypeAlias = Callable[[int, OpenAct | Put | AskRetry | Close], Awaitable[Answer]]


@dataclass
class TaskAtWork:
    """One task of a run at work."""

    started: WorkStarted
    acts: Acts[Verdict]
    executor: TaskExecutor
    place: TaskPlace
    run_writer: Writer
    # Started by itself: the run around it ends with it.
    is_lone: bool = False
    # Who stopped it, once somebody has: it fails with that.
    stopped_by: str | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # Where it stands in a trace, if somebody follows one.
    trace: TraceContext | None = None

    @property
    def id(self) -> TaskRunId:
        return self.started.task_run

    async def run(self) -> Verdict:
        with traced(self.trace):
            return await play(self.acts, self._tell, self._do)

    def _tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.executor.tell(number, event)
        if isinstance(event, TaskRetrying):
            path, retry = self.started.path, event.retry
            said = WorkRetrying(path=path, task_run=self.id, retry=retry, of=event.of)
            self.run_writer.say_from(f"{self.id}/retry{retry}", said)

    async def _do(self, number: int, act: OpenAct | Put | AskRetry | Close) -> Answer:
        if isinstance(act, AskRetry):
            return await self._ask_retry(number, act)
        if not isinstance(act, Put):
            return await self.executor.do(number, act)
        answer: Answer = None
        # What an earlier server began is answered, or waits for a person: it needs no place yet.
        is_begun = self.executor.has_begun(number)
        if self.stopped_by is None or is_begun:
            with contextlib.suppress(CalledAway), self.place:
                if not is_begun:
                    await self.place.end()
                answer = await self.executor.do(number, act)
        if self.stopped_by is None or isinstance(answer, Done):
            return answer
        return ActRefused(f"Stopped by {self.stopped_by}.", by_person=True)

    async def _ask_retry(self, number: int, act: AskRetry) -> Answer:
        word = await self.executor.do(number, act)
        is_yes = isinstance(word, RetryWord) and word.again
        return word if self.stopped_by is None or is_yes else RetryWord(False, self.stopped_by)

    async def stop(self, who: str) -> None:
        """It fails. This answers when it has, or soon."""
        self.stopped_by = self.stopped_by or who
        self.place.call_away()
        await self.executor.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await self.over.wait()


async def play(acts: Acts[Verdict], tell: TellAct, do: DoAct) -> Verdict:
    """Has all acts done in their order, numbered from 1, and returns what they come to. Played
    again, it asks for the same acts by the same numbers: whoever does them keeps the answers. DBOS
    as a second keeper would cost twice as much as all the rest."""
    number, answer = 0, None
    try:
        while True:
            act = acts.send(answer)
            number += 1
            if isinstance(act, Tell):
                tell(number, act.event)
                answer = None
            else:
                answer = await do(number, act)
    except StopIteration as end:
        return end.value
    finally:
        acts.close()
