"""Performs what the rules of a task ask for, on real sessions, and writes down what came of it."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background, ignore_failure
from airboss.engine.acts import (
    ActRefused,
    Answer,
    AskRetry,
    Close,
    Crashed,
    Done,
    OpenAct,
    Opened,
    Put,
    RetryWord,
)
from airboss.engine.conclusions import conclusion_from
from airboss.engine.own_sessions import OwnSessions
from airboss.errors import AirbossError, RuntimeUnavailable, SessionGone, StoreUnavailable
from airboss.harness.crashes import is_crash, is_stop
from airboss.harness.turn import AcceptedPrompt, TurnReport
from airboss.log.writer import Writer
from airboss.model.events import Event
from airboss.model.ids import PromptId, SessionId, new_prompt_id
from airboss.model.redaction import Redactor
from airboss.model.task_events import (
    MissionEnded,
    MissionSent,
    RetryDecided,
    TaskChecked,
    TaskDecided,
    TaskRetrying,
    TaskSessionFailed,
    TaskSessionStarted,
    TaskSessionStopped,
)
from airboss.model.task_runs import TaskRunView
from airboss.model.usage import Usage

RESTARTED: Final = "The server was restarted while the session worked on this."
# Fields of a check, a retry or a decision that hold words of others.
_TEXTS: Final = ("text", "content", "reason")
_OUTCOMES: Final = {
    "aborted": "The turn was stopped by a person.",
    "interrupted": "The session lost its runtime.",
    "dropped": "The session was closed.",
    "failed": "The turn failed.",
}


@dataclass
class TaskExecutor:
    """One task run at work. What it is asked for again, after a crash of the server, it answers
    from the run's own stream. Cancelling it leaves sessions behind: `clean_up` ends them."""

    writer: Writer
    agents: OwnSessions
    redactor: Redactor
    # The task's own sessions, also those that an earlier server opened.
    _open: dict[SessionId, None] = field(default_factory=dict[SessionId, None])
    _here: set[SessionId] = field(default_factory=set[SessionId])
    _asked: tuple[SessionId, PromptId] | None = None
    # The session about which a person is asked whether to try again.
    _crashed: SessionId | None = None
    _is_aborted: bool = False
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    # What comes of the last one, also when nobody waits for it any more.
    _report: AcceptedPrompt | None = None
    # What the task's prompt came to; nothing where that was not heard here.
    conclusion: str = ""
    # The end of the last mission, on its way to the disk.
    _writing: "asyncio.Future[None] | None" = None
    # What must not be cut short, such as the closing of a session.
    _ending: Background = field(default_factory=lambda: Background("task's sessions"))

    def __post_init__(self) -> None:
        if isinstance(self.writer.view, TaskRunView):
            self._open.update(dict.fromkeys(self.writer.view.sessions))

    def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.writer.say_from(str(number), self._clean(event))

    async def do(self, number: int, act: OpenAct | Put | AskRetry | Close) -> Answer:
        """Asked again, the answer is the same. It is on disk no later than what the next act writes
        first, so that act need not wait for it to begin; together with that, where it writes at
        once."""
        earlier, self._writing = self._writing, None
        if earlier is not None and isinstance(act, Close):
            self.writer.hurry()
        answer = await self._do(str(number), act)
        if earlier is not None:
            await asyncio.shield(earlier)
        return answer

    async def _do(self, origin: str, act: OpenAct | Put | AskRetry | Close) -> Answer:
        match act:
            case OpenAct():
                return await self._enter(origin, act)
            case Put():
                return await self._put(origin, act)
            case AskRetry():
                return await self._ask_retry(origin, act)
            case Close():
                return await self._leave(origin, act)

    def has_begun(self, number: int) -> bool:
        """Whether this mission was put to its session before, or ended without it."""
        origins = (str(number), f"{number}/sent")
        return any(self.writer.said_from(origin) is not None for origin in origins)

    async def written(self) -> None:
        """Until the end of the last mission is on disk."""
        writing, self._writing = self._writing, None
        if writing is not None:
            self.writer.hurry()
            await asyncio.shield(writing)

    async def clean_up(self) -> list[BaseException]:
        """Close the sessions of the task's own, and take back what a borrowed one was asked. What
        went wrong is answered, not raised: the others are closed all the same."""
        await self._ending.wait()
        asked, self._asked = self._asked, None
        ends: list[asyncio.Task[None]] = []
        if asked is not None and asked[0] not in self._open:
            ends.append(self._ending.call(self.agents.withdraw(*asked), asked[1]))
        ends += [self._ending.call(self._close(session), session) for session in self._open]
        if not ends:
            return []
        done, _ = await asyncio.wait(ends)
        return [error for task in done if (error := task.exception())]

    async def cut_off(self) -> Usage:
        """What a mission took that was cut off by `clean_up`, in a session of somebody else."""
        report = self._report
        return (await report.report()).usage if report and report.is_over else Usage()

    async def abort(self) -> None:
        """What is being worked on is stopped, also what is being asked just now; the task goes on
        with that answer."""
        self._is_aborted = True
        self._stopped.set()
        if self._crashed is not None:
            await self.agents.withdraw_retry(self._crashed)
        if self._asked is not None:
            await self.agents.withdraw(*self._asked)

    async def _enter(self, origin: str, act: OpenAct) -> Opened | Crashed | ActRefused:
        match self.writer.said_from(origin):
            case TaskSessionStarted() as started:
                return Opened(started.session)
            case TaskSessionFailed() as failed:
                is_crash = failed.outcome == "crashed"
                return Crashed(failed.reason) if is_crash else ActRefused(failed.reason)
            case _:
                return await self._open_anew(origin, act)

    async def _open_anew(self, origin: str, act: OpenAct) -> Opened | Crashed | ActRefused:
        model, is_driving = act.model, act.is_driving
        try:
            session = await self.agents.open(model, is_driving=is_driving, stopped=self._stopped)
        except AirbossError as error:
            answer = _refusal(error)
            failed = TaskSessionFailed(
                model=model,
                is_driving=is_driving,
                outcome="crashed" if isinstance(answer, Crashed) else "refused",
                reason=answer.reason,
            )
            await self.writer.commit(failed, origin=origin)
            return answer
        self._open[session] = None
        self._here.add(session)
        started = TaskSessionStarted(session=session, model=model, is_driving=is_driving)
        # On disk with the first request to it; cut off before, it is closed as nobody's.
        self.writer.say_from(origin, started)
        return Opened(session)

    async def _put(self, origin: str, act: Put) -> Done | Crashed | ActRefused:
        ended = self.writer.said_from(origin)
        if ended is None:
            begun = f"{origin}/sent"
            sent = self.writer.said_from(begun)
            if isinstance(sent, MissionSent):
                ended = await self._take_up(act, sent.prompt)
            else:
                ended = await self._ask(begun, act)
            self._writing = self.writer.begin_commit(ended, origin)
            # Cut short, nobody waits for it any more.
            self._writing.add_done_callback(ignore_failure)
        if not isinstance(ended, MissionEnded):
            raise TypeError(f"{origin} of {act.session} is no mission's end.")
        if ended.outcome == "done":
            return Done(ended.calls, ended.troubles or ())
        if ended.outcome == "refused":
            return ActRefused(ended.reason or "", ended.by_person)
        return Crashed(ended.reason or "", ended.is_restart, ended.effects or ())

    async def _take_up(self, act: Put, prompt: PromptId) -> MissionEnded:
        """What was sent before the end of a server. Its turn may have ended before that, and be on
        disk without the mission's end: other sessions say something at any moment."""
        report = await self.agents.report(act.session, prompt)
        if report.outcome != "interrupted":
            return _ended(act, _answer_of(report), report.usage)
        # A lent session is its lender's: nobody but them goes on with it.
        is_own = act.session in self._open
        ended = await self._go_on(act, prompt) if is_own else None
        restarted = Crashed(RESTARTED, is_restart=True, effects=report.effects)
        return ended or _ended(act, restarted)

    async def _ask(self, begun: str, act: Put) -> MissionEnded:
        text, prompt = self.redactor.text(act.text), new_prompt_id()
        if act.session in self._open and act.session not in self._here:
            try:
                await self.agents.wake(act.session, stopped=self._stopped)
            except AirbossError as error:
                return _ended(act, _not_woken(_refusal(error)))
            self._here.add(act.session)
        try:
            # Said first, and on disk no later than the request itself.
            sent = MissionSent(mission=act.mission, session=act.session, prompt=prompt, text=text)
            self.writer.say_from(begun, sent)
            asked = await self.agents.ask(act.session, text, prompt, plan=act.plan)
        except AirbossError as error:
            return _ended(act, _refusal(error))
        return await self._hear(act, prompt, asked)

    async def _go_on(self, act: Put, prompt: PromptId) -> MissionEnded | None:
        """What waited for a person when its server or its runtime ended waits on."""
        self._asked = act.session, prompt
        try:
            asked = await self.agents.go_on(act.session, prompt, stopped=self._stopped)
        except AirbossError as error:
            answer = _refusal(error)
            return None if isinstance(answer, Crashed) else _ended(act, answer)
        finally:
            self._asked = None
        if asked is None:
            return None
        self._here.add(act.session)
        return await self._hear(act, prompt, asked)

    async def _hear(self, act: Put, prompt: PromptId, asked: AcceptedPrompt) -> MissionEnded:
        self._asked, self._report = (act.session, prompt), asked
        if self._is_aborted:
            await self.agents.withdraw(act.session, prompt)
        report = await asked.report()
        self._asked = self._report = None
        if act.mission.kind == "prompt":
            self.conclusion = conclusion_from(report.message, report.calls)
        is_cut = report.outcome == "interrupted" and act.session in self._open
        if is_cut and (ended := await self._go_on(act, prompt)):
            return ended
        answer = _answer_of(report)
        if isinstance(answer, Crashed):
            # A command outlives a runtime that was killed, and the next attempt is told of none.
            await self.agents.bury(act.session)
        return _ended(act, answer, report.usage)

    async def _ask_retry(self, origin: str, act: AskRetry) -> RetryWord:
        said = self.writer.said_from(origin)
        if not isinstance(said, RetryDecided):
            self._crashed = act.session
            try:
                word = await self.agents.ask_retry(act.session, act.effects)
            finally:
                self._crashed = None
            said = RetryDecided(session=act.session, again=word.again, who=word.who)
            await self.writer.commit(said, origin=origin)
        return RetryWord(said.again, said.who)

    async def _leave(self, origin: str, act: Close) -> None:
        if self.writer.said_from(origin) is None:
            # Cut short, it would stay half closed: `clean_up` waits for this.
            await asyncio.shield(self._ending.call(self._close(act.session), act.session))
            stopped = TaskSessionStopped(session=act.session, succeeded=act.succeeded)
            self.writer.say_from(origin, stopped)

    async def _close(self, session: SessionId) -> None:
        await self.agents.close(session)
        self._open.pop(session, None)

    def _clean(self, event: TaskChecked | TaskRetrying | TaskDecided) -> Event:
        """What an entry or an agent says may hold a secret."""
        texts = {
            name: self.redactor.text(text)
            for name, text in event
            if name in _TEXTS and isinstance(text, str)
        }
        return event.model_copy(update=texts)


