"""Which refusals mean that the runtime does not have a session any more, and which do not."""

import pytest

from airboss.errors import NotSignedIn, SessionGone
from airboss.runtime.gone_session import gone
from airboss.runtime.runtime_process import RuntimeRefused


class _Said(Exception):
    def __init__(self, **fields: object) -> None:
        super().__init__("no")
        vars(self).update(fields)


def refused(words: str, **fields: object) -> RuntimeRefused:
    error = RuntimeRefused(words)
    error.__cause__ = _Said(**fields)
    return error


@pytest.mark.parametrize(
    "error",
    [
        refused("Failed to load session events: Session not found: ses_1"),
        refused("Unknown session id ses_1"),
        refused("The session does not exist"),
        refused("no such session"),
        refused("Cannot fork session ses_1: no persisted or in-memory events found"),
        refused("session resume failed: Session file is corrupted (line 8: …)"),
        refused("no", status=404),
        refused("no", code="SESSION_NOT_FOUND"),
        refused("no", data={"code": "ENOENT"}),
        refused("no", data={"statusCode": 404}),
    ],
)
def test_these_mean_that_it_is_gone(error: RuntimeRefused) -> None:
    assert isinstance(gone(error, "ses_1"), SessionGone)


def test_others_are_told_as_they_are() -> None:
    broken = refused("The model was not found", code=-32603)
    assert gone(broken, "ses_1") is broken
    assert isinstance(gone(refused("session: 401 Unauthorized"), "ses_1"), NotSignedIn)
