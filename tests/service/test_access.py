"""Codes and cookies: valid once, for a while, and only as long as their token."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.errors import NotFound
from airboss.service.access import CODE_SECONDS, COOKIE_SECONDS, Access
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


def signed_in(access: Access, name: str = "owner") -> str:
    cookie = access.exchange(access.new_code(name))
    assert cookie
    return cookie


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
    old, cookie = access.token, signed_in(access)
    write_private(folder.token, new := new_token())
    access.refresh()
    assert (access.who(old), access.who(new)) == (None, "owner")
    assert access.who_by_cookie(cookie) is None
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
    assert access.exchange(first)
    assert access.exchange(first) is None
    clock.now += 1
    assert access.exchange(second) is None
    assert access.exchange("") is None


def test_codes_are_bounded_and_the_newest_stays(access: Access) -> None:
    codes = [access.new_code("owner") for _ in range(1000)]
    good = [code for code in codes if access.exchange(code)]
    assert good == codes[-256:]


def test_nobody_unknown_gets_a_code(access: Access) -> None:
    with pytest.raises(NotFound):
        access.new_code("nobody")


def test_a_cookie_lasts_thirty_days(access: Access, clock: Clock) -> None:
    cookie = signed_in(access)
    clock.now += COOKIE_SECONDS - 1
    assert access.who_by_cookie(cookie) == "owner"
    clock.now += 1
    assert access.who_by_cookie(cookie) is None


def test_a_cookie_counts_after_a_restart_and_in_no_other_folder(
    folder: DataFolder, access: Access, clock: Clock, tmp_path: Path
) -> None:
    cookie = signed_in(access)
    again = Access(folder, clock=clock)
    assert (again.who_by_cookie(cookie), again.cookie_name) == ("owner", access.cookie_name)
    other = DataFolder(tmp_path / "other")
    other.create()
    elsewhere = Access(other, clock=clock)
    assert elsewhere.who_by_cookie(cookie) is None
    assert elsewhere.cookie_name != access.cookie_name


def test_a_cookie_goes_with_its_token_and_does_not_come_back_with_its_name(
    folder: DataFolder, access: Access
) -> None:
    tokens = NamedTokens(folder)
    tokens.add("ann")
    access.refresh()
    cookie = signed_in(access, "ann")
    assert access.who_by_cookie(cookie) == "ann"
    tokens.remove("ann")
    access.refresh()
    assert access.who_by_cookie(cookie) is None
    tokens.add("ann")
    access.refresh()
    assert access.who_by_cookie(cookie) is None


def test_no_letter_of_a_cookie_can_be_changed(access: Access) -> None:
    cookie = signed_in(access)
    for place in range(len(cookie)):
        for letter in ".0x":
            if cookie[place] != letter:
                changed = cookie[:place] + letter + cookie[place + 1 :]
                assert access.who_by_cookie(changed) is None, changed
    assert access.who_by_cookie(cookie + "0") is None
    assert access.who_by_cookie(cookie[:-1]) is None
    assert access.who_by_cookie(cookie * 20) is None


def test_nothing_made_up_gets_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = DataFolder(tmp_path_factory.mktemp("data"))
    folder.create()
    access = Access(folder)
    letters = st.characters(max_codepoint=255)

    @given(st.text(letters, max_size=80) | st.just("v1.owner.1.9999999999.x"))
    def nobody(text: str) -> None:
        assert access.who(text) is None
        assert access.who_by_cookie(text) is None
        assert access.exchange(text) is None

    nobody()


def test_neither_the_cookie_nor_its_key_holds_the_token(folder: DataFolder, access: Access) -> None:
    cookie = signed_in(access)
    assert access.token not in cookie
    key = folder.path / "cookie-key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert access.token not in key.read_text(encoding="utf-8")
