"""What is decided about is shown whole, however long, or asked of nobody."""

import json
from typing import Any

import pytest

from airboss.errors import TooLarge
from airboss.harness.subjects import MOST_BYTES, subject_of
from airboss.model.excerpt import Gapped
from airboss.model.inbox_events import Subject
from airboss.model.redaction import MASK, Redactor
from airboss.runtime.permission import permission_request

SECRET = "s3cret-value"


def subject(kind: str, **request: Any) -> Subject:
    asked = permission_request(
        {"requestId": "req_1", "permissionRequest": {"kind": kind, **request}}
    )
    return subject_of(asked, Redactor((SECRET,)))


def test_nothing_of_a_long_command_a_change_or_arguments_is_cut() -> None:
    command = "echo " + "x" * 500_000 + "; touch PWN"
    assert subject("shell", fullCommandText=command).command == command
    diff = "+x\n" * 200_000 + "+touch PWN\n"
    assert subject("write", fileName="/w/a", diff=diff).diff == diff
    args = {"text": "x" * 500_000 + "; touch PWN"}
    assert json.loads(subject("mcp", toolName="add", args=args).arguments)["args"] == args


def test_a_long_command_is_carried_once_though_the_runtime_tells_it_thrice() -> None:
    command = "echo " + "x" * 400_000 + "; touch PWN"
    shown = subject(
        "shell",
        fullCommandText=command,
        commands=[{"identifier": command, "readOnly": False}],
        commandSegments=[{"fullCommandText": command[:-11]}, {"fullCommandText": "touch PWN"}],
    )
    assert shown.command == command
    assert json.loads(shown.arguments) == {
        "kind": "shell",
        "fullCommandText": "(part of the command: 400,016 characters)",
        "commands": [
            {"identifier": "(part of the command: 400,016 characters)", "readOnly": False}
        ],
        "commandSegments": [
            {"fullCommandText": "(part of the command: 400,005 characters)"},
            {"fullCommandText": "touch PWN"},
        ],
    }


def test_a_small_change_of_a_large_file_can_be_asked_for() -> None:
    """The runtime tells the file before and after, too: more than a person is shown."""
    content = "x\n" * 400_000
    shown = subject(
        "write",
        fileName="/w/a",
        diff="-x\n+y\n",
        newFileContents=content,
        fileEdits=[{"before": {"path": "/w/a", "content": content}}],
    )
    assert shown.diff == "-x\n+y\n"
    said = json.loads(shown.arguments)
    assert said["newFileContents"] == "(a whole file, see the diff: 800,000 characters)"
    assert said["fileEdits"][0]["before"]["path"] == "/w/a"


@pytest.mark.parametrize("diff", [None, "", "\n"])
def test_a_change_without_a_diff_is_shown_by_what_the_file_will_hold(diff: str | None) -> None:
    given = {} if diff is None else {"diff": diff}
    shown = subject("write", fileName="/w/a", newFileContents="one\ntouch PWN", **given)
    assert shown.diff == "+one\n+touch PWN\n"


def test_up_to_a_mebibyte_is_shown_and_a_byte_more_is_asked_of_nobody() -> None:
    beside = sum(len(part or "") for part in subject("url", url="").model_dump().values())
    assert subject("url", url="é" * ((MOST_BYTES - beside - 100) // 4)).address
    for request in (
        {"fullCommandText": "x" * MOST_BYTES},
        {"fullCommandText": "é" * (MOST_BYTES // 2)},
        {"diff": "+" * MOST_BYTES},
        {"args": {"text": "x" * MOST_BYTES}},
        {"fullCommandText": "x" * (MOST_BYTES // 2), "args": "y" * (MOST_BYTES // 2)},
        {"path": "x" * MOST_BYTES},
    ):
        with pytest.raises(TooLarge, match=r"Nobody was asked: .* smaller parts"):
            subject("shell", **request)


def test_what_was_not_read_whole_is_asked_of_nobody() -> None:
    gapped = Gapped("echo ", 3_000_000, "; touch PWN")
    for request in (
        {"fullCommandText": gapped},
        {"diff": gapped},
        {"newFileContents": gapped},
        {"args": {"list": [gapped]}},
    ):
        with pytest.raises(TooLarge, match="too large"):
            subject("write", **request)
    shown = subject("write", fileName="/w/a", diff="-x\n+y\n", newFileContents=gapped)
    assert json.loads(shown.arguments)["newFileContents"] == (
        "(a whole file, see the diff: 3,000,016 characters)"
    ), "the change itself is there"


def test_what_is_taken_out_as_a_secret_is_marked_where_it_stood() -> None:
    shown = subject("shell", fullCommandText=f"curl -u {SECRET} x")
    assert shown.command == f"curl -u {MASK} x"
    assert SECRET not in shown.model_dump_json()
