"""Secrets that people put in: in the system's keyring where there is one, else in files of the data
folder that only its user can read. They are of this machine, and in no database and no settings.

    secrets/NAME          the secret itself, where there is no keyring
    secrets/NAME.keyring  empty: the keyring has it, which does not tell what it has
"""

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from airboss.errors import Invalid, NotFound, StoreUnavailable
from airboss.setting_words import KEPT_NAME
from airboss.store.folder import write_private

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_log = logging.getLogger(__name__)

SecretPlace: TypeAlias = Literal["keyring", "file"]

_MARK: Final = ".keyring"
_NAME: Final = re.compile(KEPT_NAME)
# A shorter one could not be taken out of texts: it would be found inside ordinary words.
_SHORTEST: Final = 8
# As much as every system's keyring takes.
_LONGEST: Final = 2048
_VALUE: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class KeptSecret:
    """What may be told of one: not what it is."""

    name: str
    place: SecretPlace
    at: int


@dataclass
class KeptSecrets:
    """Those of one data folder. All but `value` and `all` wait for the disk or the keyring, so that
    a server calls them in a thread. `owner` names the folder to the keyring."""

    folder: Path
    owner: str
    # Why one that is in the list cannot be had, by its name.
    problems: dict[str, str] = field(default_factory=dict[str, str])
    _values: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    _known: dict[str, KeptSecret] = field(default_factory=dict[str, KeptSecret])

    def value(self, name: str) -> str | None:
        """The secret of this name, as it is now. Nothing where there is none."""
        return self._values.get(name)

    def values(self) -> tuple[str, ...]:
        return tuple(self._values.values())

    def all(self) -> tuple[KeptSecret, ...]:
        return tuple(self._known[name] for name in sorted(self._known))

    def has(self, name: str) -> bool:
        """Whether the folder says so; nothing is read of it."""
        return any(one.name == name for one in self._listed())

    def load(self) -> None:
        """What the folder and the keyring have. One that cannot be had keeps nobody from the
        others."""
        self._known = {one.name: one for one in self._listed()}
        self._values, self.problems = {}, {}
        for one in self._known.values():
            try:
                self._values[one.name] = self._read(one)
            except (OSError, UnicodeDecodeError, StoreUnavailable) as error:
                self.problems[one.name] = f"The secret {one.name} cannot be read: {error}."
                _log.warning("The secret %s cannot be read: %s.", one.name, error)

    def keep(self, name: str, value: str, longest: int = _LONGEST) -> KeptSecret:
        """Instead of what it was. It is there for good when this returns. One that a keyring does
        not take, as it is too long, goes into a file."""
        check_name(name)
        value = checked_value(value, longest)
        self._make_folder()
        place: SecretPlace = "keyring" if self._into_keyring(name, value) else "file"
        file, mark = self.folder / name, self.folder / f"{name}{_MARK}"
        if place == "file":
            write_private(file, value)
            mark.unlink(missing_ok=True)
        else:
            write_private(mark, "")
            file.unlink(missing_ok=True)
        kept = KeptSecret(name, place, _changed(file if place == "file" else mark))
        self._known[name], self._values[name] = kept, value
        self.problems.pop(name, None)
        return kept

    def remove(self, name: str) -> KeptSecret:
        kept = self._known.get(name)
        if kept is None:
            raise NotFound("secret", name)
        if kept.place == "keyring":
            self._out_of_keyring(name)
        try:
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / f"{name}{_MARK}").unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"The secret {name} cannot be removed from {self.folder}: {error.strerror}."
            ) from error
        del self._known[name]
        self._values.pop(name, None)
        self.problems.pop(name, None)
        return kept

    def place_of_new(self) -> SecretPlace:
        """Where the next one goes."""
        return "keyring" if _keyring() else "file"

    def _listed(self) -> list[KeptSecret]:
        try:
            files = sorted(self.folder.iterdir())
        except OSError:
            return []
        found: list[KeptSecret] = []
        for file in files:
            name = file.name.removesuffix(_MARK)
            if _NAME.fullmatch(name) and file.is_file():
                place: SecretPlace = "file" if name == file.name else "keyring"
                found.append(KeptSecret(name, place, _changed(file)))
        return found

    def _read(self, one: KeptSecret) -> str:
        if one.place == "file":
            found = (self.folder / one.name).read_text(encoding="utf-8").strip()
        else:
            found = self._from_keyring(one.name)
        if not found:
            raise StoreUnavailable("it is not there any more")
        return found

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
        except OSError as error:
            raise StoreUnavailable(
                f"The folder {self.folder} cannot be made: {error.strerror or error}. "
                "Free some space, or fix the permissions of the data folder."
            ) from error

    @property
    def _service(self) -> str:
        return f"airboss {self.owner}"

    def _into_keyring(self, name: str, value: str) -> bool:
        """Whether it is there, and can be had from there: some keyrings only seem to work."""
        keyring = _keyring()
        if keyring is None:
            return False
        try:
            keyring.set_password(self._service, name, value)  # pyright: ignore[reportUnknownMemberType]
            return keyring.get_password(self._service, name) == value
        except Exception as error:  # noqa: BLE001 - each system's keyring has errors of its own
            _log.warning("The keyring did not take a secret (%s): a file has it.", type(error))
            return False

    def _from_keyring(self, name: str) -> str | None:
        keyring = _keyring()
        if keyring is None:
            raise StoreUnavailable("this system's keyring is not available")
        try:
            return keyring.get_password(self._service, name)
        except Exception as error:
            # What it says may be anything; its kind is enough.
            raise StoreUnavailable(f"the keyring refused it ({type(error).__name__})") from error

    def _out_of_keyring(self, name: str) -> None:
        keyring = _keyring()
        try:
            if keyring is not None:
                keyring.delete_password(self._service, name)
        except Exception as error:  # noqa: BLE001 - it may be gone; the others are not to stay
            _log.warning("The keyring did not remove %s: %s.", name, type(error).__name__)


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(
            "The name of a secret has letters, digits, - and _ only, begins with a letter or a "
            "digit, and has at most 100 characters."
        )


def checked_value(value: str, longest: int = _LONGEST) -> str:
    """Without the end of a line, which files of keys often have. It is never repeated."""
    value = value.strip()
    if not value:
        raise Invalid("The secret is empty.")
    if not _VALUE.fullmatch(value):
        raise Invalid(
            "The secret has spaces, line breaks or characters that cannot be sent. "
            "Copy the key or token again, without anything around it."
        )
    if not _SHORTEST <= len(value) <= longest:
        raise Invalid(
            f"The secret has {len(value)} characters. It must have {_SHORTEST} to {longest}: a "
            "shorter one cannot be removed from logs. If the server needs no key, give none."
        )
    return value


def _keyring() -> "KeyringBackend | None":
    """The system's, where there is one. Looked for when a secret is put in or read: the programs
    that need none start without it."""
    import keyring
    from keyring.backends import fail, null

    found = keyring.get_keyring()
    return None if isinstance(found, fail.Keyring | null.Keyring) else found


def _changed(file: Path) -> int:
    return int(file.stat().st_mtime * 1000)
