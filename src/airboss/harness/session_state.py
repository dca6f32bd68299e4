"""What an open session is at: its turn, its queue, who waits for people, and what it may use.

Its parts read this, each by its own argument, and none keeps a copy. The turn is changed by the
verbs below only.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from airboss.errors import Conflict, RuntimeUnavailable
from airboss.harness.allowances import Allowance
from airboss.harness.file_waits import FileWaits
from airboss.harness.limits import Budget, Stopwatch
from airboss.harness.server_troubles import ServerTroubles
from airboss.harness.turn import Outcome, Pause, Request, Turn, paused
from airboss.log.writer import Writer
from airboss.model.events import Event, PermissionDecided, SessionError, SessionIdle, TurnStarted
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import ItemId, PromptId, SessionId, TaskRunId, new_turn_id
from airboss.model.inbox_events import Asked, ItemSettled
from airboss.model.prompt_events import TurnMode
from airboss.model.redaction import Redactor
from airboss.model.traces import trace_of
from airboss.model.views import QueuedPrompt, SessionView
from airboss.runtime.session import RuntimeSession

if TYPE_CHECKING:
    from airboss.harness.hooks import SessionHooks

# A commit that a database refuses wakes nobody who waits for what it says.
_LOOK_SECONDS: Final = 0.2


class SharedBudgets(Protocol):
    """Those of the tasks and runs that sessions work for: they are kept above this layer."""

    def of(self, task_run: TaskRunId | None) -> tuple[Budget, ...]:
        """The narrowest first."""
        ...


@dataclass
class WaitingItem:
    """Who waits for what was asked of people. `is_taken` while what was decided is written down.
    What people see of it is in the session's view; this is here because no event can wake a call of
    the agent, and in the moment before the log has it."""

    asked: Asked
    answer: "asyncio.Future[ItemSettled]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    is_taken: bool = False

    def decide(self, settled: ItemSettled, is_written: bool) -> None:
        """A person's word is on disk, and counts; or it is not, and others may say one."""
        self.is_taken = is_written
        if is_written and not self.answer.done():
            self.answer.set_result(settled)

    async def said_in_time(self) -> ItemSettled | None:
        """What a person said before the deadline, as soon as it is on disk; nothing where nobody
        did, or where it will never be there."""
        while self.is_taken:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    return await asyncio.shield(self.answer)
        return None


class RequestQueue:
    """What was asked for and not begun, as the session's view has it: order and words are there and
    nowhere else, and only events change them.

    Kept here is what no event says: who waits for the answer, which requests are held, and which
    were taken a moment ago, because the view has those until the log has written that. What is held
    has its place, and is not taken: it is not on disk yet, is being changed, or is on its way into
    the running turn. `again` is a request whose turn began and of which nothing was sent: the view
    has it no more, it comes first, and nobody changes it.
    """

    def __init__(self, writer: Writer, again: QueuedPrompt | None = None) -> None:
        self._writer = writer
        self._again = again
        self._requests: dict[PromptId, Request] = {}
        self._taken: set[PromptId] = set()
        self._ready = {queued.prompt for queued in self._waiting()}
        self._stirred = asyncio.Event()

    def _waiting(self) -> list[QueuedPrompt]:
        view = self._writer.view
        shown = view.queue if isinstance(view, SessionView) else ()
        first = [self._again] if self._again else []
        return [queued for queued in (*first, *shown) if queued.prompt not in self._taken]

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, prompt: PromptId) -> bool:
        return self.find(prompt) is not None

    def __iter__(self) -> Iterator[PromptId]:
        return iter(list(self._all()))

    def items(self) -> list[tuple[PromptId, Request]]:
        return list(self._all().items())

    def _all(self) -> dict[PromptId, Request]:
        """Last those that are not on disk yet."""
        waiting = {queued.prompt: self._request(queued) for queued in self._waiting()}
        return waiting | self._requests

    def find(self, prompt: PromptId) -> QueuedPrompt | None:
        """As it waits, for who changes it or sends it on; nothing where it does so no more."""
        queued = self._find(prompt)
        return None if queued is self._again else queued

    def _find(self, prompt: PromptId) -> QueuedPrompt | None:
        return next((queued for queued in self._waiting() if queued.prompt == prompt), None)

    def _request(self, queued: QueuedPrompt) -> Request:
        return self._requests.get(queued.prompt) or Request(queued.task, who=queued.who)

    def add(self, prompt: PromptId, request: Request) -> None:
        """Before it is written down. Held until it is let go."""
        self._requests[prompt] = request

    def hold(self, prompt: PromptId) -> None:
        self._ready.discard(prompt)

    def let_go(self, prompt: PromptId) -> None:
        """From now on it may be taken."""
        if self._find(prompt):
            self._ready.add(prompt)
            self._stirred.set()

    def text(self, prompt: PromptId) -> str:
        queued = self._find(prompt)
        return queued.text if queued else ""

    def waiting(self, prompt: PromptId) -> QueuedPrompt | None:
        """Also one that nobody changes any more."""
        return self._find(prompt)

    def take(self, prompt: PromptId) -> Request | None:
        """Out of the queue; None where it was taken before. Who takes it says so in the log."""
        if not self._writer.stream.is_busy:  # all is written, and in the view
            self._taken &= {self._again.prompt} if self._again else set()
        queued = self._find(prompt)
        request = self._request(queued) if queued else self._requests.get(prompt)
        self._requests.pop(prompt, None)
        self._ready.discard(prompt)
        self._taken.add(prompt)
        return request

    @property
    def first(self) -> PromptId | None:
        """The one that comes next, of those that may be taken."""
        names = (queued.prompt for queued in self._waiting())
        return next((prompt for prompt in names if prompt in self._ready), None)

    async def some(self) -> None:
        """Until there is one that may be taken."""
        while self.first is None:
            self._stirred.clear()
            await self._stirred.wait()


