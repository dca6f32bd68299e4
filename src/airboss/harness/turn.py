"""What is known of a turn while it runs, and what is told of it when it is over."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, cast

from airboss.entry.tools import ARGUMENT, JOB_TOOLS
from airboss.harness.replay import Effects
from airboss.harness.server_troubles import ServerTroubles
from airboss.model.events import (
    SessionError,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnRetrying,
    Usage,
)
from airboss.model.ids import PromptId, TaskRunId, TurnId
from airboss.model.task_events import ToolCall
from airboss.model.traces import TraceContext
from airboss.runtime.signals import ModelAnswered, Retrying

Outcome: TypeAlias = Literal["done", "failed", "aborted", "interrupted"]


@dataclass(frozen=True)
class Receipt:
    """What one gets for a request: it is on disk."""

    prompt: PromptId
    seq: int
    redacted: int


@dataclass(frozen=True)
class Failure:
    """What went wrong: in the runtime's words for a turn that failed, else in ours."""

    name: str
    message: str
    status: int | None = None


@dataclass(frozen=True)
class TurnReport:
    """What came of one request. `calls` are the job tools that completed with success, in the order
    in which they were called: those of one message run at the same time and end as it happens.

    `interrupted`: the session lost its runtime or its server; `dropped`: it was closed. Either may
    come before the request was begun.
    """

    outcome: Literal["done", "failed", "aborted", "interrupted", "dropped"]
    error: Failure | None = None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage, compare=False)
    # The last message that has any words.
    message: str = ""
    # The tools that may have done something.
    effects: tuple[str, ...] = field(default=(), compare=False)
    # What went wrong with MCP servers.
    troubles: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class AcceptedPrompt:
    """A request that is on disk, and a word on what comes of it."""

    receipt: Receipt
    _answer: "asyncio.Future[TurnReport]" = field(repr=False)

    @property
    def is_over(self) -> bool:
        return self._answer.done()

    async def report(self) -> TurnReport:
        """Comes once the request's turn is over, or will never be. Whoever stops waiting changes
        nothing: others may wait too, and nobody need."""
        return await asyncio.shield(self._answer)


class CalledAway(Exception):
    """Raised where somebody waited for a place who is not to work any more."""


class Pause(Protocol):
    """Whoever works for a job gives up their place while a person is waited for. Several may be,
    each for something else (`wait`)."""

    def begin(self, reason: str, wait: object = None) -> None: ...

    def drop(self, wait: object) -> None:
        """Nobody is waited for any more, and nobody goes on."""
        ...

    def behind(self, reason: str | None) -> None:
        """It keeps its place: it goes on by itself, as soon as another is answered."""
        ...

    def busy(self, reason: str | None) -> None:
        """It waits for no person, but for something of this server; with None no longer."""
        ...

    async def end(self, wait: object = None) -> None:
        """Comes when there is a place, or another is waited for. It may raise `CalledAway`."""
        ...


@contextlib.asynccontextmanager
async def paused(pause: Pause | None, reason: str, wait: object) -> AsyncGenerator[None]:
    """While a person is waited for. It ends with a place, unless it is cut short."""
    if pause is None:
        yield
        return
    pause.begin(reason, wait)
    try:
        yield
    except BaseException:
        pause.drop(wait)
        raise
    await pause.end(wait)


@dataclass(frozen=True)
class Request:
    """For whom a request is made, and whoever waits for what comes of it."""

    task: TaskRunId | None = None
    pause: Pause | None = None
    # Who made it, in which role; for the hooks. The role is not known behind a restart.
    who: str | None = None
    role: str | None = None
    answer: "asyncio.Future[TurnReport]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    # Where it was asked for in a trace.
    trace: str | None = None

    def settle(self, report: TurnReport) -> None:
        if not self.answer.done():
            self.answer.set_result(report)


