"""An error of ours in detail, without secrets."""

import logging

import pytest

from airboss.engine.troubles import in_detail
from airboss.errors import Conflict
from airboss.model.redaction import Redactor


def raised() -> Exception:
    error = OSError("The key hunter2-hunter2 does not fit.")
    error.__cause__ = KeyError("hunter2-hunter2")
    try:
        raise error
    except OSError:
        return error


def test_name_message_stack_and_cause_are_told_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    said = in_detail(raised(), Redactor(("hunter2-hunter2",)))
    assert said["name"] == "OSError"
    assert said["message"].startswith("The key ")
    assert "in raised" in str(said["stack"])
    assert said["cause"]
    assert "hunter2" not in str(said)
    assert caplog.messages == ["A task crashed"]


def test_what_was_foreseen_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert in_detail(Conflict("Not now."), Redactor(()))["cause"] is None
    assert caplog.messages == []
