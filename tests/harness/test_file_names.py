"""A file whose name looks like a secret: in an approval it can be read, a secret cannot."""

from typing import Any

import pytest

from airboss.harness.approvals import approval_of
from airboss.harness.file_names import file_names
from airboss.harness.risks import Risk
from airboss.model.inbox_events import ApprovalAsked
from airboss.model.redaction import MASK, Redactor
from airboss.runtime.permission import PermissionRequest, permission_request

NAME = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6"
OTHER = "AKIAIOSFODNN7EXAMPLE"


def asked(kind: str, **request: Any) -> PermissionRequest:
    return permission_request({"requestId": "req", "permissionRequest": {"kind": kind, **request}})


def approval(request: PermissionRequest) -> ApprovalAsked:
    return approval_of(
        request,
        why="The policy asks.",
        options=(),
        risk=Risk("low", "Nothing."),
        prompt=None,
        expires_at=None,
        redactor=Redactor(("a-known-value",)),
    )


@pytest.mark.parametrize(
    "command",
    [
        NAME,
        f"sh {NAME}",
        f"A=b bash -x d/{NAME} {NAME}",
        f"make && ./{NAME}",
        f"python3 {NAME}.py",
        f"cat ~/notes/{NAME}",
        f"true; {NAME} x",
    ],
)
def test_a_program_or_a_script_is_shown_by_its_name(command: str) -> None:
    made = approval(asked("shell", fullCommandText=command))
    assert made.subject.command == command
    assert made.title == f"Run {command}?"
    assert made.subject.arguments is not None
    assert MASK not in made.subject.arguments


def test_a_file_that_is_read_or_changed_is_shown_by_its_name() -> None:
    read = approval(asked("read", path=f"/w/{NAME}"))
    assert (read.title, read.subject.path) == (f"Read {NAME}?", f"/w/{NAME}")
    diff = f"--- a/{NAME}\n+++ b/{NAME}\n+token = {OTHER}\n"
    written = approval(asked("write", fileName=f"/w/{NAME}", diff=diff))
    assert written.title == f"Change {NAME}?"
    assert written.subject.diff == diff.replace(OTHER, MASK)


def test_a_secret_in_a_command_is_not_shown() -> None:
    command = f"curl -H 'Authorization: {NAME}' -d {OTHER} -d a-known-value https://example.com"
    made = approval(asked("shell", fullCommandText=command))
    assert made.subject.command is not None
    assert made.subject.command.count(MASK) == 3
    known = approval(asked("read", path="/w/a-known-value"))
    assert known.subject.path == f"/w/{MASK}"


def test_odd_requests_name_no_files() -> None:
    moved = [{"before": {"path": "a"}, "after": {"path": "b"}}]
    assert list(file_names(asked("write", fileName="c", fileEdits=moved))) == ["c", "a", "b"]
    odd: list[Any] = ["text", [1, None, {"before": 1}, {"after": {"path": 2}}], {}]
    for edits in odd:
        assert list(file_names(asked("write", fileEdits=edits))) == []
    for command in ("", "   ", "A=b", "sh", "sh -x", "'"):
        assert len(list(file_names(asked("shell", fullCommandText=command)))) <= 1
