"""Where secrets lie: what touches such a place, however it is written, and what rules may allow."""

from pathlib import Path

import pytest

from airboss.harness.permissions import MustAsk, PolicyRule
from airboss.harness.protected import Protected, Touched
from airboss.model.ids import RuleId
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule, Rule
from airboss.runtime.permission import PermissionAnswer, PermissionRequest, permission_request
from airboss.settings import Policy


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a project, a data folder, and links that lead there."""
    home = tmp_path / "home"
    for folder in ("project/inside", "share/data/homes/session", "data-beside"):
        (home / folder).mkdir(parents=True)
    (home / "share/data/token").write_text("secret", "utf-8")
    (home / "project/file").write_text("text", "utf-8")
    (home / "project/way").symlink_to(home / "share/data")
    (home / "project/way-above").symlink_to(home / "share")
    (home / "project/one-file").symlink_to(home / "share/data/token")
    (home / "key.pem").write_text("key", "utf-8")
    return home


def rule_of(home: Path, policy: Policy = "ask", own: tuple[Path, ...] = ()) -> PolicyRule:
    """Of a session that works in the home folder."""
    places = (home / "share/data", home / "key.pem", home / ".copilot")
    return PolicyRule(policy, home, given=True, protected=Protected(places), own=own)


def asked(kind: str, **request: object) -> PermissionRequest:
    return permission_request({"requestId": "p1", "permissionRequest": {"kind": kind, **request}})


def kept(**rule: str) -> KeptRule:
    said = Rule.model_validate({"verdict": "allow", **rule})
    return KeptRule(id=RuleId("rul_1"), rule=said, who="ada", made_at=1)


def said(rule: PolicyRule, asked: PermissionRequest, *rules: KeptRule) -> str:
    answer = rule.decide(asked, rules).answer
    return "ask" if isinstance(answer, MustAsk) else "yes" if answer.allowed else "no"


INSIDE = (
    "share/data",
    "share/data/",
    "share/data/token",
    "share/data/not-there/yet",
    "project/../share/data/token",
    "project/way",
    "project/way/token",
    "project/way-above/data/token",
    "project/one-file",
    "/proc/self/root{home}/share/data/token",
    "/proc/self/cwd/../../../../../../../../../..{home}/share/data",
    "{home}/share/data/token",
    "{home}//share/./data//token",
    "key.pem",
    ".copilot",
    ".copilot/config.json",
)
ABOVE = (".", "", "share", "project/way-above", "project/..", "{home}", "share/../")
ELSEWHERE = ("project", "project/file", "project/inside", "data-beside", "not-there", "project/x/y")


@pytest.mark.parametrize("path", [*INSIDE, *ABOVE])
def test_what_is_read_in_or_above_such_a_place_is_asked_for_or_refused(
    home: Path, path: str
) -> None:
    request = asked("read", path=path.format(home=home))
    assert said(rule_of(home, "ask"), request) == "ask"
    assert said(rule_of(home, "read-only"), request) == "no"
    assert said(rule_of(home, "deny-all"), request) == "no"
    assert said(rule_of(home, "approve-all"), request) == "yes", "who says so means it"


@pytest.mark.parametrize("path", ELSEWHERE)
def test_all_else_below_the_folder_is_read_as_before(home: Path, path: str) -> None:
    for policy in ("ask", "read-only"):
        assert said(rule_of(home, policy), asked("read", path=path)) == "yes"


def test_one_such_path_among_others_is_enough(home: Path) -> None:
    request = asked("read", paths=["project/file", "share/data/token"])
    assert said(rule_of(home), request) == "ask"
    told = asked("read", path="project/file", resolvedPath=str(home / "share/data/token"))
    assert said(rule_of(home), told) == "ask", "what the runtime resolved counts too"


def test_the_reason_names_the_place(home: Path) -> None:
    answer = rule_of(home, "read-only").decide(asked("read", path="project/way/token")).answer
    assert isinstance(answer, PermissionAnswer)
    place = home / "share/data"
    assert answer.reason == (
        f"The policy read-only allows reading, but not in {place}, which contains secrets."
    )


def test_a_place_that_is_not_there_is_guarded_but_nobody_asks_for_what_lies_above(
    tmp_path: Path,
) -> None:
    rule = PolicyRule("ask", tmp_path, protected=Protected((tmp_path / "later" / "data",)))
    assert said(rule, asked("read", path=".")) == "yes"
    assert said(rule, asked("read", path="later/data/token")) == "ask"
    (tmp_path / "later" / "data").mkdir(parents=True)
    assert said(rule, asked("read", path=".")) == "ask"


def test_folders_are_compared_as_the_disk_knows_them_not_by_their_names(home: Path) -> None:
    """As where two spellings lead to one folder; here the system's other way to the same."""
    other = f"/proc/self/root{home}"
    place, protected = home / "share/data", Protected((home / "share/data",))
    inside, above = f"{other}/share/data/token", f"{other}/share"
    assert protected.touched([inside]) == (Touched(place, Path(inside)),)
    assert protected.touched([above]) == (Touched(place, Path(above), above=True),)
    assert protected.touched([f"{other}/project"]) == ()


