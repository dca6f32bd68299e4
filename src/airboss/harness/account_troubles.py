"""Which failures are an account's own: its token is refused, or it has reached a limit."""

import re
from dataclasses import dataclass
from typing import Final

from airboss.errors import AirbossError, NotSignedIn

# What a turn fails with whose account rests now while another can be used: worth another try.
ACCOUNT_RESTING: Final = "AccountResting"

REFUSED: Final = "its token was refused"
_QUOTA: Final = "its quota is used up"
_RATE: Final = "it has reached a rate limit"
_BY_NAME: Final = {
    "authentication": REFUSED,
    "quota": _QUOTA,
    "quota_exceeded": _QUOTA,
    "rate_limit": _RATE,
    "rate_limited": _RATE,
    "user_weekly_rate_limited": _RATE,
    "user_global_rate_limited": _RATE,
}
_BY_STATUS: Final = {401: REFUSED, 402: _QUOTA, 429: _RATE}
_STATUS: Final = re.compile(r"\b(401|402|403|429)\b")
_LATER: Final = re.compile(
    r"(?:retry|try again)(?:ing)?[ -](?:after|in)(-ms)?:? *(?:about |approximately )?",
    re.IGNORECASE,
)
_NUMBER: Final = r"(\d+(?:,\d{3})*(?:\.\d+)?)"
_UNIT: Final = r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?)"
_BARE: Final = re.compile(rf"{_NUMBER}\b")
_PART: Final = re.compile(rf"(?:,? *(?:and )?){_NUMBER} ?{_UNIT}(?![a-z])", re.IGNORECASE)
_DAY: Final = 86_400.0
# By their first letters; the longer ones first.
_UNITS: Final = {
    "ms": 0.001,
    "milli": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": _DAY,
    "w": 7 * _DAY,
}
# What is told beyond this is not a time to wait.
_LONGEST: Final = 31 * _DAY


@dataclass(frozen=True)
class AccountTrouble:
    """Why an account rests, and for how long if the service said so."""

    why: str
    seconds: float | None = None


def trouble_of_turn(name: str, status: int | None, message: str) -> AccountTrouble | None:
    """None where the request or its model is to blame: a model's no (400, 403) rests nobody."""
    why = _BY_STATUS.get(status or 0) or (_BY_NAME.get(name) if status is None else None)
    return None if why is None else AccountTrouble(why, _told_seconds(message))


def trouble_of_opening(error: AirbossError) -> AccountTrouble | None:
    """The runtime asks who the token's user is before it opens a session."""
    said = f"{error} {error.__cause__ or ''}"
    found = _STATUS.search(said)
    if found is not None and found[1] != "403":
        return AccountTrouble(_BY_STATUS[int(found[1])], _told_seconds(said))
    if isinstance(error, NotSignedIn):
        return AccountTrouble("it may not use Copilot" if found else "nobody is signed in")
    return None


def _told_seconds(message: str) -> float | None:
    said = _LATER.search(message)
    if said is None:
        return None
    seconds, at = _read_parts(message, said.end())
    if at == said.end():
        bare = _BARE.match(message, at)
        if bare is None:
            return None
        seconds = _amount(bare[1]) * (0.001 if said[1] else 1)
    return seconds if seconds <= _LONGEST else None


def _read_parts(message: str, at: int) -> tuple[float, int]:
    """As in 2 hours, 30 minutes; and where it ends."""
    seconds = 0.0
    while part := _PART.match(message, at):
        unit = next(size for word, size in _UNITS.items() if part[2].lower().startswith(word))
        seconds, at = seconds + _amount(part[1]) * unit, part.end()
    return seconds, at


def _amount(text: str) -> float:
    return float(text.replace(",", ""))
