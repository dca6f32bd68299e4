"""Tokens and codes: what counts, once, for a while, and only as long as its token."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.errors import NotFound
from airboss.service.access import CODE_SECONDS, Access
from airboss.store.folder import DataFolder, write_private
from airboss.store.tokens import NamedTokens, new_token


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    return folder


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(folder: DataFolder, clock: Clock) -> Access:
    return Access(folder, clock=clock)


def test_the_owners_token_is_made_once_and_gets_in(folder: DataFolder, access: Access) -> None:
    assert access.who(access.token) == "owner"
    assert Access(folder).token == access.token
    assert access.who(new_token()) is None
    assert access.who("") is None


def test_a_named_token_counts_as_soon_as_it_is_added(folder: DataFolder, access: Access) -> None:
    tokens = NamedTokens(folder)
    token = tokens.add("ci")
    access.refresh()
    assert access.who(token) == "ci"
    tokens.remove("ci")
    access.refresh()
    assert access.who(token) is None


def test_a_replaced_token_file_counts_at_once(folder: DataFolder, access: Access) -> None:
    old, fingerprint = access.token, access.fingerprint("owner")
    write_private(folder.token, new := new_token())
    access.refresh()
    assert (access.who(old), access.who(new)) == (None, "owner")
    assert access.fingerprint("owner") not in (None, fingerprint)
    folder.token.unlink()
    access.refresh()
    assert access.who(new) is None


def test_a_given_token_replaces_the_files(folder: DataFolder, access: Access) -> None:
    other = Access(folder, "given-by-the-environment")
    assert other.who("given-by-the-environment") == "owner"
    assert other.who(access.token) is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"owner": 1}', '{"a.b": {}}', "\x00"])
def test_damaged_named_tokens_let_nobody_in_but_the_owner(
    folder: DataFolder, access: Access, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = NamedTokens(folder).add("ci")
    write_private(folder.named_tokens, damage)
    access.refresh()
    assert (access.who(token), access.who(access.token)) == (None, "owner")
    assert "is damaged" in caplog.text


def test_an_owner_among_the_named_tokens_is_not_the_owner(
    folder: DataFolder, access: Access
) -> None:
    token = NamedTokens(folder).add("ci")
    text = folder.named_tokens.read_text(encoding="utf-8")
    write_private(folder.named_tokens, text.replace('"ci"', '"owner"'))
    access.refresh()
    assert (access.who(token), access.who(access.token)) == (None, "owner")


def test_a_code_is_good_once_and_for_ten_minutes(access: Access, clock: Clock) -> None:
    first, second = access.new_code("owner"), access.new_code("owner")
    clock.now += CODE_SECONDS - 1
    assert access.redeem(first) == "owner"
    assert access.redeem(first) is None
    clock.now += 1
    assert access.redeem(second) is None
    assert access.redeem("") is None


def test_codes_are_bounded_and_the_newest_stays(access: Access) -> None:
    codes = [access.new_code("owner") for _ in range(1000)]
    good = [code for code in codes if access.redeem(code)]
    assert good == codes[-64:]


def test_nobody_pushes_out_the_codes_of_another_name(folder: DataFolder, access: Access) -> None:
    NamedTokens(folder).add("ann")
    access.refresh()
    owners = access.new_code("owner")
    for _ in range(1000):
        access.new_code("ann")
    assert access.redeem(owners) == "owner"


def test_nobody_unknown_gets_a_code(access: Access) -> None:
    with pytest.raises(NotFound):
        access.new_code("nobody")


def test_a_name_that_comes_back_has_another_fingerprint(folder: DataFolder, access: Access) -> None:
    tokens = NamedTokens(folder)
    tokens.add("ann")
    access.refresh()
    first = access.fingerprint("ann")
    tokens.remove("ann")
    access.refresh()
    assert access.fingerprint("ann") is None
    tokens.add("ann")
    access.refresh()
    assert access.fingerprint("ann") not in (None, first)


def test_no_two_names_and_no_two_folders_share_a_cookie_or_a_fingerprint(
    folder: DataFolder, access: Access, tmp_path: Path
) -> None:
    other = DataFolder(tmp_path / "other")
    other.create()
    elsewhere = Access(other)
    assert elsewhere.cookie_name != access.cookie_name
    assert elsewhere.fingerprint("owner") != access.fingerprint("owner")
    assert Access(folder).cookie_name == access.cookie_name


def test_nothing_made_up_gets_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = DataFolder(tmp_path_factory.mktemp("data"))
    folder.create()
    access = Access(folder)
    letters = st.characters(max_codepoint=255)

    @given(st.text(letters, max_size=80))
    def nobody(text: str) -> None:
        assert access.who(text) is None
        assert access.redeem(text) is None

    nobody()
