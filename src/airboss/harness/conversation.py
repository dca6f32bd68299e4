"""One open session: its queue of requests, its turn, and its voice in the log."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from airboss.background import Background
from airboss.errors import AirbossError, Conflict, RuntimeUnavailable
from airboss.harness.aside import ask_aside
from airboss.harness.compaction import Compacting
from airboss.harness.gate import Checks, Gate
from airboss.harness.limit_guard import LIMIT_REACHED, LimitGuard
from airboss.harness.loops import Loops
from airboss.harness.models import Route
from airboss.harness.pending_items import PendingItems
from airboss.harness.permissions import PolicyRule
from airboss.harness.prompts import Delivery, Prompts
from airboss.harness.provider_address import ProviderAddress
from airboss.harness.questions import ASK_USER_OFFER
from airboss.harness.session_state import SessionState
from airboss.harness.session_terms import SessionTerms
from airboss.harness.switching import Switching
from airboss.harness.tool_filter import tool_policies
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
from airboss.model.context_events import SessionChanged
from airboss.model.events import (
    Event,
    PromptDropped,
    SessionClosed,
    SessionInterrupted,
    SessionReady,
    SessionResumed,
)
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import PromptId, SessionId, TaskRunId, TurnId, new_prompt_id
from airboss.model.setup import Setup
from airboss.runtime.errands import Compaction
from airboss.runtime.runtime_process import RuntimeRefused
from airboss.runtime.session import RuntimeSession, SessionRequest
from airboss.runtime.signals import RuntimeLost, Signal, TurnFailed
from airboss.runtime.tool_names import ToolsBySource
from airboss.store.images import Pictures

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
        state: SessionState,
        terms: SessionTerms,
        on_lost: Callable[[SessionId], None],
    ) -> None:
        self.session = state.session
        self._state = state
        self._terms = Switching(state, terms)
        self._address = ProviderAddress(terms.proxy)
        self._on_lost = on_lost
        self._background = Background("session", state.session)
        self.pending = PendingItems(
            state, terms.rule, terms.rules, terms.find_earlier, terms.approval_seconds
        )
        self.prompts = Prompts(state, terms.images)
        self._guard = LimitGuard(state, self.pending, terms.route.multiplier)
        self._events = TurnEvents(state, self.prompts, self.pending, self._guard, self._background)
        loops, checks = (
            Loops(terms.loop_detection),
            Checks(policies=tool_policies(terms.setup.tools), ask=self.pending.permit),
        )
        ours = {offer.name for offer in _TOOLS}
        self.gate = Gate(state, loops, self._events.hear, self._events.stop, checks, ours)
        self._aborting = asyncio.Lock()
        self._compacting = Compacting(state, self._agent)
        self._worker: asyncio.Task[None] | None = None
        self._lost: str | None = None

    @property
    def cwd(self) -> Path:
        return self._terms.now.rule.cwd

    @property
    def setup(self) -> Setup:
        return self._terms.latest.setup

    @property
    def is_working(self) -> bool:
        return self._state.is_working or self._compacting.goes_on

    @property
    def is_ready(self) -> bool:
        return self._worker is not None and not self._state.is_closing and not self._state.is_over

    async def tools(self) -> ToolsBySource | None:
        """Those that it has now, where the runtime says so."""
        return await self._state.agent.tools() if self._state.agent else None

    async def note(self, *said: Event) -> None:  # about the session, and not to its agent
        await self._state.writer.commit(*said)

    async def open(self, *, waits: bool) -> None:
        request = await self._request(resume=False)
        await self._enter(request, SessionReady(), waits=waits)
        self._start_work()

    async def resume(self, who: str | None) -> None:
        """Go on where an interrupted session stopped, and with what was still in its queue."""
        request = await self._request(resume=True)
        await self._enter(request, *_resumed(who))
        self._start_work()

    async def go_on(self, who: str | None, prompt: PromptId | None, request: Request) -> bool:
        """Resume it in the middle of a turn that waited for a person. Whether it still does."""
        requested = await self._request(resume=True, goes_on=True)
        agent = await self._enter(requested, *_resumed(who))
        try:
            pending = await agent.pending()
        except AirbossError as error:
            if not self._state.is_over:  # a lost runtime says so
                await self.interrupt(str(error))
            raise
        if pending:
            turn = self._events.start_turn(prompt, request)
            turn.put.set()
            self._background.start(self._events.see_through(turn), "turn that goes on")
            self.pending.expect(len(pending))
            agent.go_on(pending)
        self._start_work()  # behind that turn: a queue may wait
        return bool(pending)

    async def _enter(
        self, request: SessionRequest, *said: Event, waits: bool = True
    ) -> RuntimeSession:
        try:
            self._state.agent = agent = await self._terms.now.open_session(request)
        except BaseException as error:
            self._never_opened(error)
            raise
        if self._lost is not None:  # between its answer and now
            raise RuntimeUnavailable(self._lost)
        try:
            await self._state.record(*said, waits=waits)
        except BaseException as error:
            self._never_opened(error)
            await agent.close()
            raise
        return agent

    def _start_work(self) -> None:
        if not self._state.is_over and not self._state.is_closing:
            self._worker = self._background.start(self._work(), "work")

    def _never_opened(self, error: BaseException) -> None:
        """Whoever has hold of it still is told so."""
        self._state.is_over = True
        self._address.give_back()
        why = str(error) if isinstance(error, AirbossError) else "The start was interrupted."
        reason = excerpt(self._state.redactor, why, MOST_OF_A_REASON)
        self.prompts.settle(TurnReport("interrupted", Failure(type(error).__name__, reason)))

    async def _request(self, *, resume: bool, goes_on: bool = False) -> SessionRequest:
        terms = self._terms.now
        return SessionRequest(
            id=self.session,
            cwd=self.cwd,
            model=terms.route.model,
            setup=terms.setup,
            provider=await self._address.provider(terms.route),
            vision=terms.route.vision,
            github_token=terms.route.github_token,
            tools=_TOOLS,
            decide=self._guard.decide,
            answer=self.pending.answer,
            gate=self.gate,
            hear=self._hear,
            redactor=self._state.redactor,
            resume=resume,
            goes_on=goes_on,
            quiet_limit=terms.quiet_seconds,
            most=terms.max_block,
        )

    async def prompt(
        self, text: str, who: str, delivery: Delivery = "queue", pictures: Pictures = ()
    ) -> Receipt:
        """A person's request. What is to overtake others does so where a turn runs."""
        self._state.must_be_open()
        if delivery == "refuse" and self.is_working:
            raise Conflict(
                "The agent is working, so the message was not accepted (`delivery` is `refuse`)."
            )
        turn, prompt = self._state.turn, new_prompt_id()
        overtaking = delivery if turn and delivery in ("steer", "interrupt") else None
        asked = await self.prompts.accept(text, who, None, prompt, overtaking, pictures=pictures)
        if turn and overtaking == "steer":
            await self.prompts.steer(prompt, turn)
        else:
            self._state.queue.let_go(prompt)
        if turn and overtaking == "interrupt":
            await self._abort(turn)
        return asked.receipt

    async def ask(
        self, text: str, who: str, task: TaskRunId, prompt: PromptId, pause: Pause | None = None
    ) -> AcceptedPrompt:
        """What comes of it is told in any case, also when the session ends before."""
        self._state.must_be_open()
        asked = await self.prompts.accept(text, who, task, prompt, pause=pause)
        self._state.queue.let_go(prompt)
        return asked

    async def _work(self) -> None:
        while True:
            turn, text = await self._begin()
            try:
                await self._take_turn(turn, text)
            except Exception as error:  # noqa: BLE001  # a fault of ours ends one turn only
                _log.exception("A turn of session %s failed", self.session)
                self._state.fail_turn(turn, type(error).__name__, f"A bug in Airboss: {error}")
                self._events.end_if_still(turn, None)

    async def _begin(self) -> tuple[Turn, str]:
        """The turn of the next request."""
        queue = self._state.queue
        while True:
            await queue.some()
            if self._state.turn is not None:  # the runtime woke the agent by itself: let it finish
                await self._state.turn.over.wait()
            await self.prompts.settled()
            # An abort sweeps: what the next turn starts is not meant.
            async with self._compacting.door, self._aborting:
                if prompt := queue.first:
                    await self.prompts.take_back(prompt)
                if prompt and self._state.turn is None:
                    text, request = queue.text(prompt), queue.take(prompt)
                    if request:
                        return self._events.start_turn(prompt, request), text

    async def _take_turn(self, turn: Turn, text: str) -> None:
        refusal = await self._guard.hold(turn, before_turn=True)
        if refusal is not None:
            if refusal.reason is not None:
                self._state.fail_turn(turn, LIMIT_REACHED, refusal.reason)
            self._events.end_if_still(turn, "aborted")
            turn.put.set()
            return
        try:
            agent = await self._agent()
            self._guard.sent(turn)
            # A task's request has none, and looking for them takes a thread.
            pictures = [] if turn.is_of_task else await self.prompts.pictures_of(turn.prompt)
            await agent.send(text, pictures)
        except AirbossError as error:
            if isinstance(error, RuntimeUnavailable) and not isinstance(error, RuntimeRefused):
                await asyncio.sleep(_NOTICED_SECONDS)  # a loss is told once, and ends this task
            self._state.fail_turn(turn, type(error).__name__, str(error))
            self._events.end_if_still(turn, None)
        turn.put.set()
        await self._events.see_through(turn)

    def _hear(self, said: Event | Signal) -> None:
        said = self._compacting.name(said)
        if isinstance(said, TurnFailed):
            told = self._address.in_our_words(self._terms.now.route, said.message)
            said = replace(said, message=excerpt(self._state.redactor, told, MOST_OF_A_REASON))
        if not isinstance(said, RuntimeLost):
            self._events.hear(said)
        elif not self._state.is_over:
            self._lose(said.reason)

    def _lose(self, reason: str) -> None:
        """The runtime is gone. What was asked for and not begun stays in the queue for a resume."""
        self._state.is_over = True
        self._address.give_back()
        self._lost = reason
        self.pending.leave()
        said = TurnReport("interrupted", Failure("RuntimeLost", reason))
        if self._state.turn:
            self._state.turn.cut_short("interrupted", said)
        self._events.end_turn("interrupted")
        self.prompts.settle(said)
        self._state.writer.say(SessionInterrupted(reason=reason))
        self._background.cancel()
        self._state.writer.release()
        self._on_lost(self.session)

    async def abort(self) -> TurnId | None:
        """End the running turn, with every process it started. What is queued comes next."""
        self._state.must_be_open()
        if turn := self._state.turn:
            await self._abort(turn)
        else:
            await self._compacting.stop()
        return turn and turn.id

    async def _abort(self, turn: Turn) -> None:
        self.pending.cancel()
        self._guard.cancel()
        # Said before the runtime has the request, an abort would pass it by.
        await within(_ABORT_SECONDS, turn.put)
        async with self._aborting:
            if self._state.agent and not turn.over.is_set():
                await self._state.agent.abort()
                await within(_ABORT_SECONDS, turn.over)
                self._events.end_if_still(turn, "aborted")

    async def withdraw(self, prompt: PromptId) -> None:
        """Not to be worked on, or no longer."""
        turn = self._state.turn
        if not self.prompts.withdraw(prompt) and turn and turn.prompt == prompt:
            await self.abort()

    async def aside(self, question: str, who: str) -> str:
        """Answered from the session's history, which stays as it is; a running turn goes on."""
        self._state.must_be_open()
        return await ask_aside(self._state, question, who)

    async def compact(self, instructions: str | None, who: str) -> Compaction | None:
        """Only while it is idle; what is asked for meanwhile waits."""
        self._state.must_be_open()
        return await self._compacting.compact(instructions, who)

    async def change(self, said: SessionChanged, route: Route, rule: PolicyRule | None) -> None:
        """On disk now, so from its next turn on, whatever becomes of this server."""
        self._state.must_be_open()
        await self._terms.change(said, route, rule)

    async def _agent(self) -> RuntimeSession:
        """As somebody wants it by now. It is lost where another service does not take it."""
        before = self._state.opened_agent
        try:
            agent = await self._terms.agent(self._reopened)
        except AirbossError as error:
            if not before.alive and not self._state.is_over:
                self._lose(str(error))
                raise RuntimeUnavailable(str(error)) from error
            raise
        now = self._terms.now
        self.pending.rule, self._guard.multiplier = now.rule, now.route.multiplier
        return agent

    async def _reopened(self) -> RuntimeSession:
        """The same session at another service."""
        return await self._terms.now.open_session(await self._request(resume=True))

    async def close(self, who: str, reason: str, *, waits: bool) -> None:
        self.pending.cancel()
        await self._end("aborted", TurnReport("dropped", Failure("SessionClosed", _CLOSED)))
        dropped = [PromptDropped(prompt=prompt, reason=_CLOSED) for prompt in self._state.queue]
        await self._state.record(*dropped, SessionClosed(reason=reason, who=who), waits=waits)
        self._state.writer.release()

    async def interrupt(self, reason: str) -> None:
        """The server stops: the session can be resumed by the next one."""
        self.pending.leave()
        await self._end("interrupted", TurnReport("interrupted", Failure("ServerStopped", reason)))
        await self._state.writer.commit(SessionInterrupted(reason=reason))
        self._state.writer.release()

    async def _end(self, outcome: Outcome, said: TurnReport) -> None:
        self._state.must_be_open()
        self._state.is_closing = True
        if self._state.turn:
            self._state.turn.cut_short(outcome, said)
        try:
            await self._background.close(cancel=True)
            if self._state.agent is not None:
                await self._state.agent.close()
            await self._guard.close()
            await self.gate.close()
        finally:
            self._address.give_back()
            self._events.end_turn(outcome)
            self._state.is_over = True
            self.prompts.settle(said)


def _resumed(who: str | None) -> tuple[Event, ...]:  # without a name it was said before
    return (SessionReady(),) if who is None else (SessionResumed(who=who), SessionReady())
