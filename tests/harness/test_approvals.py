"""An approval as a person sees it, and what the agent is told of the decision."""

from pathlib import Path
from typing import Any

import pytest

from airboss.harness.approvals import answer_of, approval_of, fingerprint
from airboss.harness.risks import risk_of
from airboss.model.ids import ItemId
from airboss.model.inbox_events import AlwaysOption, ApprovalAsked, ItemSettled
from airboss.model.redaction import Redactor
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionRequest, permission_request

SECRET = "s3cret-value"


def request_of(kind: str, **request: Any) -> PermissionRequest:
    return permission_request(
        {"requestId": "req_1", "permissionRequest": {"kind": kind, **request}}
    )


def approval(asked: PermissionRequest, rule: Rule | None = None) -> ApprovalAsked:
    return approval_of(
        asked,
        why="The policy asks.",
        options=() if rule is None else (AlwaysOption(id="exact", title="This", rule=rule),),
        risk=risk_of(asked, Path("/w")),
        prompt=None,
        expires_at=None,
        redactor=Redactor((SECRET,)),
    )


@pytest.mark.parametrize(
    ("asked", "title", "severity"),
    [
        (request_of("shell", fullCommandText="rm -r x"), "Run rm -r x?", "high"),
        (request_of("write", fileName="/w/a.txt", diff="+hi"), "Change a.txt?", "low"),
        (request_of("read", path="/etc/hosts"), "Read hosts?", "medium"),
        (request_of("url", url="https://example.com/x"), "Fetch from example.com?", "medium"),
        (request_of("url", url="http://[bad"), "Fetch from http://[bad?", "medium"),
        (request_of("mcp", serverName="s", toolName="add"), "Call add of s?", "medium"),
        (request_of("custom-tool", toolName="deploy"), "Call deploy?", "medium"),
        (request_of("hook", toolName="bash"), "Call bash?", "medium"),
        (request_of("memory"), "Remember this?", "low"),
        (request_of("workflow"), "Allow “workflow”: ?", "high"),
    ],
)
def test_every_kind_has_a_question_for_a_title(
    asked: PermissionRequest, title: str, severity: str
) -> None:
    """APR-1, PERM-5: fields beyond the kind may be missing."""
    made = approval(asked)
    assert (made.title, made.severity) == (title, severity)


def test_titles_and_descriptions_are_short_and_say_so() -> None:
    """APR-1: title at most 80, description at most 512."""
    command = "echo " + "x" * 200 + "; touch PWN"
    made = approval(request_of("shell", fullCommandText=command, intention="y " * 600))
    assert (len(made.title), len(made.description) <= 512) == (80, True)
    assert made.title.startswith("Run echo xxx")
    assert made.title.endswith("xxx; touch PWN? (shortened)")
    assert made.description.endswith(" (shortened). The policy asks."), "ours are not pushed out"


@pytest.mark.parametrize("hidden", ["\u200d", "\u3164", "\u115f", "\u00ad", "\u2800", "\ufe0f"])
def test_a_title_shows_what_cannot_be_seen(hidden: str) -> None:
    mark = f"⟨U+{ord(hidden):04X}⟩"
    command = f"./test{hidden}.sh"
    made = approval(request_of("shell", fullCommandText=command))
    assert made.title == f"Run ./test{mark}.sh?"
    assert made.subject.command == command, "what would run is kept as it is"
    assert approval(request_of("write", fileName=f"/w/a{hidden}.py")).title == f"Change a{mark}.py?"
    assert approval(request_of("hook", toolName=f"bash{hidden}")).title == f"Call bash{mark}?"


def test_a_title_shows_that_a_command_has_another_line() -> None:
    assert (
        approval(request_of("shell", fullCommandText="ls\ntouch PWN")).title
        == "Run ls ⏎ touch PWN?"
    )


def test_a_title_says_that_a_file_goes_or_gets_another_name() -> None:
    old = {"path": "/w/old.txt", "content": "x"}
    new = {"path": "/w/new.sh", "content": "x"}
    moved = request_of("write", fileName="/w/new.sh", fileEdits=[{"before": old, "after": new}])
    gone = request_of("write", fileName="/w/old.txt", fileEdits=[{"before": old}])
    same = request_of("write", fileName="/w/old.txt", fileEdits=[{"before": old, "after": old}])
    made = request_of("write", fileName="/w/new.sh", fileEdits=[{"after": new}])
    assert [approval(asked).title for asked in (moved, gone, same, made)] == [
        "Change old.txt, and move it to new.sh?",
        "Delete old.txt?",
        "Change old.txt?",
        "Change new.sh?",
    ]


def test_the_agents_intention_and_our_reason_are_two_sentences() -> None:
    for intention in ("Build the web part", "Build the web part."):
        made = approval(request_of("shell", fullCommandText="make", intention=intention))
        assert made.description == "Build the web part. The policy asks."


def test_a_secret_is_in_no_part_of_it() -> None:
    made = approval(request_of("shell", fullCommandText=f"curl -u {SECRET}", intention=SECRET))
    assert SECRET not in made.model_dump_json()


def test_always_is_offered_only_where_there_is_a_rule_for_it() -> None:
    """APR-1: allow-once, allow-always, deny by default."""
    rule = Rule(verdict="allow", wish="shell", command="ls")
    asked = request_of("shell", fullCommandText="ls")
    assert approval(asked, rule).choices == ("allow-once", "allow-always", "deny")
    assert approval(asked).choices == ("allow-once", "deny")


def test_the_same_wish_has_the_same_mark_and_another_has_another() -> None:
    first = request_of("shell", fullCommandText="ls", toolCallId="1", intention="look")
    again = request_of("shell", fullCommandText="ls", toolCallId="2", intention="look again")
    pending = request_of("commands", fullCommandText="ls", commandIdentifiers=["ls"])
    assert fingerprint(first) == fingerprint(again) == fingerprint(pending)
    others = [
        request_of("shell", fullCommandText="ls -l"),
        request_of("shell", fullCommandText="ls", requestSandboxBypass=True),
        request_of("read", path="ls"),
        request_of("write", fileName="a", diff="+1"),
        request_of("write", fileName="a", diff="+2"),
        request_of("mcp", serverName="a", toolName="t", args={"x": 1}),
        request_of("mcp", serverName="a", toolName="t", args={"x": 2}),
        request_of("mcp", serverName="b", toolName="t", args={"x": 1}),
    ]
    marks = {fingerprint(one) for one in (first, *others)}
    assert len(marks) == 1 + len(others)


@pytest.mark.parametrize(
    ("outcome", "allowed"),
    [
        ("allow-once", True),
        ("allow-always", True),
        ("deny", False),
        ("timeout", False),
        ("cancelled", False),
        ("answered", False),
        ("declined", False),
        ("go-on", False),
    ],
)
def test_only_an_exact_yes_releases_a_tool(outcome: Any, allowed: bool) -> None:
    """APR-6: timeout, cancelled and whatever else is a no."""
    answer = answer_of(ItemSettled(item=ItemId("itm_1"), outcome=outcome, who="ada"))
    assert answer.allowed is allowed
    assert answer.reason
