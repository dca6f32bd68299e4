"""Ids: unguessable, sortable by time, never reused, and starting with what they name."""

import re
import secrets
from typing import Final, NewType

from airboss.wall_clock import now_ms

SessionId = NewType("SessionId", str)
PromptId = NewType("PromptId", str)
TurnId = NewType("TurnId", str)
TaskRunId = NewType("TaskRunId", str)
RunId = NewType("RunId", str)
ItemId = NewType("ItemId", str)
RuleId = NewType("RuleId", str)
SignInId = NewType("SignInId", str)

# Crockford's base 32 in lower case: sorts like the number, and has no letters that look alike.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 10
_RANDOM_DIGITS = 16
_SESSION = re.compile(rf"ses_[{_DIGITS}]{{{_TIME_DIGITS + _RANDOM_DIGITS}}}")
_RUNTIME_SESSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")


def _base32(number: int, digits: int) -> str:
    letters = [_DIGITS[(number >> (5 * place)) & 31] for place in reversed(range(digits))]
    return "".join(letters)


def new_id(prefix: str) -> str:
    """`prefix_` and 26 characters: 50 bits of milliseconds, then 80 random bits."""
    stamp = _base32(now_ms(), _TIME_DIGITS)
    return f"{prefix}_{stamp}{_base32(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)}"


def new_session_id() -> SessionId:
    return SessionId(new_id("ses"))


def is_session_id(name: str) -> bool:
    """Whether it names a session, and is safe as the name of a folder."""
    return _SESSION.fullmatch(name) is not None


def runtime_session_name(session: SessionId, number: int) -> str:
    """What the runtime calls the session that it was given as the `number`th of ours. It takes no
    other signs in a name than letters, digits, `_` and `-`."""
    return session if number <= 1 else f"{session}-{number}"


def is_runtime_session_name(name: str) -> bool:
    """Whether the runtime can have named a session so; a runtime in a cage may say anything. Safe
    as the name of a folder."""
    return _RUNTIME_SESSION.fullmatch(name) is not None


def new_prompt_id() -> PromptId:
    return PromptId(new_id("pro"))


def new_turn_id() -> TurnId:
    return TurnId(new_id("trn"))


def new_task_run_id() -> TaskRunId:
    return TaskRunId(new_id("tsk"))


def new_run_id() -> RunId:
    return RunId(new_id("run"))


_LONE: Final = "lon"


def new_lone_run_id() -> RunId:
    """Of a run around one task: no call and no list of runs knows it."""
    return RunId(new_id(_LONE))


def is_lone(run: RunId) -> bool:
    return run.startswith(f"{_LONE}_")


def new_item_id() -> ItemId:
    return ItemId(new_id("itm"))


def new_rule_id() -> RuleId:
    return RuleId(new_id("rul"))


def new_sign_in_id() -> SignInId:
    return SignInId(new_id("sgn"))
