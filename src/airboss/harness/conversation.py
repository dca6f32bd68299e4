"""One open session: its queue of requests, its turn, and its voice in the log."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from airboss.errors import AirbossError, Conflict, RuntimeUnavailable
from airboss.harness.desk import Desk, Office
from airboss.harness.keeper import LIMIT_REACHED, Keeper
from airboss.harness.models import Route
from airboss.harness.permissions import PolicyRule
from airboss.harness.questions import ASK_USER_OFFER
from airboss.harness.queue import RequestQueue
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.harness.turn import (
    Asked,
    Failure,
    Outcome,
    Pause,
    Receipt,
    Request,
    Turn,
    TurnReport,
    within,
)
from airboss.log.log import Writer
from airboss.model.events import (
    BlockDelta,
    Event,
    PromptAccepted,
    PromptDropped,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionReady,
    SessionResumed,
    ToolEnded,
    ToolStarted,
    TurnRetrying,
    TurnStarted,
)
from airboss.model.ids import PromptId, SessionId, TaskRunId, TurnId, new_prompt_id, new_turn_id
from airboss.model.redaction import MASK, Redactor
from airboss.model.views import QueuedPrompt, SessionView
from airboss.runtime.life import Refused
from airboss.runtime.session import RuntimeSession, SessionWish
from airboss.runtime.signals import (
    ModelAnswered,
    ModelReplaced,
    Retrying,
    RuntimeLost,
    Signal,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)

OpenSession = Callable[[SessionWish], Awaitable[RuntimeSession]]

# After an error the runtime says that it is idle; one that does not is taken at its silence.
_IDLE_AFTER_ERROR_SECONDS = 5.0
_ABORT_SECONDS = 5.0
# A runtime that died is noticed within this time, and told to us as a loss.
_NOTICED_SECONDS = 2.0
_CLOSED = "The session was closed."
_WITHDRAWN = "It was withdrawn."

_log = logging.getLogger(__name__)


class Conversation:
    """The one place that works on a session. Requests are worked on one after another."""

    def __init__(
        self,
        session: SessionId,
        writer: Writer,
        route: Route,
        rule: PolicyRule,
        redactor: Redactor,
        office: Office,
        seconds: float | None,
        on_lost: Callable[[SessionId], None],
        queue: Iterable[QueuedPrompt] = (),
    ) -> None:
        self.session = session
        self._writer = writer
        self._route = route
        self._rule = rule
        self._redactor = redactor
        self.desk = Desk(session, writer, rule, redactor, office, seconds, self._at_work)
        self._keeper = Keeper(self.desk, route.multiplier, lambda: self._turn, self._refuse)
        self._on_lost = on_lost
        self._queue = RequestQueue(queue)
        self._turn: Turn | None = None
        self._aborting = asyncio.Lock()
        self._agent: RuntimeSession | None = None
        self._worker: asyncio.Task[None] | None = None
        # Sees the turn through that was cut off and goes on.
        self._last: asyncio.Task[None] | None = None
        self._lost: str | None = None
        # No more is asked for; and a little later: no more is heard.
        self._closing = False
        self._ended = False

    @property
    def cwd(self) -> Path:
        return self._rule.cwd

    @property
    def is_working(self) -> bool:
        return self._turn is not None or bool(self._queue)

    @property
    def is_ready(self) -> bool:
        return self._worker is not None and not self._closing and not self._ended

    async def open(self, open_session: OpenSession, quiet_seconds: float) -> None:
        await self._enter(open_session, self._wish(quiet_seconds, resume=False), SessionReady())

    async def resume(self, open_session: OpenSession, quiet_seconds: float, who: str) -> None:
        """Go on where an interrupted session stopped, and with what was still in its queue."""
        said = SessionResumed(who=who), SessionReady()
        await self._enter(open_session, self._wish(quiet_seconds, resume=True), *said)

    async def go_on(
        self,
        open_session: OpenSession,
        quiet_seconds: float,
        who: str,
        prompt: PromptId,
        request: Request,
    ) -> bool:
        """Resume it in the middle of a turn that waited for a person. Whether it still does."""
        wish = self._wish(quiet_seconds, resume=True, goes_on=True)
        agent = await self._enter(open_session, wish, SessionResumed(who=who), SessionReady())
        pending = await agent.pending()
        if pending:
            turn = self._start_turn(prompt, request)
            turn.put.set()
            self._last = asyncio.create_task(self._see_through(agent, turn))
            agent.go_on(pending)
        return bool(pending)

    async def _enter(
        self, open_session: OpenSession, wish: SessionWish, *said: Event
    ) -> RuntimeSession:
        try:
            self._agent = agent = await open_session(wish)
        except BaseException as error:
            self._never_opened(error)
            raise
        if self._lost is not None:  # between its answer and now
            raise RuntimeUnavailable(self._lost)
        try:
            await self._writer.append(*said)
        except BaseException as error:
            self._never_opened(error)
            await agent.close()
            raise
        if not self._ended:
            self._worker = asyncio.create_task(self._work(agent), name=f"work-{self.session}")
        return agent

    def _never_opened(self, error: BaseException) -> None:
        """Whoever has hold of it still is told so."""
        self._ended = True
        foreseen = isinstance(error, AirbossError)
        reason = self._redactor.text(str(error)) if foreseen else "The start was cut off."
        self._settle(TurnReport("interrupted", Failure(type(error).__name__, reason)))

    def _wish(self, quiet_seconds: float, *, resume: bool, goes_on: bool = False) -> SessionWish:
        return SessionWish(
            id=self.session,
            cwd=self._rule.cwd,
            model=self._route.model,
            provider=self._route.provider,
            github_token=self._route.github_token,
            tools=(*JOB_TOOL_OFFERS, ASK_USER_OFFER),
            decide=self._keeper.decide,
            answer=self.desk.answer,
            hear=self._hear,
            redactor=self._redactor,
            resume=resume,
            goes_on=goes_on,
            quiet_limit=quiet_seconds,
        )

    async def prompt(self, text: str, who: str) -> Receipt:
        return (await self.ask(text, who, None, new_prompt_id())).receipt

    async def ask(
        self,
        text: str,
        who: str,
        task: TaskRunId | None,
        prompt: PromptId,
        pause: Pause | None = None,
    ) -> Asked:
        """What comes of it is told in any case, also when the session ends before."""
        self._must_be_open()
        clean = self._redactor.text(text)
        redacted = clean.count(MASK) - text.count(MASK)
        event = PromptAccepted(prompt=prompt, text=clean, who=who, redacted=redacted, task=task)
        request = Request(event.text, task, pause)
        self._queue.add(prompt, request)
        try:
            seq = await self._writer.append(event)
        except BaseException as error:
            self._queue.take(prompt)
            if not isinstance(error, AirbossError) and not self._ended:
                # It may be on disk, or will be: a resumed session is not to work on it.
                self._writer.say(PromptDropped(prompt=prompt, reason=_WITHDRAWN))
            raise
        self._queue.allow(prompt)
        return Asked(Receipt(prompt, seq, redacted), request.answer)

    def _must_be_open(self) -> None:
        if self._ended or self._closing:
            raise Conflict("The session has ended. Resume it, or start a new one.")

    async def _work(self, agent: RuntimeSession) -> None:
        while True:
            turn, text = await self._begin()
            try:
                await self._take_turn(agent, turn, text)
            except Exception as error:  # noqa: BLE001  # a fault of ours ends one turn only
                _log.exception("A turn of session %s failed", self.session)
                self._fail(turn, type(error).__name__, f"A fault in Airboss: {error}", None)
                self._end_if_still(turn, None)

    async def _begin(self) -> tuple[Turn, str]:
        """The turn of the next request."""
        while True:
            await self._queue.some()
            if self._turn is not None:  # the runtime woke the agent by itself: let it finish
                await self._turn.over.wait()
            async with self._aborting:  # it sweeps: what the next turn starts is not meant
                prompt = self._queue.first
                if prompt and self._turn is None and (request := self._queue.take(prompt)):
                    return self._start_turn(prompt, request), request.text

    async def _take_turn(self, agent: RuntimeSession, turn: Turn, text: str) -> None:
        refusal = await self._keeper.hold(turn, before_turn=True)
        if refusal is not None:
            if refusal.reason is not None:
                self._fail(turn, LIMIT_REACHED, refusal.reason, None)
            self._end_if_still(turn, "aborted")
            turn.put.set()
            return
        try:
            self._keeper.sent(turn)
            await agent.send(text)
        except AirbossError as error:
            if isinstance(error, RuntimeUnavailable) and not isinstance(error, Refused):
                await asyncio.sleep(_NOTICED_SECONDS)  # a loss is told once, and ends this task
            self._fail(turn, type(error).__name__, str(error), None)
            self._end_if_still(turn, None)
        turn.put.set()
        await self._see_through(agent, turn)

    async def _see_through(self, agent: RuntimeSession, turn: Turn) -> None:
        await turn.stirred.wait()
        if not turn.over.is_set() and not turn.must_stop:
            await within(_IDLE_AFTER_ERROR_SECONDS, turn.over)
        if not turn.over.is_set():
            await agent.abort()
            self._end_if_still(turn, "aborted")

    def _start_turn(self, prompt: PromptId | None = None, request: Request | None = None) -> Turn:
        turn = self._turn = Turn(new_turn_id(), prompt, request)
        self._writer.say(TurnStarted(turn=turn.id, prompt=prompt))
        self._keeper.begin(turn)
        return turn

    def _hear(self, told: Event | Signal) -> None:
        if self._ended:
            return
        self._keeper.hear()
        match told:
            case BlockDelta():  # first: there are more of them than of all others
                self._writer.say(told)
            case RuntimeLost():
                self._lose(told.reason)
            case TurnIdle():
                self._end_turn("aborted" if told.aborted else None)
            case TurnBegan():
                self._current()
            case TurnFailed():
                self._hear_failure(told)
            case ModelReplaced():
                self._refuse_other_model(told)
            case ModelAnswered() | UsageSeen() | Retrying():
                self._note(self._turn, told)
            case _:
                self._say(told)

    def _say(self, told: Event) -> None:
        if self._turn is not None and isinstance(told, ToolStarted | ToolEnded):
            self._turn.note_tool(told)
        self._writer.say(told)

    def _hear_failure(self, told: TurnFailed) -> None:
        """One that comes while nothing runs is a turn of its own: nobody would end it later."""
        stands_alone = self._turn is None
        self._fail(self._current(), told.name, told.message, told.status, told.cause)
        if stands_alone:
            self._end_turn(None)

    def _current(self) -> Turn:
        """The running turn; where there is none, the runtime woke the agent by itself."""
        turn = self._turn
        if turn is None:
            turn = self._start_turn()
            turn.put.set()
        return turn

    def _note(self, turn: Turn | None, told: ModelAnswered | UsageSeen | Retrying) -> None:
        """What comes late makes no turn of its own, and what was used counts all the same."""
        if isinstance(told, UsageSeen):
            self._keeper.count(turn, told)
        elif turn is not None and isinstance(told, Retrying):
            reason = self._redactor.text(told.reason)
            self._writer.say(TurnRetrying(turn=turn.id, reason=reason))
        elif turn is not None and isinstance(told, ModelAnswered):
            turn.note(told)

    def _fail(
        self, turn: Turn, name: str, message: str, status: int | None, cause: str | None = None
    ) -> None:
        """Told once: what else goes wrong in the same turn follows from it."""
        if turn.outcome != "failed":
            turn.outcome = "failed"
            clean, why = self._redactor.text(message), self._redactor.text(cause or "")
            error = SessionError(name=name, message=clean, status=status, cause=why or None)
            turn.error = Failure(error.name, error.message, status)
            self._writer.say(error)
        turn.stirred.set()

    def _refuse_other_model(self, told: ModelReplaced) -> None:
        turn = self._current()
        turn.must_stop = turn.outcome != "failed"
        message = (
            f"The session asked for {told.asked} and the service took {told.got} instead "
            f"({told.cause}). Choose a model that is offered."
        )
        self._fail(turn, "ModelReplaced", message, None)

    def _refuse(self, turn: Turn, reason: str) -> None:
        """Somebody said no at a limit in the middle of it."""
        turn.must_stop = turn.outcome != "failed"
        self._fail(turn, LIMIT_REACHED, reason, None)

    def _end_if_still(self, turn: Turn, outcome: Outcome | None) -> None:
        if self._turn is turn:
            self._end_turn(outcome)

    def _end_turn(self, outcome: Outcome | None) -> None:
        turn = self._turn
        if turn is None:
            return
        self._keeper.end(turn)
        self._turn = None
        self._writer.say(turn.end(outcome))
        if outcome != "interrupted":
            self._writer.say(SessionIdle())

    def _lose(self, reason: str) -> None:
        """The runtime is gone. What was asked for and not begun stays in the queue for a resume."""
        self._ended = True
        self._lost = reason
        self._leave_desk()
        told = TurnReport("interrupted", Failure("RuntimeLost", reason))
        if self._turn:
            self._turn.cut_short("interrupted", told)
        self._end_turn("interrupted")
        self._settle(told)
        self._writer.say(SessionInterrupted(reason=reason))
        if self._worker:
            self._worker.cancel()
        self._writer.release()
        self._on_lost(self.session)

    def _settle(self, told: TurnReport) -> None:
        """The session ended before it came to what is in its queue. A task has its answer by that;
        only what a person asked for waits for a resume."""
        for prompt, request in self._queue.items():
            request.settle(told)
            if request.task and told.error:
                self._queue.take(prompt)
                self._writer.say(PromptDropped(prompt=prompt, reason=told.error.message))

    def _at_work(self) -> tuple[PromptId | None, Request | None]:
        return (self._turn.prompt, self._turn.request) if self._turn else (None, None)

    async def abort(self) -> TurnId | None:
        """End the running turn, with every process it started. What is queued comes next."""
        self._must_be_open()
        turn = self._turn
        if turn is None or self._agent is None:
            return None
        self.desk.cancel()
        self._keeper.cancel()
        # Said before the runtime has the request, an abort would pass it by.
        await within(_ABORT_SECONDS, turn.put)
        async with self._aborting:
            if not turn.over.is_set():
                await self._agent.abort()
                await within(_ABORT_SECONDS, turn.over)
                self._end_if_still(turn, "aborted")
        return turn.id

    async def withdraw(self, prompt: PromptId) -> None:
        """Not to be worked on, or no longer."""
        if request := self._queue.take(prompt):
            self._writer.say(PromptDropped(prompt=prompt, reason=_WITHDRAWN))
            request.settle(TurnReport("dropped", Failure("Withdrawn", _WITHDRAWN)))
        elif self._turn is not None and self._turn.prompt == prompt:
            await self.abort()

    def _leave_desk(self) -> None:
        """What a run asks stays asked: the session is resumed and asks for the same."""
        view = self._writer.view
        if isinstance(view, SessionView) and view.run:
            self.desk.leave()
        else:
            self.desk.cancel()

    async def close(self, who: str, reason: str) -> None:
        self.desk.cancel()
        await self._end("aborted", TurnReport("dropped", Failure("SessionClosed", _CLOSED)))
        dropped = [PromptDropped(prompt=prompt, reason=_CLOSED) for prompt in self._queue]
        await self._writer.append(*dropped, SessionClosed(reason=reason, who=who))
        self._writer.release()

    async def interrupt(self, reason: str) -> None:
        """The server stops: the session can be resumed by the next one."""
        told = TurnReport("interrupted", Failure("ServerStopped", reason))
        self._leave_desk()
        await self._end("interrupted", told)
        await self._writer.append(SessionInterrupted(reason=reason))
        self._writer.release()

    async def _end(self, outcome: Outcome, told: TurnReport) -> None:
        self._must_be_open()
        self._closing = True
        if self._turn:
            self._turn.cut_short(outcome, told)
        try:
            if self._worker:
                self._worker.cancel()
                await asyncio.wait({self._worker})
            if self._agent is not None:
                await self._agent.close()
        finally:
            self._end_turn(outcome)
            self._ended = True
            self._settle(told)