def _answer_of(report: TurnReport) -> Done | Crashed | ActRefused:
    if report.outcome == "done":
        return Done(report.calls, report.troubles)
    reason = report.error.message if report.error else _OUTCOMES[report.outcome]
    if is_crash(report):
        return Crashed(reason, effects=report.effects)
    return ActRefused(reason, by_person=is_stop(report))


def _refusal(error: AirbossError) -> Crashed | ActRefused:
    """A session that cannot be opened or asked: worth another try when the runtime is away."""
    if isinstance(error, StoreUnavailable):
        raise error
    is_away = isinstance(error, RuntimeUnavailable | SessionGone)
    return Crashed(str(error)) if is_away else ActRefused(str(error))


def _not_woken(answer: Crashed | ActRefused) -> Crashed | ActRefused:
    """The runtime forgets a session that nobody had asked yet: the restart's fault, and no try."""
    return Crashed(answer.reason, is_restart=True) if isinstance(answer, Crashed) else answer


def _ended(
    act: Put, answer: Done | Crashed | ActRefused, usage: Usage | None = None
) -> MissionEnded:
    ended = MissionEnded(
        mission=act.mission, session=act.session, outcome="done", usage=usage or Usage()
    )
    match answer:
        case Done():
            troubles = answer.troubles or None
            return ended.model_copy(update={"calls": answer.calls, "troubles": troubles})
        case Crashed():
            said = {"reason": answer.reason, "is_restart": answer.is_restart}
            update = {"outcome": "crashed", **said, "effects": answer.effects}
            return ended.model_copy(update=update)
        case ActRefused():
            said = {"reason": answer.reason, "by_person": answer.by_person}
            return ended.model_copy(update={"outcome": "refused", **said})
