"""Secrets that are kept: in the keyring where there is one, else in files of their own."""

import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked

from airboss.account_settings import Account
from airboss.errors import Invalid, NotFound
from airboss.store.kept_secrets import KeptSecrets, check_name

KEY = "sk-lab-0123456789"


class MemoryKeyring(KeyringBackend):
    """A keyring as a program brings its own."""

    priority = 9  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise KeyringLocked(KEY)
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.is_locked:
            raise KeyringLocked(password)
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


def secrets_in(folder: Path) -> KeptSecrets:
    found = KeptSecrets(folder / "secrets", "own_1")
    found.load()
    return found


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
def test_without_a_keyring_files_of_the_user_alone_have_them(
    tmp_path: Path, backend: type[KeyringBackend]
) -> None:
    keyring.set_keyring(backend())
    secrets = secrets_in(tmp_path)
    assert secrets.keep("lab", f"{KEY}\n").place == "file"
    file = tmp_path / "secrets/lab"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again = secrets_in(tmp_path)
    assert again.value("lab") == KEY
    assert KEY not in repr(again)
    again.keep("lab", f"{KEY}-2")
    assert [one.name for one in again.all()] == ["lab"]
    assert secrets_in(tmp_path).value("lab") == f"{KEY}-2"
    again.remove("lab")
    assert (list(file.parent.iterdir()), again.value("lab")) == ([], None)
    with pytest.raises(NotFound):
        again.remove("lab")


def test_a_keyring_has_them_and_no_file_does(tmp_path: Path) -> None:
    keyring.set_keyring(fail.Keyring())
    secrets_in(tmp_path).keep("lab", KEY)
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    secrets = secrets_in(tmp_path)
    assert secrets.keep("lab", KEY).place == "keyring"
    assert memory.kept == {("airboss own_1", "lab"): KEY}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert [file.read_bytes() for file in files] == [b""]
    assert secrets_in(tmp_path).value("lab") == KEY
    assert KeptSecrets(tmp_path / "other", "own_2").value("lab") is None
    secrets.remove("lab")
    assert (memory.kept, secrets_in(tmp_path).all()) == ({}, ())


def test_a_locked_keyring_is_told_and_never_what_it_says(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    secrets_in(tmp_path).keep("lab", KEY)
    memory.is_locked = True
    secrets = secrets_in(tmp_path)
    assert secrets.value("lab") is None
    assert "the keyring refused it (KeyringLocked)" in secrets.problems["lab"]
    assert secrets.keep("lab", f"{KEY}-2").place == "file"
    assert secrets.problems == {}
    assert secrets_in(tmp_path).value("lab") == f"{KEY}-2"
    assert KEY not in caplog.text


def test_what_is_no_secret_is_refused_and_not_repeated(tmp_path: Path) -> None:
    keyring.set_keyring(fail.Keyring())
    secrets = secrets_in(tmp_path)
    for value in ("", " \n", "tiny-7c", "two words of it", "ключ-для-лабы", "x" * 3000):
        with pytest.raises(Invalid) as refused:
            secrets.keep("lab", value)
        assert not value.strip() or value not in str(refused.value)
    for name in ("", "../token", "a.b", ".lab", "x" * 101, "a/b"):
        with pytest.raises(Invalid):
            secrets.keep(name, KEY)
    assert not (tmp_path / "secrets").exists()


def test_whatever_settings_may_name_can_be_kept(tmp_path: Path) -> None:
    keyring.set_keyring(null.Keyring())
    secrets, name = secrets_in(tmp_path), "a" * 100
    for named in (Account(name="a", token_kept=name).token_kept, f"account-{'b' * 64}"):
        assert named is not None
        secrets.keep(named, KEY)
        assert secrets.value(named) == KEY
    for wrong in (f"{name}a", "a.b"):
        with pytest.raises(ValueError, match="token_kept"):
            Account(name="a", token_kept=wrong)
        with pytest.raises(Invalid, match="at most 100 characters"):
            check_name(wrong)
