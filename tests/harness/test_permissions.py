"""What a policy decides. Whatever is unclear is a no."""

from dataclasses import replace
from pathlib import Path

import pytest

from airboss.harness.permissions import MustAsk, PolicyRule, Ruling, unread
from airboss.model.excerpt import Gapped
from airboss.model.ids import RuleId
from airboss.model.rules import KeptRule, Rule
from airboss.runtime.frames import TOO_LARGE
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.permission import permission_request as request_of
from airboss.settings import POLICIES, Policy

HOW = "To be asked instead, restart Airboss with --permissions ask."
KINDS = ("shell", "write", "read", "url", "mcp", "custom-tool", "hook", "memory", "workflow")


def permission_request(kind: str, *paths: str) -> PermissionRequest:
    return PermissionRequest("req", None, kind, None, paths, None, None, "", {})


def answer_to(rule: PolicyRule, asked: PermissionRequest) -> PermissionAnswer:
    answer = rule.decide(asked).answer
    assert isinstance(answer, PermissionAnswer)
    return answer


def allows(policy: Policy, cwd: Path, asked: PermissionRequest) -> bool:
    return answer_to(PolicyRule(policy, cwd), asked).allowed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with a file, and links that lead in and out of it."""
    cwd = tmp_path / "work"
    (cwd / "inside").mkdir(parents=True)
    (cwd / "file").write_text("text", encoding="utf-8")
    (tmp_path / "secret").write_text("text", encoding="utf-8")
    (tmp_path / "work-beside").mkdir()
    (cwd / "in").symlink_to(cwd / "inside")
    (cwd / "out").symlink_to(tmp_path)
    (cwd / "loop").symlink_to(cwd / "loop")
    return cwd


def test_read_only_allows_reading_below_the_folder(folder: Path) -> None:
    for path in ("file", ".", "inside/../file", "in", "in/new", "not/there", str(folder / "file")):
        assert allows("read-only", folder, permission_request("read", path)), path
    assert allows("read-only", folder, permission_request("read", str(folder)))


def test_read_only_denies_reading_elsewhere(folder: Path) -> None:
    outside = folder.parent
    for path in (
        str(outside / "secret"),
        "../secret",
        "out/secret",
        "in/../../secret",
        str(outside / "work-beside"),
        f"{folder}/../secret",
        "/",
        "nul\0byte",
    ):
        answer = answer_to(PolicyRule("read-only", folder), permission_request("read", path))
        assert not answer.allowed, path
        assert answer.reason == f"The policy read-only allows reading below {folder} only. {HOW}"


def test_one_path_outside_is_enough_for_a_no_and_so_is_none_at_all(folder: Path) -> None:
    assert not allows("read-only", folder, permission_request("read", "file", "../secret"))
    assert not allows("read-only", folder, permission_request("read"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "read"])
def test_read_only_denies_all_else_and_says_what_it_was(folder: Path, kind: str) -> None:
    answer = answer_to(PolicyRule("read-only", folder), permission_request(kind, "file"))
    told = f"The policy read-only allows reading, and this is “{kind}”. {HOW}"
    assert (answer.allowed, answer.reason) == (False, told)


@pytest.mark.parametrize("kind", KINDS)
def test_approve_all_allows_what_it_understands_and_deny_all_nothing(
    folder: Path, kind: str
) -> None:
    assert allows("approve-all", folder, permission_request(kind, "/"))
    assert not allows("deny-all", folder, permission_request(kind, "file"))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_kind_that_nobody_knows_is_refused_by_every_policy(folder: Path, policy: Policy) -> None:
    assert not allows(policy, folder, permission_request("teleport", "file"))
    assert not allows(policy, folder, permission_request("unknown"))


def test_ask_allows_reading_below_the_folder_and_asks_for_all_else(folder: Path) -> None:
    rule = PolicyRule("ask", folder, given=True)
    assert answer_to(rule, permission_request("read", "file")).allowed
    for asked in (
        permission_request("read", "../secret"),
        permission_request("read"),
        *(permission_request(kind) for kind in KINDS),
    ):
        ruling = rule.decide(asked)
        assert isinstance(ruling.answer, MustAsk), asked
        assert ruling.by == "policy ask"
    assert not answer_to(rule, permission_request("teleport")).allowed


RULES = (
    KeptRule(id=RuleId("rul_1"), rule=Rule(verdict="deny", wish="shell"), who="ada", made_at=1),
    KeptRule(id=RuleId("rul_2"), rule=Rule(verdict="ask", wish="url"), who="ada", made_at=1),
    KeptRule(id=RuleId("rul_3"), rule=Rule(verdict="allow", wish="memory"), who="ada", made_at=1),
)


def test_rules_narrow_every_policy_and_widen_ask_only(folder: Path) -> None:
    """PERM-1, PERM-2."""
    found = {
        (policy, kind): PolicyRule(policy, folder).decide(permission_request(kind), RULES)
        for policy in POLICIES
        for kind in ("shell", "url", "memory")
    }
    said = {
        key: "ask" if isinstance(one.answer, MustAsk) else one.answer.allowed
        for key, one in found.items()
    }
    assert said == {
        ("ask", "shell"): False,
        ("ask", "url"): "ask",
        ("ask", "memory"): True,
        ("caged", "shell"): False,
        ("caged", "url"): "ask",
        ("caged", "memory"): True,
        ("approve-all", "shell"): False,
        ("approve-all", "url"): "ask",
        ("approve-all", "memory"): True,
        ("read-only", "shell"): False,
        ("read-only", "url"): False,
        ("read-only", "memory"): False,
        ("deny-all", "shell"): False,
        ("deny-all", "url"): False,
        ("deny-all", "memory"): False,
    }
    assert found["ask", "memory"].by == "rule rul_3"
    assert found["approve-all", "shell"].by == "rule rul_1"
    assert found["read-only", "memory"].by == "policy read-only"


# What comes of a request without a rule, and with one that allows, asks or denies.
NO, YES, ASKED = ("no",) * 4, ("yes", "yes", "ask", "no"), ("ask", "yes", "ask", "no")
TOLD = {
    ("deny-all", "read"): NO,
    ("deny-all", "write"): NO,
    ("read-only", "read"): YES,
    ("read-only", "write"): NO,
    ("ask", "read"): YES,
    ("ask", "write"): ASKED,
    ("caged", "read"): YES,
    ("caged", "write"): ASKED,
    ("approve-all", "read"): YES,
    ("approve-all", "write"): YES,
}


WISHES = ("read", "write")


def kept_rules(*verdicts: str) -> tuple[KeptRule, ...]:
    """About every file."""
    said = [{"verdict": one, "wish": wish, "path": "*"} for one in verdicts for wish in WISHES]
    rules = map(Rule.model_validate, said)
    return tuple(KeptRule(id=RuleId("rul_1"), rule=rule, who="ada", made_at=1) for rule in rules)


def outcome(ruling: Ruling) -> str:
    if isinstance(ruling.answer, MustAsk):
        return "ask"
    return "yes" if ruling.answer.allowed else "no"


def test_each_policy_with_each_rule(folder: Path) -> None:
    found = {
        (policy, wish): tuple(
            outcome(PolicyRule(policy, folder).decide(permission_request(wish, "file"), rules))
            for rules in ((), *map(kept_rules, ("allow", "ask", "deny")))
        )
        for policy in POLICIES
        for wish in WISHES
    }
    assert found == TOLD


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "deny-all"])
def test_of_two_rules_the_first_speaks_under_every_policy_that_allows_anything(
    folder: Path, policy: Policy
) -> None:
    rule, asked = PolicyRule(policy, folder), permission_request("read", "file")
    assert outcome(rule.decide(asked, kept_rules("ask", "deny"))) == "ask"
    assert outcome(rule.decide(asked, kept_rules("deny", "ask"))) == "no"
    assert outcome(rule.decide(asked, kept_rules("allow", "deny"))) == "yes"


def test_caged_allows_everything_inside_a_cage_and_asks_everywhere_else(folder: Path) -> None:
    kinds = ("shell", "url", "memory")
    inside = PolicyRule("caged", folder, is_caged=True)
    found = [inside.decide(permission_request(kind)) for kind in kinds]
    assert [one.answer for one in found] == [
        PermissionAnswer(True, "The policy caged allows it inside the cage.")
    ] * len(kinds)
    assert {one.by for one in found} == {"policy caged"}
    asked = [PolicyRule("caged", folder).decide(permission_request(kind)).answer for kind in kinds]
    assert all(isinstance(answer, MustAsk) for answer in asked)


def test_rules_narrow_what_is_allowed_inside_a_cage(folder: Path) -> None:
    inside = PolicyRule("caged", folder, is_caged=True)
    assert inside.decide(permission_request("shell"), RULES).by == "rule rul_1"
    assert isinstance(inside.decide(permission_request("url"), RULES).answer, MustAsk)


@pytest.mark.parametrize("policy", ["caged", "approve-all"])
def test_a_server_outside_of_the_cage_is_asked_for(folder: Path, policy: Policy) -> None:
    inside = PolicyRule(policy, folder, is_caged=True, outside=("tickets",))

    def answer(**named: str) -> PermissionAnswer | MustAsk:
        request = replace(permission_request("mcp"), raw={"kind": "mcp", **named})
        return inside.decide(request).answer

    why = MustAsk("This tool's MCP server runs outside of the cage.")
    assert answer(serverName="tickets") == answer() == why
    assert isinstance(answer(serverName="docs"), PermissionAnswer)


def test_what_airboss_does_itself_is_asked_for_in_a_cage_and_no_extension_allows_it(
    folder: Path,
) -> None:
    asked = replace(permission_request("write", str(folder / "new")), on_host=True)
    why = MustAsk("Airboss does this itself, outside of the cage.")
    for policy in ("caged", "approve-all"):
        inside = PolicyRule(policy, folder, is_caged=True)
        assert inside.decide(asked).answer == why
        assert not inside.may_be_widened(asked)
        assert answer_to(inside, replace(asked, on_host=False)).allowed
    assert not answer_to(PolicyRule("read-only", folder, is_caged=True), asked).allowed
    # Without a cage the policy says the same as to all that is written.
    assert allows("approve-all", folder, asked)
    assert PolicyRule("ask", folder).may_be_widened(asked)


def test_a_policy_of_the_sessions_own_is_not_changed_by_a_restart_and_does_not_say_so(
    folder: Path,
) -> None:
    for policy in POLICIES:
        for refused in (
            permission_request("read", "../secret"),
            permission_request("shell"),
            permission_request("teleport"),
        ):
            answer = PolicyRule(policy, folder, given=True).decide(refused).answer
            assert isinstance(answer, MustAsk) or HOW not in answer.reason


LONG = Gapped("begin", 10**7, "end")


@pytest.mark.parametrize(
    ("policy", "request_", "is_refused"),
    [
        ("ask", {"kind": "shell", "fullCommandText": LONG}, True),
        ("approve-all", {"kind": "shell", "fullCommandText": LONG}, True),
        ("approve-all", {"kind": "mcp", "toolName": "t", "args": {"a": [LONG]}}, True),
        ("ask", {"kind": "write", "fileName": "a", "diff": LONG}, True),
        ("approve-all", {"kind": "write", "fileName": "a", "diff": LONG}, False),
        ("ask", {"kind": "write", "fileName": "a", "diff": "+a", "newFileContents": LONG}, False),
        (
            "ask",
            {"kind": "write", "fileName": "a", "diff": "+a", "fileEdits": [{"a": LONG}]},
            False,
        ),
        ("ask", {"kind": "shell", "fullCommandText": "ls"}, False),
    ],
)
def test_what_was_too_long_to_be_read_whole_is_decided_by_nobody(
    folder: Path, policy: Policy, request_: dict[str, object], is_refused: bool
) -> None:
    """A file as it will be is no part of it: the change itself is shown."""
    asked = request_of({"requestId": "r", "permissionRequest": request_})
    answer = unread(asked, PolicyRule(policy, folder).decide(asked))
    assert answer == (Ruling(PermissionAnswer(False, TOO_LARGE), "size") if is_refused else None)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_person_is_told_where_a_link_leads(folder: Path, kind: str) -> None:
    rule, secret = PolicyRule("ask", folder), str((folder.parent / "secret").resolve())
    by_link = rule.decide(permission_request(kind, "out/secret")).answer
    assert isinstance(by_link, MustAsk)
    assert by_link.why.startswith(f"A link leads to {secret}. ")
    named = rule.decide(permission_request(kind, secret)).answer
    assert isinstance(named, MustAsk)
    assert "link" not in named.why
    inside = rule.decide(permission_request("write", "in/new")).answer
    assert isinstance(inside, MustAsk)
    assert "link" not in inside.why