def test_what_is_the_sessions_own_is_read_without_asking_also_inside_such_a_place(
    home: Path,
) -> None:
    own = home / "share/data/homes/session"
    (own / "out.txt").write_text("mine", "utf-8")
    (own / "trick").symlink_to(home / "share/data/token")
    for policy in ("ask", "read-only"):
        rule = rule_of(home, policy, (own,))
        assert said(rule, asked("read", path=str(own / "out.txt"))) == "yes"
        assert said(rule, asked("read", path=str(own))) == "yes"
        for path in (own / "trick", own / "../../token", own.parent, f"{own}-2/out.txt"):
            assert said(rule, asked("read", path=str(path))) != "yes", path
    elsewhere = PolicyRule("ask", home / "project", own=(own,))
    assert said(elsewhere, asked("read", path=str(own / "out.txt"))) == "yes"
    assert said(elsewhere, asked("write", fileName=str(own / "out.txt"))) == "ask"


# Rules.


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_rule_allows_such_a_file_only_by_naming_exactly_it(home: Path, kind: str) -> None:
    token, rule = home / "share/data/token", rule_of(home)
    for name in ("share/data/token", "project/one-file", str(token)):
        field = {"path": name} if kind == "read" else {"fileName": name}
        request = asked(kind, **field)
        for wide in ("*", f"{home}/*", f"{token.parent}/*", f"{token}*", f"{token.parent}/toke?"):
            assert said(rule, request, kept(wish=kind, path=wide)) == "ask", wide
        assert said(rule, request, kept(wish=kind)) == "ask"
        assert said(rule, request, kept(wish=kind, path=str(token))) == "yes"
        assert said(rule, request, kept(wish=kind, path="share/data/token")) == "yes"
        other = "write" if kind == "read" else "read"
        assert said(rule, request, kept(wish=other, path=str(token))) == "ask"


def test_no_rule_allows_to_go_through_such_a_place_from_above(home: Path) -> None:
    request = asked("read", path=str(home))
    for path in (str(home), ".", "*", str(home / "share/data")):
        assert said(rule_of(home), request, kept(wish="read", path=path)) == "ask", path


def test_a_wide_rule_that_does_not_count_does_not_hide_those_behind_it(home: Path) -> None:
    deny = KeptRule(
        id=RuleId("rul_2"), rule=Rule(verdict="deny", wish="read"), who="bob", made_at=2
    )
    request = asked("read", path="share/data/token")
    assert said(rule_of(home), request, kept(wish="read", path="*"), deny) == "no"
    assert said(rule_of(home), asked("read", path="../x"), kept(wish="read"), deny) == "yes"


def test_always_is_offered_only_where_the_rule_would_count(home: Path) -> None:
    rule = rule_of(home)
    token = asked("read", path="share/data/token")
    suggested = rule.suggest(token, Redactor())
    path = str(home / "share/data/token")
    assert suggested == Rule(verdict="allow", wish="read", path=path)
    assert said(rule, token, kept(wish="read", path=path)) == "yes"
    assert rule.suggest(asked("read", path=str(home)), Redactor()) is None


COMMANDS = (
    "cat {home}/share/data/token",
    "cat share/data/token",
    "cat project/way/token",
    "cat ~/share/data/token",
    "cat --file=share/data/token",
    "cat project/file share/data/token",
    "cat <share/data/token",
    "cat key.pem",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_names_such_a_file_is_never_allowed_by_a_wide_rule(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("HOME", str(home))
    text = command.format(home=home)
    request = asked("shell", fullCommandText=text, commands=[{"readOnly": True}])
    for policy in ("ask", "read-only"):
        assert said(rule_of(home, policy), request) == ("ask" if policy == "ask" else "no")
    wide = kept(wish="shell", command="cat *")
    assert said(rule_of(home), request, wide) == "ask"
    assert said(rule_of(home), request, kept(wish="shell", command=text)) == "yes"
    harmless = asked("shell", fullCommandText="cat project/file")
    assert said(rule_of(home), harmless, wide) == "yes"


def test_a_path_that_nobody_can_read_is_no_reason_to_allow_it(home: Path) -> None:
    for path in ("nul\0byte", "share/data/nul\0byte", f"share/data/{'x' * 5000}"):
        assert said(rule_of(home), asked("read", path=path)) == "ask"
        assert said(rule_of(home, "read-only"), asked("read", path=path)) == "no"
