"""The words of a task's decisions, each behind one of the prefixes of the entry language.

Words of others, such as an agent's reason or a crash, stand at the end and as they are.
"""

from dataclasses import dataclass
from typing import Final

from airboss.engine.acts import Crashed, OpenAct, RetryWord
from airboss.entry.tools import PREREQUISITE_FAILED
from airboss.model.ids import SessionId
from airboss.model.task_events import MissionKind, TaskChecked, TaskDecided, TaskRetrying

_OPERATIONS: Final[dict[MissionKind, str]] = {
    "availability": "Asks availability.condition",
    "prompt": "Sends the prompt",
    "criteria": "Asks criteria.condition",
}


@dataclass(frozen=True)
class Tried:
    """Whether a mission is sent again, and which of its tries this is."""

    again: bool
    number: int
    of: int


def operation(kind: MissionKind, tried: Tried, retry: int, of: int) -> TaskDecided:
    parts = [_OPERATIONS[kind] + (" again" if tried.again else "")]
    if retry:
        parts.append(f"retry {retry} of {of}")
    if tried.number > 1:
        parts.append(f"attempt {tried.number} of {tried.of}")
    return TaskDecided(text=f"[OPERATION] {', '.join(parts)}.")


def session_started(wanted: OpenAct, session: SessionId) -> TaskDecided:
    kind = _kind(wanted).capitalize()
    return TaskDecided(text=f"[SESSION STARTED] {kind} session {session} on {wanted.model}.")


def session_not_opened(wanted: OpenAct, reason: str) -> TaskDecided:
    what = f"No {_kind(wanted)} session on {wanted.model} could be opened"
    return TaskDecided(text=f"[SESSION CRASHED] {what}: {reason}")


def session_crashed(wanted: OpenAct, session: SessionId, crash: Crashed) -> TaskDecided:
    said = f"{_kind(wanted).capitalize()} session {session}: {crash.reason}"
    return TaskDecided(text=f"[SESSION CRASHED] {said}{_unsafe(crash)}")


def borrowed_crashed(session: SessionId, crash: Crashed) -> TaskDecided:
    said = f"Borrowed session {session}: {crash.reason}"
    return TaskDecided(text=f"[SESSION CRASHED] {said}{_unsafe(crash)}")


def _unsafe(crash: Crashed) -> str:
    """Where a retry is not safe, that is said: what was done may be done twice."""
    used = ", ".join(crash.effects)
    return f" A retry is not safe: it had used {used}, and may do so again." if used else ""


def asks_retry(effects: tuple[str, ...]) -> TaskDecided:
    used = ", ".join(effects)
    return TaskDecided(text=f"[DECISION] Asks a person whether to try again: it had used {used}.")


def retry_word(word: RetryWord) -> TaskDecided:
    said = "Tries again" if word.again else "Does not try again"
    return TaskDecided(text=f"[DECISION] {said}, as {word.who or 'nobody'} said.")


def not_repeated(crash: Crashed, effects: tuple[str, ...]) -> str:
    """Why a task fails whose `onUnsafeRetry` is `fail`."""
    used = ", ".join(effects)
    return (
        f"The session crashed after it had used {used}. A retry may do that again, and "
        f"onUnsafeRetry is fail. The crash: {crash.reason}"
    )


def stopped_after(word: RetryWord, crash: Crashed, effects: tuple[str, ...]) -> str:
    """Why a task fails whose `onUnsafeRetry` is `ask`."""
    used, who = ", ".join(effects), word.who
    said = f"Stopped by {who}" if who else "Stopped, since the question was withdrawn,"
    return f"{said} after a crash. It had used {used}. The crash: {crash.reason}"


def _kind(wanted: OpenAct) -> str:
    return "driving" if wanted.is_driving else "task"


def checked(check: TaskChecked) -> TaskDecided:
    """A check that failed says the field, what it holds, and why."""
    prefix = "[AVAILABILITY]" if check.field.startswith("availability.") else "[CRITERIA]"
    if check.holds:
        return TaskDecided(text=f"{prefix} {check.field} holds: {check.reason}")
    said = f"{check.field} {_outcome(check)}.\nIt says: {check.content or 'nothing'}"
    return TaskDecided(text=f"{prefix} {said}\nReason: {check.reason}")


def not_available(reason: str) -> TaskDecided:
    return TaskDecided(text=f"[AVAILABILITY] {PREREQUISITE_FAILED}: {reason}")


def prerequisite_failed(argument: str) -> TaskDecided:
    return TaskDecided(text=f"[MISC] {PREREQUISITE_FAILED}: {argument}")


def retrying(retry: TaskRetrying) -> TaskDecided:
    why = ", since the last round could not be completed" if retry.unasked else ""
    return TaskDecided(text=f"[DECISION] Retry {retry.retry} of {retry.of}{why}.")


def retry_spent(retry: TaskRetrying, reason: str) -> TaskDecided:
    return TaskDecided(text=f"[DECISION] Retry {retry.retry} of {retry.of} is spent: {reason}")


def ended(reason: str, *, succeeded: bool) -> TaskDecided:
    return TaskDecided(text=f"[TASK {'SUCCEEDED' if succeeded else 'FAILED'}] {reason}")


def with_troubles(reason: str, troubles: tuple[str, ...]) -> str:
    """The agent may have failed for want of a server's tools."""
    if not troubles:
        return reason
    return f"{reason} Not all MCP servers worked: {'; '.join(troubles)}"


def exhausted(kind: MissionKind, crashes: int, last: str) -> str:
    """Of a condition this is the reason that stands behind `could not be checked`."""
    counted = "1 crash" if crashes == 1 else f"{crashes} crashes in a row"
    if kind == "prompt":
        return f"The prompt is exhausted after {counted}, the last: {last}"
    return f"{counted}, the last: {last}"


def no_try() -> str:
    return "drivingSessionRetries allows no try."


def unmet(check: TaskChecked) -> str:
    return f"{check.field} {_outcome(check)}: {check.reason}"


def _outcome(check: TaskChecked) -> str:
    return "could not be checked" if check.unasked else "does not hold"


def counted_retries(retries: int) -> str:
    return "1 retry" if retries == 1 else f"{retries} retries"
