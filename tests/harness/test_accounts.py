"""Which account comes first, which of them rest, and where their tokens come from."""

import sys
from dataclasses import dataclass, field

import pytest

from airboss.account_settings import Account
from airboss.harness.accounts import Accounts, clock
from airboss.harness.token_command import NoToken

A, B, C = (Account(name=name, token_variable=name.upper()) for name in "abc")


@dataclass
class Clock:
    """Goes when it is told to."""

    at: float = 1000.0

    def now(self) -> float:
        return self.at


@dataclass
class Desk:
    """Three accounts, a clock, and who hears the tokens."""

    clock: Clock = field(default_factory=Clock)
    learnt: list[str] = field(default_factory=list[str])

    def learn(self, *tokens: str, of: str = "") -> None:
        self.learnt += tokens

    def accounts(self, *more: Account, **kept: str) -> Accounts:
        environ = {"A": "token-a\n", "B": "token-b", "C": " "}
        every = (A, B, C, *more)
        return Accounts(every, environ, kept.get, self.learn, self.clock.now)


def names(accounts: Accounts, *asked: str) -> list[str]:
    return [login.name for login in accounts.order(*asked)]


def test_who_rests_comes_last_and_of_those_who_wakes_first() -> None:
    desk = Desk()
    accounts = desk.accounts()
    assert names(accounts) == ["a", "b", "c"]
    accounts.rest("a", "refused", 90)
    accounts.rest("b", "limit")
    assert names(accounts) == ["c", "b", "a"]
    desk.clock.at += 31
    assert names(accounts) == ["b", "c", "a"]
    assert names(accounts, "a") == ["a"], "a named one is the only one"
    assert [one.name for one in accounts.order(None, ("a", "b"))] == ["b", "a"]


def test_a_rest_doubles_up_to_an_hour_until_the_account_has_worked() -> None:
    desk = Desk()
    accounts = desk.accounts()
    lengths: list[float] = []
    for _ in range(9):
        lengths.append(accounts.rest("a", "limit").until - desk.clock.at)
        desk.clock.at += lengths[-1] + 1
    assert lengths == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    accounts.worked("a")
    assert accounts.rest("a", "limit").until == desk.clock.at + 30
    told = accounts.rest("a", "limit", 7)
    assert (told.until, told.seconds) == (desk.clock.at + 7, 30)


def test_what_many_sessions_are_refused_at_once_is_one_rest() -> None:
    desk = Desk()
    accounts = desk.accounts()
    rests = [accounts.rest("a", "refused") for _ in range(10)]
    assert {rest.until for rest in rests} == {desk.clock.at + 30}
    desk.clock.at += 31
    assert accounts.rest("a", "refused").until == desk.clock.at + 60


def test_the_last_word_names_each_and_when_it_wakes() -> None:
    desk = Desk()
    accounts = desk.accounts()
    rest = accounts.rest("a", "its token was refused")
    said = str(accounts.none_left({"a": rest.why, "c": "There is no token in the variable C"}))
    assert f"a: its token was refused (it is tried again at {clock(rest.until)})" in said
    assert "c: There is no token in the variable C." in said


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.5])
def test_who_may_be_asked_again_at_once_lets_the_others_go_first(seconds: float) -> None:
    desk = Desk()
    accounts = desk.accounts()
    accounts.rest("a", "limit", seconds)
    assert names(accounts) == ["b", "c", "a"]
    desk.clock.at += 5
    assert names(accounts) == ["a", "b", "c"]


async def test_tokens_are_read_when_they_are_needed_and_everybody_is_told_to_hide_them() -> None:
    desk = Desk()
    kept = Account(name="kept", token_kept="k")
    gone = Account(name="gone", token_kept="g")
    accounts = desk.accounts(kept, gone, k="token-k")
    a, _b, c, stored, missing = accounts.logins()
    grant = await accounts.grant(a)
    assert (grant.token, grant.profile, grant.is_cli) == ("token-a", "a", False)
    assert "token-a" not in repr(grant)
    assert (await accounts.grant(stored)).token == "token-k"
    assert desk.learnt == ["token-a", "token-k"]
    for login, words in ((c, "the variable C"), (missing, "the kept secret g")):
        with pytest.raises(NoToken, match=f"There is no token in {words}"):
            await accounts.grant(login)
    states = {one.name: one.state for one in accounts.states()}
    assert states == {"a": "fine", "b": "fine", "c": "missing", "kept": "fine", "gone": "missing"}


@pytest.mark.parametrize(
    ("printed", "token", "is_renewed"),
    [
        ("token-x", "token-x", False),
        ('{"accessToken": "token-x", "expiresIn": 3600}', "token-x", False),
        ('{"accessToken": "token-x", "expiresIn": 28800}', None, True),
    ],
)
async def test_a_command_prints_a_token_and_may_say_for_how_long(
    printed: str, token: str | None, is_renewed: bool
) -> None:
    desk = Desk()
    command = Account(name="x", token_command=(sys.executable, "-c", f"print({printed!r})"))
    accounts = desk.accounts(command)
    grant = await accounts.grant(accounts.logins()[-1])
    assert (grant.token, grant.renewed is not None) == (token, is_renewed)
    assert desk.learnt == ["token-x"]
    if grant.renewed is not None:
        assert await grant.renewed() == ("token-x", 28800)


def test_a_sign_in_of_the_cli_that_nobody_made_is_not_fine() -> None:
    accounts = Accounts((), {})
    assert [one.state for one in accounts.states()] == ["fine"], "nobody has asked yet"
    accounts.cli_is_signed_in = False
    (state,) = accounts.states()
    assert (state.state, state.why) == ("missing", "Nobody is signed in to the Copilot CLI.")