class SessionState:
    """Of one session, from its opening to its end. `writer` is its voice in the log, and `inbox`
    that of the list of all that waits; `again` is what its queue begins with, and `files` knows
    what all sessions edit."""

    def __init__(
        self,
        writer: Writer,
        inbox: Writer,
        redactor: Redactor,
        budgets: SharedBudgets,
        again: QueuedPrompt | None = None,
        files: FileWaits | None = None,
        *,
        is_traced: bool = False,
    ) -> None:
        self.session = SessionId(writer.stream.name)
        self.is_traced = is_traced
        self.writer = writer
        self.inbox = inbox
        self.redactor = redactor
        self.files = files or FileWaits()
        self.queue = RequestQueue(writer, again)
        self.turn: Turn | None = None
        self.last_turn: Turn | None = None
        self.waiting: dict[ItemId, WaitingItem] = {}
        # What people are asked while the agent goes on.
        self.beside: dict[ItemId, WaitingItem] = {}
        self._behind: dict[str, str] = {}
        # How many calls wait for people, or behind that for a place to go on in.
        self._held = 0
        # The time at work: it stands still while people or a place are waited for.
        self.watch = Stopwatch()
        # There once the runtime has opened the session.
        self.agent: RuntimeSession | None = None
        # Where it has any.
        self.hooks: SessionHooks | None = None
        # Whether something of it lives in its cage while nobody works.
        self.keeps_cage: Callable[[], bool] = lambda: False
        # What extensions allowed of the calls under way, by block.
        self.allowed: dict[str, Allowance] = {}
        # No more is asked for; and a little later: no more is heard.
        self.is_closing = False
        self.is_over = False
        view, self._shared = self.view, budgets
        # Used as of now: the view has it only when it is written.
        self._own = Budget("session", view.limits, view.usage) if view else None
        for budget in self.budgets:
            budget.grant(view.granted if view else ())

    @property
    def view(self) -> SessionView | None:
        view = self.writer.view
        return view if isinstance(view, SessionView) else None

    @property
    def opened_agent(self) -> RuntimeSession:
        if self.agent is None:
            raise RuntimeUnavailable("The session has no agent yet.")
        return self.agent

    @property
    def task(self) -> TaskRunId | None:
        """The task run that opened the session."""
        return self.view.task if self.view else None

    @property
    def is_lent(self) -> bool:
        """To a task that did not open it."""
        return self.task is None and bool(self.request and self.request.task)

    @property
    def is_working(self) -> bool:
        return self.turn is not None or bool(self.queue)

    @property
    def mode(self) -> TurnMode | None:
        """Of the turn that was cut off, where the session is resumed in the middle of it."""
        return self.view.mode if self.view else None

    def needs_plan(self, task: TaskRunId) -> bool:
        """A task that plans first does so until a person has approved. In a session that is lent
        to it, what was approved may have been another's."""
        return self.task != task or not (self.view and self.view.plan_approved)

    async def record(self, *events: Event, waits: bool) -> None:
        """On disk when this answers, or with what somebody waits for next."""
        if waits:
            await self.writer.commit(*events)
        else:
            self.writer.say(*events, urgent=False)

    def must_be_open(self) -> None:
        if self.is_over or self.is_closing:
            raise Conflict("The session has ended. Resume it, or start a new one.")

    def wait_for(self, asked: Asked) -> WaitingItem:
        """A person's word; the call that needs it has done nothing yet."""
        if self.turn is not None:
            self.turn.effects.hear(asked)
        waiting = self.waiting[asked.item] = WaitingItem(asked)
        return waiting

    def say_decided(self, said: PermissionDecided) -> None:
        if self.turn is not None:
            self.turn.effects.hear(said)
        self.writer.say(said)

    async def decided(self, said: PermissionDecided) -> None:
        """Whoever takes this over has to know what may have been done: on a database that others
        share, the call is on record before it is let go."""
        self.say_decided(said)
        if not self.writer.has_journal:
            await self.writer.settle()

    # What is worked on.

    @property
    def prompt(self) -> PromptId | None:
        return self.turn.prompt if self.turn else None

    @property
    def request(self) -> Request | None:
        return self.turn.request if self.turn else None

    @property
    def pause(self) -> Pause | None:
        return self.request.pause if self.request else None

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The narrow ones first: they are reached first. A session works for the task that opened
        it also where the runtime wakes its agent."""
        own = () if self._own is None else (self._own,)
        return (*own, *self._shared.of(self.request.task if self.request else self.task))

    @property
    def is_held(self) -> bool:
        """It is not the agent who is waited for."""
        return bool(self.waiting or self._held or self._behind)

    @contextlib.asynccontextmanager
    async def paused(self, pause: Pause | None, reason: str, wait: object) -> AsyncGenerator[None]:
        """While a person is waited for, and behind that a place."""
        self._held += 1
        self.watch.hold()
        try:
            async with paused(pause, reason, wait):
                yield
        finally:
            self._held -= 1
            self._watch_on()

    def _watch_on(self) -> None:
        if not self.is_held:
            self.watch.go_on()

    def wait_behind(self, block: str, reason: str | None) -> None:
        """A call waits for what another session has asked a person, and with None no longer. What
        the session asks itself is named before that."""
        self._behind.pop(block, None)
        if reason is not None:
            self._behind[block] = reason
        reason = next(iter(self._behind.values()), None)
        is_asking = bool(self.waiting or self._held)
        if reason is None:
            self._watch_on()
        else:
            self.watch.hold()
        if self.pause is not None and not is_asking:
            self.pause.behind(reason)

    # The turn.

    def begin_turn(
        self, prompt: PromptId | None, request: Request | None, mode: TurnMode | None = None
    ) -> Turn:
        self.turn = turn = Turn(new_turn_id(), prompt, request, planning=mode == "plan")
        turn.troubles = ServerTroubles(self.view.mcp_servers if self.view else ())
        asked_in = request.trace if request and self.is_traced else None
        if self.is_traced:
            turn.trace = trace_of(turn.id, asked_in)
        started = TurnStarted(turn=turn.id, prompt=prompt, mode=mode, trace=asked_in)
        self.writer.say(started, urgent=not turn.is_of_task)
        return turn

    def fail_turn(
        self,
        turn: Turn,
        name: str,
        message: str,
        status: int | None = None,
        cause: str | None = None,
    ) -> None:
        """Told once: what else goes wrong in the same turn follows from it."""
        clean = excerpt(self.redactor, message, MOST_OF_A_REASON)
        why = excerpt(self.redactor, cause or "", MOST_OF_A_REASON)
        error = SessionError(name=name, message=clean, status=status, cause=why or None)
        if turn.fail(error):
            self.writer.say(error)

    def stop_turn(self, turn: Turn, name: str, message: str) -> None:
        """It must not go on: whoever sees it through aborts it."""
        turn.must_stop = turn.outcome != "failed"
        self.fail_turn(turn, name, message)

    def end_turn(self, turn: Turn, outcome: Outcome | None, *, is_cut: bool) -> None:
        """Unless it is cut by the session's end, the session is idle then."""
        self.turn, self.last_turn = None, turn
        idle = () if is_cut else (SessionIdle(),)
        self.writer.say(turn.end(outcome), *idle, urgent=not turn.is_of_task)
