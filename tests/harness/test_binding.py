"""What a session of the runtime is bound to, and what of it may be another by a person's wish."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from airboss.account_settings import Account
from airboss.harness.accounts import Accounts
from airboss.harness.binding import BoundTo, Holder, bound_to, wishes
from airboss.harness.holders import holder_of
from airboss.harness.homes import Homes
from airboss.harness.models import Route
from airboss.harness.providers import Upstream
from airboss.model.ids import SessionId
from airboss.model.setup import USUAL
from airboss.model.views import SessionView
from airboss.store.bindings import BindingRow
from airboss.store.folder import DataFolder

SECRET = "a-token-that-nobody-sees"
ADDRESS = "https://models.example/v1"
HOUSE = Route("m", {"type": "openai", "wire_api": "responses"}, upstream=Upstream("house", ADDRESS))
BOUND = bound_to(HOUSE, "/work", Holder(home="/home/copilot"))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("provider", "The provider of its model is different from before."),
        ("model", "Its model is different from before."),
        ("wire", "The wire of its provider is different from before."),
        ("address", "The address of its provider is different from before."),
        ("cwd", "Its folder is different from before."),
        ("identity", "Its identity is different from before."),
        ("home", "The runtime's home folder is different from before."),
        ("mode", "The kind of its sign-in is different from before."),
        ("profile", "Its account is different from before."),
    ],
)
def test_each_part_counts_and_is_named(part: str, words: str) -> None:
    other = replace(BOUND, **{part: "another"})
    assert other.key != BOUND.key
    assert other.why_not(asdict(BOUND)) == words
    assert other.why_not(asdict(BOUND), frozenset({part})) is None
    assert BOUND.why_not(asdict(BOUND)) is None


def test_several_are_told_together() -> None:
    other = replace(BOUND, cwd="/other", wire="x", profile="y")
    said = "The wire of its provider, its folder and its account are different from before."
    assert other.why_not(asdict(BOUND)) == said


def test_nothing_secret_and_no_address_is_kept(tmp_path: Path) -> None:
    copilot, homes = Route("gpt"), Homes(DataFolder(tmp_path))

    def bound_with(token: str, **changes: str) -> BoundTo:
        accounts = Accounts((), {"GH_TOKEN": token})
        setup = USUAL.model_copy(update=changes)
        return bound_to(copilot, "/work", holder_of(homes, accounts, copilot, setup))

    bound = bound_with(SECRET)
    assert SECRET not in str(bound)
    assert ADDRESS not in str(BOUND)
    assert (bound.provider, bound.mode) == ("copilot", "token")
    assert bound.profile == "env:GH_TOKEN"
    assert bound_with("another").key == bound.key, "a token that was renewed"
    assert bound_with(SECRET, identity="builder").why_not(asdict(bound)) == (
        "Its identity and the runtime's home folder are different from before."
    )


def test_of_the_settings_accounts_one_is_as_good_as_the_other(tmp_path: Path) -> None:
    copilot, homes = Route("gpt"), Homes(DataFolder(tmp_path))
    both = [Account(name=name, token_variable=name.upper()) for name in "ab"]
    held = [
        holder_of(homes, Accounts(tuple(some), {"A": "1", "B": "2"}), copilot, USUAL)
        for some in (both, both[::-1], both[:1])
    ]
    assert held[0] == held[1] == held[2]


def test_a_provider_of_ones_own_is_bound_to_no_account() -> None:
    holder = Holder(home="/home/copilot", mode="token", profile="work")
    assert bound_to(HOUSE, "/work", holder) == replace(BOUND, mode="byok")


def test_the_rehearsal_is_the_same_wherever_it_is_served() -> None:
    def at(port: int) -> BoundTo:
        route = Route("r", {"type": "openai", "base_url": f"http://127.0.0.1:{port}"})
        return bound_to(route, "/work", Holder())

    assert at(1) == at(2)


def test_a_switch_of_the_model_is_a_wish() -> None:
    view = SessionView(
        id=SessionId("ses_1"), state="interrupted", model="house/m", cwd="/work", policy="ask",
        who="me", created_at=0, updated_at=0, seq=1,
    )  # fmt: skip
    row = BindingRow("ses_1", 1, "ses_1", "house/m", asdict(BOUND))
    assert wishes(view, row) == frozenset()
    other = view.model_copy(update={"model": "copilot"})
    assert wishes(other, row) == {"provider", "model", "wire", "address"}
