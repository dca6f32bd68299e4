"""Which turns are worth another try: the session crashed, and what was asked was not at fault."""

from typing import Final

from airboss.harness.account_troubles import ACCOUNT_RESTING
from airboss.harness.turn import TurnReport

_LIMIT: Final = "LimitReached"
# By name, whatever the status: another try meets the same no.
_FINAL: Final = frozenset(
    {
        "authentication",
        "authorization",
        "context_limit",
        _LIMIT,
        "quota",
        "ModelIdNotFound",
        "ModelReplaced",
        "NotSignedIn",
        "PromptBlocked",
        "ToolLoop",
    }
)
_PASSING: Final = frozenset({408, 429})
# The runtime calls nearly every failure “query” and gives a status only where the service answered
# with one. Without it a connection broke, or no reply came; these are the others.
_FINAL_WORDS: Final = (
    "rejected the prompt as too long",  # a 413, behind the runtime's own attempt to shorten it
    "exceeds the model's prompt budget",  # found before it is sent
    "No GitHub OAuth token",
    "conflicts with a built-in tool",
)


def is_stop(report: TurnReport) -> bool:
    """Whether a person wanted it to end: the turn, the session, or the work at its limit."""
    denied = report.error is not None and report.error.name == _LIMIT
    return report.outcome in {"aborted", "dropped"} or denied


def is_crash(report: TurnReport) -> bool:
    """Whether the same request may well succeed in a fresh session."""
    if report.outcome not in {"failed", "interrupted"}:
        return False
    error = report.error
    if error is None or error.name == ACCOUNT_RESTING:
        return True
    if error.name in _FINAL:
        return False
    if error.status is not None and error.status >= 400:
        return error.status in _PASSING or error.status >= 500
    return not any(words in error.message for words in _FINAL_WORDS)
