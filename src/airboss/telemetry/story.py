"""What the events of one stream say as spans: runs, tasks, turns, and calls of tools.

A span is told when it has ended, with the time of its first event. So an end that comes from
another server than the beginning, after a crash, closes the same span.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.model.events import (
    Event,
    MessageEnded,
    Recorded,
    SessionError,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from airboss.model.prompt_events import PromptAccepted
from airboss.model.run_events import RunAccepted, RunEnded, RunMoved, RunResumed, RunRetried
from airboss.model.task_events import TaskAccepted, TaskEnded
from airboss.model.traces import TraceContext, attempt_of, read_trace, span_id, trace_of
from airboss.model.usage import Usage

Value: TypeAlias = str | int | float | bool | tuple[str, ...]

# Those that are read where a stream began before this server did.
BEGINNINGS: Final = (
    "run.accepted",
    "run.resumed",
    "run.retried",
    "run.ended",
    "task.accepted",
    "task.ended",
    "turn.started",
    "turn.ended",
)
_CONTENT: Final = ("prompt.accepted", "message.ended", "session.error")
_TOOLS: Final = ("tool.started", "tool.ended")


def kinds_of(*, content: bool) -> tuple[str, ...]:
    return (*BEGINNINGS, *_TOOLS, *(_CONTENT if content else ()))


@dataclass(frozen=True)
class EndedSpan:
    """A piece of work that is over."""

    name: str
    context: TraceContext
    parent: str | None
    began: int
    ended: int
    attributes: Mapping[str, Value]
    failed: bool = False


@dataclass
class _OpenSpan:
    """A piece of work that goes on."""

    context: TraceContext
    parent: str | None
    began: int
    attributes: dict[str, Value] = field(default_factory=dict[str, Value])

    def end(self, name: str, at: int, *, failed: bool) -> EndedSpan:
        said = dict(self.attributes)
        return EndedSpan(name, self.context, self.parent, self.began, at, said, failed)


@dataclass
class StreamStory:
    """One stream, read from its beginning."""

    stream: str
    content: bool = False
    seq: int = 0
    _work: _OpenSpan | None = None
    _name: str = ""
    _turn: _OpenSpan | None = None
    _prompts: dict[str, str] = field(default_factory=dict[str, str])
    _calls: dict[str, tuple[str, _OpenSpan]] = field(
        default_factory=dict[str, tuple[str, _OpenSpan]]
    )
    _restarts: int = 0

    def hear(self, recorded: Recorded) -> EndedSpan | None:
        self.seq, event, at = recorded.seq, recorded.event, recorded.at
        match event:
            case TurnStarted() | TurnEnded() | ToolStarted() | ToolEnded():
                return self._hear_turn(event, at)
            case PromptAccepted() | MessageEnded() | SessionError():
                if self.content:
                    self._note(event)
                return None
            case _:
                return self._hear_work(event, at)

    # Runs and tasks.

    def _hear_work(self, event: Event, at: int) -> EndedSpan | None:
        match event:
            case RunAccepted():
                self._name = f"run {event.job}" if event.job else "run"
                self._begin_run(event, at)
            case RunRetried():
                self._begin_again(event.time, at)
            case RunResumed() | RunMoved():
                self._restarts += 1
            case TaskAccepted():
                self._name = f"task {event.task}"
                self._work = self._opened(self.stream, event.trace, at)
                named = {"task_run": self.stream, "task": event.task, "model": event.model}
                self._work.attributes = _ours(**named, run=event.run or event.own_run)
                if self.content:
                    self._work.attributes |= _ours(input=event.user_input, folder=event.cwd)
            case RunEnded() | TaskEnded():
                return self._end_work(event, at)
            case _:
                pass
        return None

    def _begin_run(self, event: RunAccepted, at: int) -> None:
        self._work = self._opened(self.stream, event.trace, at)
        self._work.attributes = _ours(run=self.stream, job=event.job or None)
        if self.content:
            self._work.attributes |= _ours(input=event.user_input, folder=event.cwd)

    def _begin_again(self, time: int, at: int) -> None:
        """Behind an end: another span of the same trace."""
        if self._work is not None:
            known = self._work
            context = attempt_of(TraceContext(known.context.trace, span_id(self.stream)), time)
            self._work = _OpenSpan(
                context, known.parent, at, known.attributes | _ours(attempt=time)
            )

    def _end_work(self, event: RunEnded | TaskEnded, at: int) -> EndedSpan | None:
        if self._work is None:
            return None
        more = _ours(outcome=event.outcome, restarts=self._restarts or None)
        if self.content:
            more |= _ours(reason=event.reason)
        self._work.attributes |= more
        return self._work.end(self._name, at, failed=event.outcome in ("failed", "crashed"))

    # Turns and tools.

    def _hear_turn(
        self, event: TurnStarted | TurnEnded | ToolStarted | ToolEnded, at: int
    ) -> EndedSpan | None:
        match event:
            case TurnStarted():
                self._turn, self._calls = self._opened(event.turn, event.trace, at), {}
                named = {"session": self.stream, "turn": event.turn, "prompt": event.prompt}
                self._turn.attributes = _ours(**named)
                if text := self._prompts.pop(event.prompt or "", None):
                    self._turn.attributes |= _ours(input=text)
            case TurnEnded():
                return self._end_turn(event, at)
            case ToolStarted():
                self._begin_call(event, at)
            case ToolEnded():
                return self._end_call(event, at)
        return None

    def _end_turn(self, event: TurnEnded, at: int) -> EndedSpan | None:
        turn, self._turn = self._turn, None
        if turn is None:
            return None
        turn.attributes |= {**_ours(outcome=event.outcome), **_usage(event.usage)}
        if event.models:
            turn.attributes["gen_ai.response.model"] = event.models[-1]
        return turn.end("turn", at, failed=event.outcome in ("failed", "interrupted"))

    def _begin_call(self, event: ToolStarted, at: int) -> None:
        turn = self._turn
        if turn is None:
            return
        above = self._calls.get(event.parent or "")
        parent = above[1].context.span if above else turn.context.span
        call = _OpenSpan(turn.context.below(self._call(event.block)), parent, at)
        call.attributes = {"gen_ai.tool.name": event.name, "gen_ai.tool.call.id": event.block}
        call.attributes |= _ours(session=self.stream)
        if self.content:
            call.attributes["gen_ai.tool.call.arguments"] = event.arguments
        self._calls[event.block] = (event.name, call)

    def _end_call(self, event: ToolEnded, at: int) -> EndedSpan | None:
        name, call = self._calls.get(event.block, ("", None))
        if call is None:
            return None
        if event.cut:
            call.attributes |= _ours(cut=True)
        if self.content:
            call.attributes["gen_ai.tool.call.result"] = event.text
        return call.end(f"tool {name}", at, failed=event.error is not None)

    def _call(self, block: str) -> str:
        return f"{self.stream}/{block}"

    def _note(self, event: PromptAccepted | MessageEnded | SessionError) -> None:
        match event:
            case PromptAccepted():
                self._prompts[event.prompt] = event.text
            case MessageEnded() if self._turn is not None:
                self._turn.attributes |= _ours(output=event.text)
            case SessionError() if self._turn is not None:
                self._turn.attributes |= _ours(error=event.message)
            case _:
                pass

    def _opened(self, name: str, given: str | None, at: int) -> _OpenSpan:
        above = read_trace(given)
        return _OpenSpan(trace_of(name, above), above.span if above else None, at)


def _ours(**said: Value | None) -> dict[str, Value]:
    return {f"airboss.{key}": value for key, value in said.items() if value is not None}


def _usage(usage: Usage) -> dict[str, Value]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens + usage.sub_agents.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens + usage.sub_agents.output_tokens,
        "airboss.requests": usage.whole_requests,
        "airboss.cost": usage.whole_cost,
    }
