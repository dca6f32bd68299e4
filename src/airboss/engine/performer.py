"""Performs what the rules of a task ask for, on real sessions, and writes down what came of it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from airboss.engine.acts import (
    Act,
    Answer,
    Close,
    Crashed,
    Done,
    Open,
    Opened,
    Put,
    Refused,
    Tell,
)
from airboss.engine.task import TaskPlan, Verdict, run_task
from airboss.errors import AirbossError, RuntimeUnavailable, StoreUnavailable
from airboss.harness.crashes import is_crash
from airboss.harness.turn import Asked, TurnReport
from airboss.log.log import Writer
from airboss.model.events import Event
from airboss.model.ids import PromptId, SessionId
from airboss.model.redaction import Redactor
from airboss.model.task_events import (
    MissionEnded,
    MissionSent,
    TaskChecked,
    TaskDecided,
    TaskRetrying,
    TaskSessionStarted,
    TaskSessionStopped,
)

# Fields of a check, a retry or a decision that hold words of others.
_TEXTS: Final = ("text", "content", "reason")
_OUTCOMES: Final = {
    "aborted": "The turn was stopped by a person.",
    "interrupted": "The session lost its runtime.",
    "dropped": "The session was closed.",
    "failed": "The turn failed.",
}


class Agents(Protocol):
    """The sessions that a task works with; what they are opened with is known behind this."""

    async def open(self, model: str) -> SessionId: ...

    async def ask(self, session: SessionId, text: str) -> Asked: ...

    async def close(self, session: SessionId) -> None: ...

    async def withdraw(self, session: SessionId, prompt: PromptId) -> None:
        """The prompt is not worked on, or no longer; the session stays."""
        ...


@dataclass
class Performer:
    """One task run at work. Cancelling it leaves sessions behind: `clean_up` ends them."""

    writer: Writer
    agents: Agents
    redactor: Redactor
    _open: dict[SessionId, None] = field(default_factory=dict[SessionId, None])
    _asked: tuple[SessionId, PromptId] | None = None
    # What must not be cut short, such as the closing of a session.
    _ending: "set[asyncio.Task[None]]" = field(default_factory=set["asyncio.Task[None]"])

    async def perform(self, plan: TaskPlan) -> Verdict:
        acts = run_task(plan)
        answer: Answer = None
        try:
            while True:
                answer = await self._do(acts.send(answer))
        except StopIteration as end:
            return end.value

    async def clean_up(self) -> list[BaseException]:
        """Close the sessions of the task's own, and take back what a borrowed one was asked. What
        went wrong is answered, not raised: the others are closed all the same."""
        while self._ending:
            await asyncio.wait(self._ending)
        asked, self._asked = self._asked, None
        if asked is not None and asked[0] not in self._open:
            self._begin_to_end(self.agents.withdraw(*asked))
        for session in self._open:
            self._begin_to_end(self._close(session))
        if not self._ending:
            return []
        done, _ = await asyncio.wait(self._ending)
        return [error for task in done if (error := task.exception())]

    async def _do(self, act: Act) -> Answer:
        match act:
            case Open():
                return await self._enter(act)
            case Put():
                return await self._put(act)
            case Close():
                await self._leave(act)
            case Tell():
                self._say(self._clean(act.event))
        return None

    async def _enter(self, act: Open) -> Opened | Crashed | Refused:
        try:
            session = await self.agents.open(act.model)
        except AirbossError as error:
            return _refusal(error)
        self._open[session] = None
        started = TaskSessionStarted(session=session, model=act.model, is_driving=act.is_driving)
        self._say(started)
        return Opened(session)

    async def _put(self, act: Put) -> Done | Crashed | Refused:
        try:
            asked = await self.agents.ask(act.session, act.text)
        except AirbossError as error:
            return _refusal(error)
        self._asked = act.session, asked.receipt.prompt
        text = self.redactor.text(act.text)
        sent = MissionSent(
            mission=act.mission, session=act.session, prompt=asked.receipt.prompt, text=text
        )
        self._say(sent)
        report = await asked.report()
        self._asked = None
        answer = _answer_of(report)
        self._say(_ended(act, answer))
        return answer

    async def _leave(self, act: Close) -> None:
        await asyncio.shield(self._begin_to_end(self._close(act.session)))
        stopped = TaskSessionStopped(session=act.session, succeeded=act.succeeded)
        self._say(stopped)

    async def _close(self, session: SessionId) -> None:
        await self.agents.close(session)
        self._open.pop(session, None)

    def _begin_to_end(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Cut short, a session would stay half closed: `clean_up` waits for what goes on here."""
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    def _say(self, event: Event) -> None:
        """On disk with what the sessions say, a moment later at most."""
        self.writer.say(event, urgent=False)

    def _clean(self, event: TaskChecked | TaskRetrying | TaskDecided) -> Event:
        """What an entry or an agent says may hold a secret."""
        texts = {
            name: self.redactor.text(text)
            for name, text in event
            if name in _TEXTS and isinstance(text, str)
        }
        return event.model_copy(update=texts)


def _answer_of(report: TurnReport) -> Done | Crashed | Refused:
    if report.outcome == "done":
        return Done(report.calls)
    reason = report.error.message if report.error else _OUTCOMES[report.outcome]
    return Crashed(reason) if is_crash(report) else Refused(reason)


def _refusal(error: AirbossError) -> Crashed | Refused:
    """A session that cannot be opened or asked: worth another try when the runtime is away."""
    if isinstance(error, RuntimeUnavailable):
        return Crashed(str(error))
    if isinstance(error, StoreUnavailable):
        raise error
    return Refused(str(error))


def _ended(act: Put, answer: Done | Crashed | Refused) -> MissionEnded:
    ended = MissionEnded(mission=act.mission, session=act.session, outcome="done")
    match answer:
        case Done():
            return ended.model_copy(update={"calls": answer.calls})
        case Crashed():
            return ended.model_copy(update={"outcome": "crashed", "reason": answer.reason})
        case Refused():
            return ended.model_copy(update={"outcome": "refused", "reason": answer.reason})
