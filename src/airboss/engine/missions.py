"""Missions put to sessions: opened when needed, replaced after a crash, closed in the end.

What is asked, and what follows from an answer, is not known here; only whether a session that
judged said yes, since that is how it went.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from airboss.engine import checks, decisions
from airboss.engine.acts import (
    ActRefused,
    Acts,
    AskRetry,
    Crashed,
    Done,
    OpenAct,
    Opened,
    Put,
    ask_retry,
    close,
    open_session,
    put,
    tell,
)
from airboss.model.ids import SessionId
from airboss.model.task_events import Mission, MissionKind, TaskDecided, ToolCall
from airboss.session_keys import OnUnsafeRetry

CRASHES: Final = 5
CRASH_PREFIX: Final = "The session crashed, please redo and here is the last request:"


class TaskFailed(Exception):
    """The task has failed; nothing else is tried."""

    unasked = False

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unasked(TaskFailed):
    """A mission could not be put to any session to its end: it is neither done nor answered."""

    unasked = True


class Stopped(TaskFailed):
    """A person ended it: nothing else is tried, whatever it was, and that is a no."""


class BorrowedCrashed(Unasked):
    """There is no other session to try it in."""


class NotRepeated(Unasked):
    """What it did before the crash must not be done twice."""


class Exhausted(Unasked):
    """A mission crashed as often as it may. It costs a criteria's retry; outside one, the task."""


@dataclass(frozen=True)
class Tries:
    """How often a mission may be tried where: in the borrowed session, or in one to be opened.

    Rounds go over the list, one try on each whose budget is not yet zero, until all are zero.
    """

    budgets: tuple[tuple[OpenAct | SessionId, int], ...]

    @property
    def total(self) -> int:
        return sum(budget for _, budget in self.budgets)

    def __iter__(self) -> Iterator[OpenAct | SessionId]:
        for spent in range(max((budget for _, budget in self.budgets), default=0)):
            yield from (where for where, budget in self.budgets if budget > spent)


@dataclass
class Missions:
    """Puts missions to the sessions of one task run, as often as they may be tried."""

    prompt: Tries
    condition: Tries
    # One session of its own for all missions; otherwise one for each.
    keeps: bool
    # How many retries the criteria give; only said.
    retries: int
    # A session is opened before it is told what it is for.
    opens_first: bool
    # What the task asks for is planned first; what judges it is not.
    plans: bool = False
    on_unsafe_retry: OnUnsafeRetry = "retry"
    _session: SessionId | None = None
    # The tools that may have done something in the attempts at this mission, each once.
    _effects: tuple[str, ...] = ()
    # What went wrong with MCP servers when the prompt was done last.
    troubles: tuple[str, ...] = ()

    def run(self, kind: MissionKind, retry: int, text: str) -> Acts[tuple[ToolCall, ...]]:
        """The job tools that completed. Raises `Exhausted`, or another `TaskFailed` where no try
        helps."""
        tries = self.prompt if kind == "prompt" else self.condition
        if not tries.total:
            raise Exhausted(decisions.no_try())
        last, attempts, self._effects = "", count(1), ()
        self.troubles = () if kind == "prompt" else self.troubles
        # A criteria's retry may follow: of a prompt only where it is itself in one.
        has_more = retry < self.retries and (kind == "criteria" or retry > 0)
        for spent, where in enumerate(tries):
            answer: Done | Crashed | ActRefused = Crashed("", is_restart=True)
            while isinstance(answer, Crashed) and answer.is_restart:
                attempt = next(attempts)
                said = decisions.Tried(attempt > 1, spent + 1, tries.total)
                operation = decisions.operation(kind, said, retry, self.retries)
                mission = Mission(kind=kind, round=retry, attempt=attempt)
                asked = f"{CRASH_PREFIX}\n{text}" if attempt > 1 else text
                answer = yield from self._attempt(mission, where, asked, operation)
                yield from self._leave(answer, follows=has_more or spent + 1 < tries.total)
            if isinstance(answer, Done):
                self.troubles = answer.troubles if kind == "prompt" else self.troubles
                return answer.calls
            if isinstance(answer, ActRefused):
                raise Stopped(answer.reason) if answer.by_person else Unasked(answer.reason)
            last = answer.reason
        raise Exhausted(decisions.exhausted(kind, tries.total, last))

    def close(self, *, succeeded: bool) -> Acts[None]:
        """Closes the task's own session, where one is open."""
        if self._session is not None:
            session, self._session = self._session, None
            yield from close(session, succeeded=succeeded)

    def _leave(self, answer: Done | Crashed | ActRefused, *, follows: bool) -> Acts[None]:
        """One that crashed is replaced, unless what it did must not be done twice. A person is
        asked only where another attempt follows."""
        if not isinstance(answer, Crashed):
            return
        self._effects = effects = tuple(dict.fromkeys((*self._effects, *answer.effects)))
        if answer.effects and self._session is not None:
            if self.on_unsafe_retry == "fail":
                raise NotRepeated(decisions.not_repeated(answer, effects))
            if self.on_unsafe_retry == "ask" and (follows or answer.is_restart):
                yield from tell(decisions.asks_retry(effects))
                word = yield from ask_retry(AskRetry(self._session, effects))
                yield from tell(decisions.retry_word(word))
                if not word.again:
                    raise Stopped(decisions.stopped_after(word, answer, effects))
        yield from self.close(succeeded=False)

    def _attempt(
        self, mission: Mission, where: OpenAct | SessionId, text: str, operation: TaskDecided
    ) -> Acts[Done | Crashed | ActRefused]:
        if isinstance(where, OpenAct):
            return (yield from self._in_own(mission, where, text, operation))
        yield from tell(operation)
        answer = yield from put(self._put(where, mission, text))
        if isinstance(answer, Crashed):
            yield from tell(decisions.borrowed_crashed(where, answer))
            raise BorrowedCrashed(f"The borrowed session crashed: {answer.reason}")
        return answer

    def _put(self, session: SessionId, mission: Mission, text: str) -> Put:
        return Put(session, mission, text, plan=self.plans and mission.kind == "prompt")

    def _in_own(
        self, mission: Mission, wanted: OpenAct, text: str, operation: TaskDecided
    ) -> Acts[Done | Crashed | ActRefused]:
        is_told = not self.opens_first
        if is_told:
            yield from tell(operation)
        session = self._session
        if session is None:
            opened = yield from open_session(wanted)
            if not isinstance(opened, Opened):
                yield from _not_opened(wanted, opened, None if is_told else operation)
                return opened
            session = self._session = opened.session
            yield from tell(decisions.session_started(wanted, session))
        if not is_told:
            yield from tell(operation)
        answer = yield from put(self._put(session, mission, text))
        if isinstance(answer, Crashed):
            yield from tell(decisions.session_crashed(wanted, session, answer))
        elif not self.keeps:
            yield from self.close(succeeded=_went_well(mission.kind, answer))
        return answer


def _not_opened(
    wanted: OpenAct, opened: Crashed | ActRefused, operation: TaskDecided | None
) -> Acts[None]:
    if operation is not None:
        yield from tell(operation)
    if isinstance(opened, Crashed):
        yield from tell(decisions.session_not_opened(wanted, opened.reason))


def _went_well(kind: MissionKind, answer: Done | ActRefused) -> bool:
    """Of a session for one mission: it did what it was asked for, or its condition holds."""
    return isinstance(answer, Done) and (kind == "prompt" or checks.said_yes(answer.calls))
