"""Whether a refusal of the runtime means that it does not have a session any more."""

from collections.abc import Mapping
from typing import Final, cast

from airboss.errors import AirbossError, SessionGone
from airboss.runtime.copilot_models import in_words
from airboss.runtime.runtime_process import RuntimeRefused

_CODES: Final = frozenset({"404", "SESSION_NOT_FOUND", "session_not_found", "NotFound", "ENOENT"})
_FIELDS: Final = ("status", "statusCode", "status_code", "code")
_WORDS: Final = ("not found", "unknown session", "does not exist", "no such session")
# It reads no file with an image that it did not take, though it wrote that file itself.
_DAMAGED: Final = "Session file is corrupted"
# Where there is nothing of it that could be copied.
_NO_EVENTS: Final = "no persisted or in-memory events found"


def gone(error: RuntimeRefused, session: str) -> AirbossError:
    if _DAMAGED in str(error):
        return SessionGone(f"The agent runtime cannot read its file of session {session} any more.")
    if is_gone(error):
        return SessionGone(f"The agent runtime has no record of session {session} any more.")
    return in_words(error)


def is_gone(error: RuntimeRefused) -> bool:
    """What is said in fields counts before what is said in words."""
    cause = error.__cause__
    data: object = getattr(cause, "data", None)
    fields = cast("Mapping[str, object]", data if isinstance(data, Mapping) else {})
    said = [getattr(cause, name, None) for name in _FIELDS] + [fields.get(n) for n in _FIELDS]
    if any(str(value) in _CODES for value in said if value is not None):
        return True
    text = str(error).lower()
    return "session" in text and any(words in text for words in (*_WORDS, _NO_EVENTS))
