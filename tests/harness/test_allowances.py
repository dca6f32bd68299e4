"""What was allowed until the session ends turns a question into a yes, and nothing else."""

from pathlib import Path

import pytest

from airboss.harness.allowances import Allowance, ruling_of
from airboss.harness.permissions import MustAsk, PolicyRule, Ruling
from airboss.model.ids import RuleId
from airboss.model.rules import KeptRule, Rule
from airboss.model.views import SessionView
from airboss.runtime.permission import PermissionAnswer, PermissionRequest, permission_request
from airboss.settings import Policy

LISTING = Rule(verdict="allow", wish="shell", command="ls *")


def asks_for(command: str) -> PermissionRequest:
    parts = [{"identifier": command.split()[0], "fullCommandText": command}]
    said = {"kind": "shell", "fullCommandText": command, "commandSegments": parts}
    return permission_request({"requestId": "req", "permissionRequest": said})


def answer(
    view: SessionView, command: str, policy: Policy = "ask", *rules: KeptRule
) -> PermissionAnswer | MustAsk:
    return ruling_of(PolicyRule(policy, Path("/work")), asks_for(command), rules, view).answer


def session(*allowances: Rule) -> SessionView:
    said: dict[str, str] = {"state": "working", "model": "m", "cwd": "/work", "policy": "ask"}
    made = {**said, "id": "ses_1", "who": "me", "created_at": 1, "updated_at": 1, "seq": 1}
    return SessionView.model_validate({**made, "allowances": allowances})


def test_without_one_a_person_is_asked() -> None:
    assert isinstance(answer(session(), "ls -l"), MustAsk)


def test_what_it_names_is_allowed_and_the_rest_is_still_asked() -> None:
    view = session(LISTING)
    allowed = answer(view, "ls -l")
    assert isinstance(allowed, PermissionAnswer)
    assert allowed.allowed
    assert isinstance(answer(view, "rm -r x"), MustAsk)


@pytest.mark.parametrize("policy", ["ask", "approve-all"])
def test_the_rest_is_still_asked_where_a_rule_asks(policy: Policy) -> None:
    asking = Rule(verdict="ask", wish="shell")
    kept = KeptRule(id=RuleId("rul_1"), rule=asking, who="me", made_at=1)
    assert isinstance(answer(session(LISTING), "rm -r x", policy, kept), MustAsk)
    assert isinstance(answer(session(LISTING), "ls -l", policy, kept), PermissionAnswer)


def test_what_a_rule_asks_for_under_read_only_is_asked_once_for_the_session(tmp_path: Path) -> None:
    kept = KeptRule(id=RuleId("rul_1"), rule=Rule(verdict="ask", wish="read"), who="me", made_at=1)
    rule, file = PolicyRule("read-only", tmp_path), str(tmp_path / "notes")
    view = session(Rule(verdict="allow", wish="read", path=file))

    def ruled(path: str) -> Ruling:
        said = {"kind": "read", "path": path}
        request = permission_request({"requestId": "req", "permissionRequest": said})
        return ruling_of(rule, request, (kept,), view)

    assert isinstance(ruled(file).answer, PermissionAnswer)
    assert isinstance(ruled(f"{file}-2").answer, MustAsk)


def test_an_extensions_yes_to_a_call_is_the_last_rule_and_widens_ask_only() -> None:
    said = {**asks_for("ls -l").raw, "toolCallId": "call_1"}
    request = permission_request({"requestId": "req", "permissionRequest": said})
    yes = {"call_1~2": Allowance("helper", "I know it.")}

    def ruled(policy: Policy, *rules: KeptRule) -> Ruling:
        return ruling_of(PolicyRule(policy, Path("/work")), request, rules, session(), yes)

    assert ruled("ask").by == "extension helper"
    asking = Rule(verdict="ask", wish="shell")
    kept = KeptRule(id=RuleId("rul_1"), rule=asking, who="me", made_at=1)
    assert isinstance(ruled("ask", kept).answer, MustAsk)
    for policy in ("read-only", "deny-all"):
        assert ruled(policy).by == f"policy {policy}"
    more = permission_request(
        {"requestId": "r", "permissionRequest": {**said, "requestSandboxBypass": True}}
    )
    rule = PolicyRule("ask", Path("/work"))
    assert isinstance(ruling_of(rule, more, (), session(), yes).answer, MustAsk)
    assert isinstance(ruling_of(rule, request, (), session(), {}).answer, MustAsk)


def test_what_a_rule_or_the_policy_refuses_stays_refused() -> None:
    view = session(LISTING)
    denying = KeptRule(
        id=RuleId("rul_1"), rule=Rule(verdict="deny", wish="shell"), who="me", made_at=1
    )
    for refused in (answer(view, "ls -l", "ask", denying), answer(view, "ls -l", "deny-all")):
        assert isinstance(refused, PermissionAnswer)
        assert not refused.allowed
