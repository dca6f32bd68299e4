"""What the rules of a task ask for, act by act, and how each is answered. Nothing is done here."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from airboss.model.ids import SessionId
from airboss.model.task_events import Mission, TaskChecked, TaskDecided, TaskRetrying, ToolCall


@dataclass(frozen=True)
class OpenAct:
    """Open a session of the task's own. Answered by `Opened`, `Crashed` or `ActRefused`."""

    model: str
    is_driving: bool


@dataclass(frozen=True)
class Put:
    """Put a mission to a session. Answered by `Done`, `Crashed` or `ActRefused`."""

    session: SessionId
    mission: Mission
    text: str
    # A person approves what the agent is going to do first.
    plan: bool = False


@dataclass(frozen=True)
class AskRetry:
    """Ask a person whether what crashed may be tried again. Answered by `RetryWord`."""

    session: SessionId
    # The tools that may have done something, in this attempt and those before it.
    effects: tuple[str, ...]


@dataclass(frozen=True)
class Close:
    """Close a session of the task's own. Answered by nothing."""

    session: SessionId
    succeeded: bool


@dataclass(frozen=True)
class Tell:
    """Write down what was checked or decided. Answered by nothing."""

    event: TaskChecked | TaskRetrying | TaskDecided


@dataclass(frozen=True)
class Opened:
    session: SessionId


@dataclass(frozen=True)
class Done:
    """The session worked on the mission to the end; these job tools completed, in order."""

    calls: tuple[ToolCall, ...] = ()
    # What went wrong with MCP servers meanwhile.
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Crashed:
    """A failure that is worth another try. One that a restart of the server made costs none."""

    reason: str
    is_restart: bool = False
    # The tools that may have done something before that; another try may do it again.
    effects: tuple[str, ...] = ()


@dataclass(frozen=True)
class ActRefused:
    """A failure that is not worth another try. Where a person wanted it, the task fails with it."""

    reason: str
    by_person: bool = False


@dataclass(frozen=True)
class RetryWord:
    """What a person said; nobody where the question was withdrawn."""

    again: bool
    who: str | None = None


Act: TypeAlias = OpenAct | Put | AskRetry | Close | Tell
Answer: TypeAlias = Opened | Done | Crashed | ActRefused | RetryWord | None

_T = TypeVar("_T")
Acts: TypeAlias = Generator[Act, Answer, _T]


def open_session(wanted: OpenAct) -> Acts[Opened | Crashed | ActRefused]:
    answer = yield wanted
    if not isinstance(answer, Opened | Crashed | ActRefused):
        raise _unexpected(wanted, answer)
    return answer


def put(mission: Put) -> Acts[Done | Crashed | ActRefused]:
    answer = yield mission
    if not isinstance(answer, Done | Crashed | ActRefused):
        raise _unexpected(mission, answer)
    return answer


def ask_retry(question: AskRetry) -> Acts[RetryWord]:
    answer = yield question
    if not isinstance(answer, RetryWord):
        raise _unexpected(question, answer)
    return answer


def close(session: SessionId, *, succeeded: bool) -> Acts[None]:
    yield from _expect_nothing(Close(session, succeeded))


def tell(event: TaskChecked | TaskRetrying | TaskDecided) -> Acts[None]:
    yield from _expect_nothing(Tell(event))


def _expect_nothing(act: Close | Tell) -> Acts[None]:
    answer = yield act
    if answer is not None:
        raise _unexpected(act, answer)


def _unexpected(act: Act, answer: Answer) -> TypeError:
    return TypeError(f"{type(act).__name__} cannot be answered by {type(answer).__name__}.")