@dataclass
class Turn:
    """The turn that runs; without a request where the runtime woke the agent itself."""

    id: TurnId
    prompt: PromptId | None = None
    request: Request | None = None
    outcome: Outcome = "done"
    error: Failure | None = None
    models: dict[str, None] = field(default_factory=dict[str, None])
    usage: Usage = field(default_factory=Usage)
    # Its agent makes a plan, and only reads until a person has approved that.
    planning: bool = False
    # Set when the runtime has the request, or was found not to take it.
    put: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when the turn is over, and when it failed and ought to be over soon.
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    must_stop: bool = False
    # Where it stands in a trace, if somebody follows one.
    trace: TraceContext | None = None
    # Whether the runtime got its request, and with how many images.
    is_sent: bool = False
    images: int = 0
    effects: Effects = field(default_factory=Effects)
    troubles: ServerTroubles = field(default_factory=ServerTroubles)
    # The last message that has any words.
    message: str = ""
    # Where the session ends in the middle of it: what the one who asked is told.
    _fate: TurnReport | None = None
    _called: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    _completed: set[str] = field(default_factory=set[str])

    def fail(self, error: SessionError) -> bool:
        """It ought to be over soon. Whether this is the first that went wrong in it."""
        is_first = self.outcome != "failed"
        if is_first:
            self.outcome = "failed"
            self.error = Failure(error.name, error.message, error.status)
        self.stirred.set()
        return is_first

    def claim(self) -> bool:
        """Asked right before the runtime gets its request, and never again after a no: it is
        over, or must not go on."""
        self.is_sent = not self.over.is_set() and not self.must_stop
        return self.is_sent

    @property
    def is_of_task(self) -> bool:
        """A task writes down what came of its turn: with the turn's end, and waits for both."""
        return self.request is not None and self.request.task is not None

    def note(self, said: ModelAnswered | Retrying) -> TurnRetrying | None:
        """What is known of it, and what is to be told of that."""
        match said:
            case Retrying():
                return TurnRetrying(turn=self.id, reason=said.reason)
            case ModelAnswered():
                self.models[said.model] = None
        return None

    def note_tool(self, said: ToolStarted | ToolEnded) -> None:
        """A sub-agent's calls count like the agent's own: the agent handed that work to it, and
        the id of a call's block is one of a kind in the session."""
        match said:
            case ToolStarted():
                if said.name in JOB_TOOLS and (call := _job_call(said)):
                    self._called[said.block] = call
            case ToolEnded():
                if said.block in self._called and said.error is None and not said.cut:
                    self._completed.add(said.block)

    def note_message(self, text: str) -> None:
        if text.strip():
            self.message = text

    def cut_short(self, outcome: Outcome, said: TurnReport) -> None:
        """The session ends; a failure that was told before stays the reason."""
        self.outcome, self._fate = outcome, said

    def end(self, outcome: Outcome | None) -> TurnEnded:
        """It is over: whoever waits is told. `outcome` is for one that went well so far."""
        ended = outcome if outcome and self.outcome == "done" else self.outcome
        if self.request is not None:
            self.request.settle(self.report(ended))
        self.over.set()
        self.stirred.set()
        models, effects = tuple(self.models), self.effects.tools
        return TurnEnded(
            turn=self.id,
            outcome=ended,
            models=models,
            usage=self.usage,
            replay_safe=not effects,
            effects=effects,
        )

    def report(self, ended: Outcome) -> TurnReport:
        """What came of it, where it ended like this."""
        report = self._fate or TurnReport(ended)
        error = self.error or report.error
        told = {"calls": self._calls(), "usage": self.usage, "message": self.message}
        told |= {"effects": self.effects.tools, "troubles": self.troubles.words}
        return replace(report, error=error, **told)

    def _calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for block, call in self._called.items() if block in self._completed)


def _job_call(started: ToolStarted) -> ToolCall | None:
    """None where the call is wrong: it will fail."""
    given: Any = json.loads(started.arguments)
    argument: Any = cast("dict[str, Any]", given).get(ARGUMENT) if isinstance(given, dict) else None
    return ToolCall(tool=started.name, argument=argument) if isinstance(argument, str) else None


async def within(seconds: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
