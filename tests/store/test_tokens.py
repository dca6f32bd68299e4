"""Token files: made once, private, shown once, and refused in words."""

import json
import re
import threading
import time
from pathlib import Path

import pytest

from airboss.errors import Conflict, Invalid, NotFound, SettingsInvalid, TooMuch
from airboss.model.redaction import MASK, Redactor
from airboss.store.folder import DataFolder
from airboss.store.tokens import (
    NamedTokens,
    keep_owner_token,
    new_token,
    read_owner_token,
    take_token_from_environment,
    token_is_chosen,
)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    return folder


def test_a_token_has_the_shape_that_is_removed_from_texts() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"airboss_[a-z2-7]{40}", token) for token in made)
    assert all(Redactor().text(token) == MASK for token in made)


def test_the_owners_token_is_readable_by_its_owner_only(folder: DataFolder) -> None:
    assert read_owner_token(folder) is None
    token = keep_owner_token(folder)
    assert folder.token.stat().st_mode & 0o777 == 0o600
    folder.token.chmod(0o644)
    assert keep_owner_token(folder) == token == read_owner_token(folder)
    assert folder.token.stat().st_mode & 0o777 == 0o600


def test_an_empty_token_file_is_not_an_open_door(folder: DataFolder) -> None:
    folder.token.write_text("\n", encoding="utf-8")
    with pytest.raises(SettingsInvalid, match="contains no valid token"):
        keep_owner_token(folder)


def test_the_environments_token_is_taken_out_of_it() -> None:
    environ = {"AIRBOSS_TOKEN": " correct-horse-battery ", "HOME": "/x"}
    assert take_token_from_environment(environ) == "correct-horse-battery"
    assert environ == {"HOME": "/x"}
    assert take_token_from_environment(environ) is None


@pytest.mark.parametrize(
    "bad", ["short", "x" * 15, "x" * 513, "with a space inside", "schlüssel" * 3]
)
def test_a_bad_token_of_the_environment_is_refused_in_words_and_gone(bad: str) -> None:
    environ = {"AIRBOSS_TOKEN": bad}
    with pytest.raises(SettingsInvalid, match="AIRBOSS_TOKEN") as refused:
        take_token_from_environment(environ)
    assert environ == {}
    assert bad not in str(refused.value)


def test_named_tokens_are_kept_as_hashes_in_a_private_file(folder: DataFolder) -> None:
    tokens = NamedTokens(folder)
    assert tokens.read() == {}
    token = tokens.add("ci")
    tokens.add("ann")
    assert sorted(tokens.read()) == ["ann", "ci"]
    assert token not in folder.named_tokens.read_text(encoding="utf-8")
    assert folder.named_tokens.stat().st_mode & 0o777 == 0o600
    tokens.remove("ci")
    assert list(tokens.read()) == ["ann"]


def test_a_folder_that_no_server_used_yet_can_have_tokens(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "new" / "data")
    assert not token_is_chosen(folder, None)
    NamedTokens(folder).add("ci")
    assert token_is_chosen(folder, None)
    assert token_is_chosen(DataFolder(tmp_path), "given")


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a.b", "a\n", "../x", "ü", "x" * 41])
def test_a_name_is_a_plain_word(folder: DataFolder, name: str) -> None:
    with pytest.raises(Invalid, match="is not a valid token name"):
        NamedTokens(folder).add(name)


def test_names_are_not_given_twice(folder: DataFolder) -> None:
    tokens = NamedTokens(folder)
    tokens.add("ci")
    for name in ("ci", "owner", "local"):
        with pytest.raises(Conflict):
            tokens.add(name)
    with pytest.raises(NotFound, match=r"There is no token named x\."):
        tokens.remove("x")
    with pytest.raises(Invalid, match="owner's token"):
        tokens.remove("owner")


def test_their_number_is_bounded(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airboss.store.tokens._MOST_NAMED", 2)
    tokens = NamedTokens(folder)
    tokens.add("a")
    tokens.add("b")
    with pytest.raises(TooMuch):
        tokens.add("c")


def test_tokens_that_are_added_at_the_same_time_are_all_kept(folder: DataFolder) -> None:
    names = [f"n{number}" for number in range(12)]
    threads = [threading.Thread(target=NamedTokens(folder).add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(NamedTokens(folder).read()) == set(names)


def test_a_token_of_an_earlier_version_may_do_everything_and_has_no_end(folder: DataFolder) -> None:
    earlier = {"ci": {"sha256": "0" * 64, "created_at": 1}}
    folder.named_tokens.write_text(json.dumps(earlier), encoding="utf-8")
    token = NamedTokens(folder).read()["ci"]
    assert (token.role, token.until) == ("own", None)


def test_a_token_has_the_role_operate_unless_another_is_said(folder: DataFolder) -> None:
    tokens = NamedTokens(folder)
    tokens.add("ci")
    tokens.add("ann", "decide", _later())
    found = tokens.read()
    assert (found["ci"].role, found["ann"].role) == ("operate", "decide")


def test_an_end_that_has_passed_is_refused(folder: DataFolder) -> None:
    tokens = NamedTokens(folder)
    with pytest.raises(Invalid, match="is in the past"):
        tokens.add("ci", until=1)
    tokens.add("ci")
    with pytest.raises(Invalid, match="is in the past"):
        tokens.change("ci", until=1)
    with pytest.raises(NotFound):
        tokens.change("nobody", role="view")
    assert tokens.read()["ci"].until is None


def test_a_changed_token_stays_the_same_token(folder: DataFolder) -> None:
    tokens = NamedTokens(folder)
    tokens.add("ci")
    before, end = tokens.read()["ci"], _later()
    assert tokens.change("ci", role="view", until=end) == tokens.read()["ci"]
    after = tokens.read()["ci"]
    assert (after.sha256, after.role, after.until) == (before.sha256, "view", end)
    assert tokens.change("ci", until=None).until is None


def _later() -> int:
    return int(time.time() * 1000) + 60_000
