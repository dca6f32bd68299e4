"""Who a session may be to Copilot, and in which order."""

import pytest

from airboss.account_settings import Account
from airboss.errors import Invalid
from airboss.harness.identity import (
    CLI,
    TOKEN_VARIABLES,
    Login,
    WantedLogin,
    login_of,
    logins_for,
    version_of,
)

WORK = Account(name="work", token_variable="WORK")
TEAM = Account(name="team", token_command=("gh", "auth", "token"))
MINE = Account(name="mine", cli=True)
ALL = (WORK, TEAM, MINE)
ENVIRON: dict[str, str] = dict.fromkeys(TOKEN_VARIABLES, "a-token")
GIVEN = WantedLogin(token="gho_x", profile="p", version="v")


def names(wanted: WantedLogin, accounts: tuple[Account, ...] = ALL) -> list[str]:
    return [login.name for login in logins_for(wanted, accounts, ENVIRON)]


def test_what_comes_first_wins() -> None:
    assert names(WantedLogin(account="cli", token="gho_x", profile="p", version="v")) == ["cli"]
    assert names(GIVEN) == ["p"]
    assert names(WantedLogin(account="team")) == ["team"]
    assert names(WantedLogin()) == ["work", "team", "mine"]
    assert names(WantedLogin(), ()) == ["env:AIRBOSS_GITHUB_TOKEN"]
    assert logins_for(WantedLogin(), (), {"PATH": "/bin"}) == (CLI,)


@pytest.mark.parametrize("first", range(4))
def test_the_most_specific_variable_wins(first: int) -> None:
    environ: dict[str, str] = dict.fromkeys(TOKEN_VARIABLES[first:], "a-token")
    name = TOKEN_VARIABLES[first]
    assert login_of(environ) == Login(f"env:{name}", "environment", variable=name)


def test_an_empty_variable_counts_as_none() -> None:
    assert login_of({"COPILOT_GITHUB_TOKEN": " ", "GH_TOKEN": ""}) == CLI
    assert login_of({"GH_TOKEN": "", "GITHUB_TOKEN": " gho_x\n"}).variable == "GITHUB_TOKEN"


def test_for_a_provider_of_ones_own_no_token_is_looked_for() -> None:
    assert names(WantedLogin(own_provider=True)) == []


@pytest.mark.parametrize(
    "wanted",
    [
        WantedLogin(token="t"),
        WantedLogin(token="t", profile="p"),
        WantedLogin(token="t", version="v"),
    ],
)
def test_a_given_token_needs_a_profile_and_a_version(wanted: WantedLogin) -> None:
    with pytest.raises(Invalid, match="profile id and a profile version"):
        names(wanted)


def test_an_account_that_nobody_has_is_refused() -> None:
    with pytest.raises(Invalid, match='no account "other"'):
        names(WantedLogin(account="other"))


def test_a_version_changes_with_the_token_and_does_not_tell_it() -> None:
    one = version_of("gho_secret")
    assert one == version_of("gho_secret") != version_of("gho_other")
    assert one.startswith("sha256:")
    assert (len(one), "secret" in one) == (len("sha256:") + 12, False)
    assert "gho_x" not in repr(logins_for(GIVEN, (), {}))
