"""One open session: its queue of requests, its turn, and its voice in the log."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from airboss.background import Background
from airboss.errors import AirbossError, Conflict, RuntimeUnavailable
from airboss.harness.aside import answered
from airboss.harness.gate import Checks, Gate
from airboss.harness.limit_guard import LIMIT_REACHED, LimitGuard
from airboss.harness.loops import Loops
from airboss.harness.models import Route
from airboss.harness.pending_items import Office, PendingItems
from airboss.harness.permissions import PolicyRule
from airboss.harness.prompt_images import PromptImages
from airboss.harness.prompts import Delivery, Prompts
from airboss.harness.questions import ASK_USER_OFFER
from airboss.harness.queue import RequestQueue
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.harness.turn import (
    AcceptedPrompt,
    Failure,
    Outcome,
    Pause,
    Receipt,
    Request,
    Turn,
    TurnReport,
    within,
)
from airboss.harness.turn_events import TurnEvents
from airboss.log.writer import Writer
from airboss.model.events import (
    Event,
    PromptDropped,
    SessionClosed,
    SessionInterrupted,
    SessionReady,
    SessionResumed,
)
from airboss.model.excerpt import MOST_CHARACTERS, MOST_OF_A_REASON, excerpt
from airboss.model.ids import PromptId, SessionId, TaskRunId, TurnId, new_prompt_id
from airboss.model.redaction import Redactor
from airboss.model.views import QueuedPrompt, SessionView
from airboss.runtime.runtime_process import RuntimeRefused
from airboss.runtime.session import RuntimeSession, SessionRequest
from airboss.runtime.signals import RuntimeLost, Signal
from airboss.store.images import Images, Pictures

OpenSession = Callable[[SessionRequest], Awaitable[RuntimeSession]]

# After an error the runtime says that it is idle; one that does not is taken at its silence.
_IDLE_AFTER_ERROR_SECONDS = 5.0
_ABORT_SECONDS = 5.0
# A runtime that died is noticed within this time, and told to us as a loss.
_NOTICED_SECONDS = 2.0
_CLOSED = "The session was closed."
_TOOLS = (*JOB_TOOL_OFFERS, ASK_USER_OFFER)

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
        again: QueuedPrompt | None = None,
        loops: Loops | None = None,
        images: Images | None = None,
        max_block: int = MOST_CHARACTERS,
    ) -> None:
        self.session = session
        self._max_block = max_block
        self._writer = writer
        self._route = route
        self._rule = rule
        self._redactor = redactor
        self.pending = PendingItems(session, writer, rule, redactor, office, seconds, self._at_work)
        self._on_lost = on_lost
        self._images = PromptImages(session, images)
        self.prompts = Prompts(RequestQueue(writer, again), writer, redactor, self._images)
        turn_now: Callable[[], Turn | None] = lambda: self._events.turn  # noqa: E731
        self._guard = LimitGuard(self.pending, route.multiplier, turn_now, self._stop)
        self._events = TurnEvents(writer, redactor, self.prompts, self._guard)
        watch, clean, checks = loops or Loops(), redactor.text, Checks(ask=self.pending.permit)
        ours = {offer.name for offer in _TOOLS}
        self.gate = Gate(session, watch, self._hear, turn_now, self._stop, clean, checks, ours)
        self._aborting = asyncio.Lock()
        self._agent: RuntimeSession | None = None
        self._background = Background("session", session)
        self._worker: asyncio.Task[None] | None = None
        self._lost: str | None = None
        # No more is asked for; and a little later: no more is heard.
        self._closing = False
        self._ended = False

    @property
    def cwd(self) -> Path:
        return self._rule.cwd

    @property
    def is_working(self) -> bool:
        return self._events.turn is not None or bool(self.prompts.queue)

    @property
    def is_ready(self) -> bool:
        return self._worker is not None and not self._closing and not self._ended

    async def open(self, open_session: OpenSession, quiet_seconds: float, *, waits: bool) -> None:
        request = self._wish(quiet_seconds, resume=False)
        self._start_work(await self._enter(open_session, request, SessionReady(), waits=waits))

    async def resume(
        self, open_session: OpenSession, quiet_seconds: float, who: str | None
    ) -> None:
        """Go on where an interrupted session stopped, and with what was still in its queue."""
        request = self._wish(quiet_seconds, resume=True)
        self._start_work(await self._enter(open_session, request, *_resumed(who)))

    async def go_on(
        self,
        open_session: OpenSession,
        quiet_seconds: float,
        who: str | None,
        prompt: PromptId | None,
        request: Request,
    ) -> bool:
        """Resume it in the middle of a turn that waited for a person. Whether it still does."""
        requested = self._wish(quiet_seconds, resume=True, goes_on=True)
        agent = await self._enter(open_session, requested, *_resumed(who))
        try:
            pending = await agent.pending()
        except AirbossError as error:
            if not self._ended:  # a lost runtime says so
                await self.interrupt(str(error))
            raise
        if pending:
            turn = self._events.start_turn(prompt, request)
            turn.put.set()
            self._background.start(self._see_through(agent, turn), "turn that goes on")
            self.pending.expect(len(pending))
            agent.go_on(pending)
        self._start_work(agent)  # behind that turn: a queue may wait
        return bool(pending)

    async def _enter(
        self, open_session: OpenSession, request: SessionRequest, *said: Event, waits: bool = True
    ) -> RuntimeSession:
        try:
            self._agent = self.prompts.agent = agent = await open_session(request)
        except BaseException as error:
            self._never_opened(error)
            raise
        if self._lost is not None:  # between its answer and now
            raise RuntimeUnavailable(self._lost)
        try:
            await self._record(*said, waits=waits)
        except BaseException as error:
            self._never_opened(error)
            await agent.close()
            raise
        return agent

    def _start_work(self, agent: RuntimeSession) -> None:
        if not self._ended and not self._closing:
            self._worker = self._background.start(self._work(agent), "work")

    async def _record(self, *events: Event, waits: bool) -> None:
        """On disk when this answers, or with what somebody waits for next."""
        if waits:
            await self._writer.commit(*events)
        else:
            self._writer.say(*events, urgent=False)

    def _never_opened(self, error: BaseException) -> None:
        """Whoever has hold of it still is told so."""
        self._ended = self.prompts.is_over = True
        why = str(error) if isinstance(error, AirbossError) else "The start was cut off."
        reason = excerpt(self._redactor, why, MOST_OF_A_REASON)
        self.prompts.settle(TurnReport("interrupted", Failure(type(error).__name__, reason)))

    def _wish(self, quiet_seconds: float, *, resume: bool, goes_on: bool = False) -> SessionRequest:
        return SessionRequest(
            id=self.session,
            cwd=self._rule.cwd,
            model=self._route.model,
            provider=self._route.provider,
            github_token=self._route.github_token,
            tools=_TOOLS,
            decide=self._guard.decide,
            answer=self.pending.answer,
            gate=self.gate,
            hear=self._hear,
            redactor=self._redactor,
            resume=resume,
            goes_on=goes_on,
            quiet_limit=quiet_seconds,
            most=self._max_block,
        )

    async def prompt(
        self, text: str, who: str, delivery: Delivery = "queue", pictures: Pictures = ()
    ) -> Receipt:
        """A person's request. What is to overtake others does so where a turn runs."""
        self._must_be_open()
        if delivery == "refuse" and self.is_working:
            raise Conflict("The agent works, and the request was not to wait. It was not accepted.")
        turn, prompt = self._events.turn, new_prompt_id()
        overtaking = delivery if turn and delivery in ("steer", "interrupt") else None
        images = await self._images.add(prompt, pictures)
        asked = await self.prompts.accept(text, who, None, prompt, overtaking, images=images)
        if turn and overtaking == "steer":
            await self.prompts.steer(prompt, turn)
        else:
            self.prompts.queue.let_go(prompt)
        if turn and overtaking == "interrupt":
            await self._abort(turn)
        return asked.receipt

    async def ask(
        self, text: str, who: str, task: TaskRunId, prompt: PromptId, pause: Pause | None = None
    ) -> AcceptedPrompt:
        """What comes of it is told in any case, also when the session ends before."""
        self._must_be_open()
        asked = await self.prompts.accept(text, who, task, prompt, pause=pause)
        self.prompts.queue.let_go(prompt)
        return asked

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
                self._events.fail(turn, type(error).__name__, f"A fault in Airboss: {error}", None)
                self._events.end_if_still(turn, None)

    async def _begin(self) -> tuple[Turn, str]:
        """The turn of the next request."""
        queue = self.prompts.queue
        while True:
            await queue.some()
            if self._events.turn is not None:  # the runtime woke the agent by itself: let it finish
                await self._events.turn.over.wait()
            await self.prompts.settled()
            async with self._aborting:  # it sweeps: what the next turn starts is not meant
                if prompt := queue.first:
                    await self.prompts.take_back(prompt)
                if prompt and self._events.turn is None:
                    text, request = queue.text(prompt), queue.take(prompt)
                    if request:
                        return self._events.start_turn(prompt, request), text

    async def _take_turn(self, agent: RuntimeSession, turn: Turn, text: str) -> None:
        refusal = await self._guard.hold(turn, before_turn=True)
        if refusal is not None:
            if refusal.reason is not None:
                self._events.fail(turn, LIMIT_REACHED, refusal.reason, None)
            self._events.end_if_still(turn, "aborted")
            turn.put.set()
            return
        try:
            self._guard.sent(turn)
            # A task's request has none, and looking for them takes a thread.
            await agent.send(text, [] if turn.is_of_task else await self._images.of(turn.prompt))
        except AirbossError as error:
            if isinstance(error, RuntimeUnavailable) and not isinstance(error, RuntimeRefused):
                await asyncio.sleep(_NOTICED_SECONDS)  # a loss is told once, and ends this task
            self._events.fail(turn, type(error).__name__, str(error), None)
            self._events.end_if_still(turn, None)
        turn.put.set()
        await self._see_through(agent, turn)

    async def _see_through(self, agent: RuntimeSession, turn: Turn) -> None:
        await turn.stirred.wait()
        if not turn.over.is_set() and not turn.must_stop:
            await within(_IDLE_AFTER_ERROR_SECONDS, turn.over)
        if not turn.over.is_set():
            await agent.abort()
            self._events.end_if_still(turn, "aborted")

    def _hear(self, said: Event | Signal) -> None:
        if self._ended:
            return
        if isinstance(said, RuntimeLost):
            self._lose(said.reason)
        else:
            self._events.hear(said)

    def _stop(self, name: str, message: str) -> None:
        """The running turn must not go on."""
        turn = self._events.stop(name, message)
        if turn.request is None and self._agent and not self._closing:  # no worker waits for it
            self._background.start(self._agent.abort(), "abort")

    def _lose(self, reason: str) -> None:
        """The runtime is gone. What was asked for and not begun stays in the queue for a resume."""
        self._ended = self.prompts.is_over = True
        self._lost = reason
        self._leave_pending()
        said = TurnReport("interrupted", Failure("RuntimeLost", reason))
        if self._events.turn:
            self._events.turn.cut_short("interrupted", said)
        self._events.end_turn("interrupted")
        self.prompts.settle(said)
        self._writer.say(SessionInterrupted(reason=reason))
        self._background.cancel()
        self._writer.release()
        self._on_lost(self.session)

    def _at_work(self) -> tuple[PromptId | None, Request | None]:
        return (turn.prompt, turn.request) if (turn := self._events.turn) else (None, None)

    async def abort(self) -> TurnId | None:
        """End the running turn, with every process it started. What is queued comes next."""
        self._must_be_open()
        if turn := self._events.turn:
            await self._abort(turn)
        return turn and turn.id

    async def _abort(self, turn: Turn) -> None:
        self.pending.cancel()
        self._guard.cancel()
        # Said before the runtime has the request, an abort would pass it by.
        await within(_ABORT_SECONDS, turn.put)
        async with self._aborting:
            if self._agent and not turn.over.is_set():
                await self._agent.abort()
                await within(_ABORT_SECONDS, turn.over)
                self._events.end_if_still(turn, "aborted")

    async def withdraw(self, prompt: PromptId) -> None:
        """Not to be worked on, or no longer."""
        turn = self._events.turn
        if not self.prompts.withdraw(prompt) and turn and turn.prompt == prompt:
            await self.abort()

    async def aside(self, question: str, who: str) -> str:
        """Answered from the session's history, which stays as it is; a running turn goes on."""
        self._must_be_open()
        said = await answered(self._agent, self._writer.view, self._redactor, question, who)
        self._must_be_open()
        await self._writer.commit(said)
        return said.answer

    def _leave_pending(self) -> None:
        """It is asked again, but for what a task asked in a session that was lent to it."""
        view, (_, request) = self._writer.view, self._at_work()
        task = view.task if isinstance(view, SessionView) else None
        if task or not (request and request.task):
            self.pending.leave(is_sent_again=task is not None)
        else:
            self.pending.cancel()

    async def close(self, who: str, reason: str, *, waits: bool) -> None:
        self.pending.cancel()
        await self._end("aborted", TurnReport("dropped", Failure("SessionClosed", _CLOSED)))
        dropped = [PromptDropped(prompt=prompt, reason=_CLOSED) for prompt in self.prompts.queue]
        await self._record(*dropped, SessionClosed(reason=reason, who=who), waits=waits)
        self._writer.release()

    async def interrupt(self, reason: str) -> None:
        """The server stops: the session can be resumed by the next one."""
        self._leave_pending()
        await self._end("interrupted", TurnReport("interrupted", Failure("ServerStopped", reason)))
        await self._writer.commit(SessionInterrupted(reason=reason))
        self._writer.release()

    async def _end(self, outcome: Outcome, said: TurnReport) -> None:
        self._must_be_open()
        self._closing = True
        if self._events.turn:
            self._events.turn.cut_short(outcome, said)
        try:
            await self._background.close(cancel=True)
            if self._agent is not None:
                await self._agent.close()
            await self._guard.close()
            await self.gate.close()
        finally:
            self._events.end_turn(outcome)
            self._ended = self.prompts.is_over = True
            self.prompts.settle(said)


def _resumed(who: str | None) -> tuple[Event, ...]:  # without a name it was said before
    return (SessionReady(),) if who is None else (SessionResumed(who=who), SessionReady())
