"""One open session: its queue of requests, its turn, and its voice in the log."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from airboss.background import Background
from airboss.errors import AirbossError, Conflict, RuntimeUnavailable, SessionGone
from airboss.harness.auto_switch import SwitchDecisions
from airboss.harness.cage_rest import CageRest
from airboss.harness.compaction import Compacting
from airboss.harness.extension_part import ExtensionPart
from airboss.harness.gate import Gate
from airboss.harness.hook_facts import close_hooks, gate_checks, leave_hooks, session_hooks
from airboss.harness.host_items import HostItems
from airboss.harness.incarnation import Incarnation
from airboss.harness.limit_guard import LimitGuard
from airboss.harness.loops import Loops
from airboss.harness.message_writing import MessageWriting
from airboss.harness.models import Route
from airboss.harness.pending_items import PendingItems
from airboss.harness.permissions import PolicyRule
from airboss.harness.plans import must_have_own_turn
from airboss.harness.prompts import NOTHING_MORE, Delivery, Extras, Prompts
from airboss.harness.provider_address import ProviderAddress
from airboss.harness.server_launch import ServerLaunch
from airboss.harness.server_sign_ins import SignInRequests
from airboss.harness.session_account import SessionAccount
from airboss.harness.session_errands import SessionErrands
from airboss.harness.session_opening import Ears, SessionOpening
from airboss.harness.session_state import SessionState
from airboss.harness.session_terms import SessionTerms
from airboss.harness.switching import Switching
from airboss.harness.tool_filter import tool_policies
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
from airboss.harness.turn_work import TurnWork
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
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import RuntimeLost, Signal

_ABORT_SECONDS = 5.0
_CLOSED = "The session was closed."


class Conversation(SessionErrands):
    """The one place that works on a session. Requests are worked on one after another."""

    def __init__(
        self, state: SessionState, terms: SessionTerms, on_lost: Callable[[SessionId], None]
    ) -> None:
        self.session, self.writer = state.session, state.writer
        self._state = state
        self._terms = Switching(state, terms)
        self._on_lost = on_lost
        self._background = Background("session", state.session)
        self.pending = PendingItems(
            state, terms.rule, terms.rules, terms.find_earlier, terms.approval_seconds
        )
        # Where it has a cage, whose way out asks here.
        self.hosts = HostItems(state, terms.rules, lambda: self._terms.now.rule)
        self.prompts = Prompts(state, terms.images)
        self._guard = LimitGuard(state, self.pending, terms.route.multiplier)
        self._events = TurnEvents(state, self.prompts, self.pending, self._guard, self._background)
        state.hooks = hooks = session_hooks(state, lambda: self._terms.now, self._events.hear)
        self._writing = MessageWriting(hooks, state.redactor, self._take, terms.max_block)
        launch = ServerLaunch.of(terms)
        decide = launch.permits.deciding(self._guard.decide)
        self.extensions = brought = ExtensionPart(
            state, self._terms, self.pending, decide, self.prompt, self.abort, self._background
        )
        loops, policies = Loops(terms.loop_detection), tool_policies(terms.setup.tools)
        checks = gate_checks(hooks, policies, self.pending.permit, brought.host)
        self.gate = Gate(state, loops, self._events.hear, self._events.stop, checks, brought.ours)
        self._aborting = asyncio.Lock()
        self._compacting = Compacting(state, self._agent)
        doors = (self._compacting.door, self._aborting)
        self._sign_ins = SignInRequests(state, self.pending, launch, self._events.hear)
        self._work = TurnWork(
            state, self.prompts, self._events, self._guard, self._agent, doors, self._sign_ins
        )
        self._incarnation = Incarnation(state, self._terms, self._background)
        used = state.view.account if state.view else None
        account = SessionAccount(terms.accounts, state.writer, used)
        switches = SwitchDecisions(self._terms, self.pending, account)
        self._opening = SessionOpening(
            self._terms,
            self._incarnation,
            account,
            ProviderAddress(
                terms.proxy, lambda: state.turn and state.turn.trace, terms.cage is not None
            ),
            launch,
            state.redactor,
            Ears(
                self._hear,
                decide,
                brought.answer,
                self.gate,
                brought.hooks,
                lambda: switches.decide,
                brought.tools,
                brought.overhear,
            ),
            terms.cage and terms.open_cages.session(state, self.hosts, terms.cage),
        )
        self.rest = CageRest(state, self._opening, self._compacting.door)
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

    @property
    def agent(self) -> RuntimeSession | None:
        return self._state.agent

    async def open(self, *, waits: bool) -> None:
        await self._enter(None, resume=False, waits=waits)
        self._start_work()

    async def resume(self, who: str | None) -> None:
        """Go on where an interrupted session stopped, and with what was still in its queue. Where
        the runtime has its history no more, or may not use it, the agent begins anew."""
        try:
            await self._incarnation.must_fit()
            await self._enter(who, resume=True)
        except SessionGone as gone:
            await self._begin_anew(who, str(gone))
        self._start_work()

    async def _begin_anew(self, who: str | None, why: str) -> None:
        restarted = self._incarnation.begin_anew(why)
        await self._enter(who, restarted, resume=False)

    async def go_on(self, who: str | None, prompt: PromptId | None, request: Request) -> bool:
        """Resume it in the middle of a turn that waited for a person. Whether it still does. Where
        its history is gone, a task's is, too: that begins with another session."""
        try:
            await self._incarnation.must_fit()
            agent = await self._enter(who, resume=True, goes_on=True)
        except SessionGone as gone:
            if self._state.task is not None:
                self._never_opened(gone)
                raise
            await self._begin_anew(who, str(gone))
            self._start_work()
            return False
        try:
            pending = await agent.pending()
        except AirbossError as error:
            if not self._state.is_over:  # a lost runtime says so
                await self.interrupt(str(error))
            raise
        if pending:
            turn = self._events.start_turn(prompt, request, self._state.mode)
            turn.is_sent = True
            turn.put.set()
            self._background.start(self._events.see_through(turn), "turn that goes on")
            await self.extensions.go_on(agent, pending)
        self._start_work()  # behind that turn: a queue may wait
        return bool(pending)

    async def _enter(
        self,
        who: str | None,
        *said: Event,
        resume: bool,
        goes_on: bool = False,
        waits: bool = True,
    ) -> RuntimeSession:
        """`who` resumes it; without a name that was said before, or it is new."""
        self._incarnation.keep()
        self.extensions.begin()
        try:
            self._state.agent = agent = await self._opening.opened(resume=resume, goes_on=goes_on)
            self.extensions.entered()
        except BaseException as error:
            if not (isinstance(error, SessionGone) and resume):  # who asks may begin anew
                self._never_opened(error)
            raise
        if self._lost is not None:  # between its answer and now
            raise RuntimeUnavailable(self._lost)
        try:
            before = () if who is None else (SessionResumed(who=who),)
            account, machine = self._opening.account.now, self._terms.now.machine
            ready = SessionReady(account=account, machine=machine)
            await self._state.record(*before, *said, ready, waits=waits)
        except BaseException as error:
            self._never_opened(error)
            await agent.close()
            raise
        return agent

    def _start_work(self) -> None:
        if not self._state.is_over and not self._state.is_closing:
            self._worker = self._background.start(self._work.go_on(), "work")
            self._background.start(self.rest.watch(), "rest")

    def _never_opened(self, error: BaseException) -> None:
        """Whoever has hold of it still is told so."""
        self._state.is_over = True
        self._opening.give_back()
        self.extensions.leave()
        why = str(error) if isinstance(error, AirbossError) else "The start was interrupted."
        reason = excerpt(self._state.redactor, why, MOST_OF_A_REASON)
        self.prompts.settle(TurnReport("interrupted", Failure(type(error).__name__, reason)))

    async def prompt(
        self, text: str, who: str, delivery: Delivery = "queue", more: Extras = NOTHING_MORE
    ) -> Receipt:
        """A person's request. What is to overtake others does so where a turn runs."""
        self._state.must_be_open()
        if delivery == "refuse" and self.is_working:
            raise Conflict(
                "The agent is working, so the message was not accepted (`delivery` is `refuse`)."
            )
        turn, prompt = self._state.turn, new_prompt_id()
        overtaking = delivery if turn and delivery in ("steer", "interrupt") else None
        must_have_own_turn(more.mode, overtaking)
        self.extensions.heard_from(who)
        asked = await self.prompts.accept(text, who, None, prompt, overtaking, more=more)
        if turn and overtaking == "steer":
            await self.prompts.steer(prompt, turn)
        else:
            self._state.queue.let_go(prompt)
        if turn and overtaking == "interrupt":
            await self._abort(turn)
        return asked.receipt

    async def ask(
        self,
        text: str,
        who: str,
        task: TaskRunId,
        prompt: PromptId,
        pause: Pause | None = None,
        *,
        plan: bool = False,
    ) -> AcceptedPrompt:
        """What comes of it is told in any case, also when the session ends before."""
        self._state.must_be_open()
        self.extensions.heard_from(who)
        more = Extras(mode="plan") if plan and self._state.needs_plan(task) else NOTHING_MORE
        asked = await self.prompts.accept(text, who, task, prompt, pause=pause, more=more)
        self._state.queue.let_go(prompt)
        return asked

    def _hear(self, said: Event | Signal) -> None:
        self._writing.say(self._compacting.name(said))

    def _take(self, said: Event | Signal) -> None:
        said = self.extensions.name(self._opening.in_our_words(said))
        if not isinstance(said, RuntimeLost):
            self._events.hear(said)
        elif not self._state.is_over:
            self._lose(said.reason)

    def _lose(self, reason: str) -> None:
        """The runtime is gone. What was asked for and not begun stays in the queue for a resume."""
        self._state.is_over = True
        self._opening.give_back()
        self._lost = reason
        self.pending.leave()
        self.hosts.end()
        said = TurnReport("interrupted", Failure("RuntimeLost", reason))
        if self._state.turn:
            self._state.turn.cut_short("interrupted", said)
        self._events.end_turn("interrupted")
        self.prompts.settle(said)
        self._state.writer.say(SessionInterrupted(reason=reason))
        self._background.cancel()
        self.extensions.leave()
        leave_hooks(self._state.hooks)
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
        if not turn.is_sent:  # nor will it be
            self._events.end_if_still(turn, "aborted")
            return
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

    async def change(self, said: SessionChanged, route: Route, rule: PolicyRule | None) -> None:
        """On disk now, so from its next turn on, whatever becomes of this server."""
        self._state.must_be_open()
        await self._terms.change(said, route, rule)

    async def _agent(self) -> RuntimeSession:
        """As somebody wants it by now. It is lost where another service does not take it."""
        await self.rest.end()
        before = self._state.opened_agent
        try:
            agent = await self._terms.agent(self._opening.reopened)
            self._state.agent = agent = await self._opening.moved(agent)
        except AirbossError as error:
            if not before.alive and not self._state.is_over:
                self._lose(str(error))
                raise RuntimeUnavailable(str(error)) from error
            raise
        self._incarnation.keep()
        await self.extensions.ready()
        now = self._terms.now
        self.pending.rule, self._guard.multiplier = now.rule, now.route.multiplier
        return agent

    async def close(self, who: str, reason: str, *, waits: bool) -> None:
        self.pending.cancel()
        self.hosts.end()
        await self._end("aborted", TurnReport("dropped", Failure("SessionClosed", _CLOSED)))
        dropped = [PromptDropped(prompt=prompt, reason=_CLOSED) for prompt in self._state.queue]
        await self._state.record(*dropped, SessionClosed(reason=reason, who=who), waits=waits)
        self._state.writer.release()

    async def interrupt(self, reason: str) -> None:
        """The server stops: the session can be resumed by the next one."""
        self.pending.leave()
        self.hosts.end()
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
            await self.extensions.stop()
            await self._guard.close()
            await self.gate.close()
            self._events.end_turn(outcome)
            await close_hooks(self._state.hooks)
        finally:
            self._opening.give_back()
            self._events.end_turn(outcome)
            self._state.is_over = True
            self.prompts.settle(said)
