"""One open session: its queue of requests, its turn, and its voice in the log."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from airboss.errors import AirbossError, Conflict
from airboss.harness.models import Route
from airboss.harness.permissions import PolicyRule
from airboss.log.log import Writer
from airboss.model.events import (
    Event,
    PermissionDecided,
    PromptAccepted,
    PromptDropped,
    SessionClosed,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    SessionReady,
    SessionResumed,
    TurnEnded,
    TurnRetrying,
    TurnStarted,
    Usage,
)
from airboss.model.ids import PromptId, SessionId, TurnId, new_prompt_id, new_turn_id
from airboss.model.redaction import Redactor
from airboss.runtime.permission import PermissionAnswer, PermissionWish
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

Outcome = Literal["done", "failed", "aborted", "interrupted"]
OpenSession = Callable[[SessionWish], Awaitable[RuntimeSession]]

# After an error the runtime says that it is idle; one that does not is taken at its silence.
_IDLE_AFTER_ERROR_SECONDS = 5.0
_ABORT_SECONDS = 5.0


@dataclass
class Turn:
    """What is known of the turn that runs."""

    id: TurnId
    outcome: Outcome = "done"
    models: dict[str, None] = field(default_factory=dict[str, None])
    usage: Usage = Usage()
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when the turn is over, and when it failed and ought to be over soon.
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    must_stop: bool = False


@dataclass(frozen=True)
class Receipt:
    """What a person gets for a request: it is on disk."""

    prompt: PromptId
    seq: int
    redacted: int


class Conversation:
    """The one place that works on a session. Requests are worked on one after another."""

    def __init__(
        self,
        session: SessionId,
        writer: Writer,
        route: Route,
        rule: PolicyRule,
        redactor: Redactor,
        on_lost: Callable[[SessionId], None],
    ) -> None:
        self.session = session
        self._writer = writer
        self._route = route
        self._rule = rule
        self._redactor = redactor
        self._on_lost = on_lost
        self._queue: deque[tuple[PromptId, str]] = deque()
        self._wanted = asyncio.Event()
        self._turn: Turn | None = None
        self._agent: RuntimeSession | None = None
        self._worker: asyncio.Task[None] | None = None
        self._closing = False
        self._ended = False

    @property
    def cwd(self) -> Path:
        return self._rule.cwd

    @property
    def is_working(self) -> bool:
        return self._turn is not None or bool(self._queue)

    async def open(self, open_session: OpenSession, quiet_seconds: float) -> None:
        self._agent = await open_session(self._wish(quiet_seconds, resume=False))
        await self._writer.append(SessionReady())
        self._begin()

    async def resume(self, open_session: OpenSession, quiet_seconds: float, who: str) -> None:
        """Go on where an interrupted session stopped, and with what was still in its queue."""
        self._agent = await open_session(self._wish(quiet_seconds, resume=True))
        await self._writer.append(SessionResumed(who=who), SessionReady())
        view = self._writer.view
        self._queue.extend((queued.prompt, queued.text) for queued in (view.queue if view else ()))
        self._begin()

    def _begin(self) -> None:
        if self._ended:  # the runtime died between its answer and now
            return
        self._worker = asyncio.create_task(self._work(), name=f"work-{self.session}")
        if self._queue:
            self._wanted.set()

    def _wish(self, quiet_seconds: float, *, resume: bool) -> SessionWish:
        return SessionWish(
            id=self.session,
            cwd=self._rule.cwd,
            model=self._route.model,
            provider=self._route.provider,
            github_token=self._route.github_token,
            decide=self._decide,
            hear=self._hear,
            redactor=self._redactor,
            resume=resume,
            quiet_limit=quiet_seconds,
        )

    async def prompt(self, text: str, who: str) -> Receipt:
        self._must_be_open()
        prompt, redacted = new_prompt_id(), self._redactor.count(text)
        clean = self._redactor.text(text)
        event = PromptAccepted(prompt=prompt, text=clean, who=who, redacted=redacted)
        seq = await self._writer.append(event)
        self._queue.append((prompt, clean))
        self._wanted.set()
        return Receipt(prompt, seq, redacted)

    def _must_be_open(self) -> None:
        if self._ended or self._closing:
            raise Conflict("The session has ended. Resume it, or start a new one.")

    async def _work(self) -> None:
        while True:
            await self._wanted.wait()
            if self._turn is not None:  # the runtime woke the agent by itself: let it finish
                await self._turn.over.wait()
            if not self._queue:
                self._wanted.clear()
                continue
            prompt, text = self._queue.popleft()
            await self._take_turn(prompt, text)

    async def _take_turn(self, prompt: PromptId, text: str) -> None:
        turn, agent = self._start_turn(prompt), self._agent
        assert agent is not None
        try:
            await agent.send(text)
        except AirbossError as error:
            self._fail(turn, type(error).__name__, str(error), None)
            self._end_turn(None)
        await turn.stirred.wait()
        if not turn.over.is_set() and not turn.must_stop:
            await _within(_IDLE_AFTER_ERROR_SECONDS, turn.over)
        if not turn.over.is_set():
            await agent.abort()
            self._end_if_still(turn)

    def _start_turn(self, prompt: PromptId | None) -> Turn:
        self._turn = Turn(new_turn_id())
        self._writer.say(TurnStarted(turn=self._turn.id, prompt=prompt))
        return self._turn

    def _hear(self, told: Event | Signal) -> None:
        if self._ended:
            return
        match told:
            case RuntimeLost():
                self._lose(told.reason)
            case TurnIdle():
                self._end_turn("aborted" if told.aborted else None)
            case TurnBegan():
                self._turn = self._turn or self._start_turn(None)
            case TurnFailed():
                self._fail(self._turn, told.name, told.message, told.status, told.cause)
            case ModelReplaced():
                self._refuse_other_model(told)
            case ModelAnswered() | UsageSeen() | Retrying():
                if self._turn is not None:  # what comes behind the end belongs to no turn
                    self._note(self._turn, told)
            case _:
                self._writer.say(told)

    def _note(self, turn: Turn, told: ModelAnswered | UsageSeen | Retrying) -> None:
        match told:
            case ModelAnswered():
                turn.models[told.model] = None
            case UsageSeen():
                turn.usage = Usage(
                    requests=turn.usage.requests + 1,
                    input_tokens=turn.usage.input_tokens + told.input_tokens,
                    output_tokens=turn.usage.output_tokens + told.output_tokens,
                    cost=turn.usage.cost + told.cost,
                )
            case Retrying():
                reason = self._redactor.text(told.reason)
                self._writer.say(TurnRetrying(turn=turn.id, reason=reason))

    def _fail(
        self,
        turn: Turn | None,
        name: str,
        message: str,
        status: int | None,
        cause: str | None = None,
    ) -> None:
        clean = self._redactor.text
        error = SessionError(
            name=name, message=clean(message), status=status, cause=clean(cause) if cause else None
        )
        self._writer.say(error)
        if turn is not None:
            turn.outcome = "failed"
            turn.stirred.set()

    def _end_if_still(self, turn: Turn) -> None:
        if self._turn is turn:
            self._end_turn("aborted")

    def _refuse_other_model(self, told: ModelReplaced) -> None:
        turn = self._turn or self._start_turn(None)
        if turn.outcome != "failed":
            message = (
                f"The session asked for {told.asked} and the service took {told.got} instead "
                f"({told.cause}). Choose a model that is offered."
            )
            turn.must_stop = True
            self._fail(turn, "ModelReplaced", message, None)

    def _end_turn(self, outcome: Outcome | None) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        ended = TurnEnded(
            turn=turn.id,
            outcome=outcome if outcome and turn.outcome == "done" else turn.outcome,
            models=tuple(turn.models),
            usage=turn.usage,
        )
        self._writer.say(ended)
        if outcome != "interrupted":
            self._writer.say(SessionIdle())
        turn.over.set()
        turn.stirred.set()

    def _lose(self, reason: str) -> None:
        """The runtime is gone. What was asked for and not begun stays in the queue for a resume."""
        self._ended = True
        if self._turn:
            self._turn.outcome = "interrupted"
        self._end_turn("interrupted")
        self._writer.say(SessionInterrupted(reason=reason))
        if self._worker:
            self._worker.cancel()
        self._writer.release()
        self._on_lost(self.session)

    async def _decide(self, wish: PermissionWish) -> PermissionAnswer:
        answer = await asyncio.to_thread(self._rule.decide, wish)
        if not self._ended:
            self._writer.say(
                PermissionDecided(
                    request=wish.request_id,
                    wish=wish.kind,
                    about=self._redactor.text(wish.about),
                    allowed=answer.allowed,
                    by=f"policy {self._rule.policy}",
                    reason=answer.reason,
                )
            )
        return answer

    async def abort(self) -> None:
        """End the running turn, with every process it started. What is queued comes next."""
        self._must_be_open()
        turn = self._turn
        if turn is None or self._agent is None:
            return
        await self._agent.abort()
        await _within(_ABORT_SECONDS, turn.over)
        self._end_if_still(turn)

    async def close(self, who: str, reason: str) -> None:
        await self._end("aborted")
        view = self._writer.view
        dropped = [
            PromptDropped(prompt=queued.prompt, reason="The session was closed.")
            for queued in (view.queue if view else ())
        ]
        await self._writer.append(*dropped, SessionClosed(reason=reason, who=who))
        self._writer.release()

    async def interrupt(self, reason: str) -> None:
        """The server stops: the session can be resumed by the next one."""
        await self._end("interrupted")
        await self._writer.append(SessionInterrupted(reason=reason))
        self._writer.release()

    async def _end(self, outcome: Outcome) -> None:
        self._must_be_open()
        self._closing = True
        if self._worker:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
        if self._turn:
            self._turn.outcome = outcome
        if self._agent is not None:
            await self._agent.close()
        self._end_turn(outcome)
        self._ended = True


async def _within(seconds: float, over: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await over.wait()
