"""The tokens of a data folder: its owner's, and those with names. Needs no running server."""

import hashlib
import os
import re
import secrets
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from airboss.errors import Conflict, Invalid, NotFound, SettingsInvalid, StoreUnavailable, TooMuch
from airboss.model.audit_events import TokenFacts
from airboss.model.roles import Role
from airboss.store.folder import DataFolder, write_private
from airboss.store.token_changes import RecordedChange, TokenChanges, locked, recorded_change

VARIABLE = "AIRBOSS_TOKEN"
# Who came with the folder's own token, and who came to a server that asks for none.
OWNER = "owner"
LOCAL = "local"

_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]{0,39}$")
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH = 40
_SHORTEST = 16
_LONGEST = 512
# Each is tried at every request.
_MOST_NAMED = 200
_PAST = "This expiry is in the past. Choose one in the future."


class NamedToken(BaseModel):
    """What the disk knows of a token: enough to recognise it, not enough to use it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    created_at: int
    # Those that were made before there were roles could do everything.
    role: Role = "own"
    # Milliseconds; without it until it is removed.
    until: int | None = None


_FILE = TypeAdapter(dict[Annotated[str, Field(pattern=_NAME.pattern)], NamedToken])


def new_token() -> str:
    return "airboss_" + "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def take_token_from_environment(environ: MutableMapping[str, str]) -> str | None:
    """The token that was given, gone from the environment before anything could inherit it."""
    given = environ.pop(VARIABLE, None)
    token = given.strip() if given is not None else ""
    if not token:
        return None
    if not _SHORTEST <= len(token) <= _LONGEST:
        raise SettingsInvalid(
            f"{VARIABLE} has {len(token)} characters; a token has {_SHORTEST} to {_LONGEST}. "
            "Unset it to create one automatically, or use the output of `openssl rand -hex 24`."
        )
    if not all("!" <= letter <= "~" for letter in token):
        raise SettingsInvalid(
            f"{VARIABLE} has a character that is not allowed in an HTTP header. "
            "Use ASCII letters, digits and symbols, without spaces."
        )
    return token


def read_owner_token(folder: DataFolder) -> str | None:
    """The folder's own token, where a server has made it."""
    try:
        token = folder.token.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise StoreUnavailable(f"The token file {folder.token} cannot be read: {error}") from error
    if len(token) < _SHORTEST:
        raise SettingsInvalid(
            f"The token file {folder.token} contains no valid token. "
            "Delete it: the next start of the server creates a new one."
        )
    return token


def keep_owner_token(folder: DataFolder) -> str:
    """The folder's own token, made at the first start and readable by its owner only."""
    token = read_owner_token(folder)
    if token is None:
        token = new_token()
        keep_private(folder.token, token)
    _close_to_others(folder.token)
    return token


def keep_private(file: Path, text: str) -> None:
    try:
        write_private(file, text)
    except OSError as error:
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}.") from error


def _close_to_others(file: Path) -> None:
    # Windows has no such bits: there the user's own folder keeps others out.
    if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) != 0o600:
        file.chmod(0o600)


class TokenBook(ABC):
    """Tokens for other people and programs, so that one can be revoked without the rest."""

    folder: DataFolder

    @abstractmethod
    def read(self) -> dict[str, NamedToken]: ...

    @abstractmethod
    def _changing(self) -> AbstractContextManager[dict[str, NamedToken]]:
        """Whoever changes them is alone. What was done to them by the end is kept."""

    def add(self, name: str, role: Role = "operate", until: int | None = None) -> str:
        """A new token. This is the only time that anybody sees it."""
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"{name!r} is not a valid token name: use up to 40 of a-z, 0-9, - and _, "
                "beginning with a letter or a digit."
            )
        if name in (OWNER, LOCAL):
            raise Conflict(f"The name {name} is reserved.")
        token, now = new_token(), _now()
        if until is not None and until <= now:
            raise Invalid(_PAST)
        with self._changing() as tokens:
            if name in tokens:
                raise Conflict(f"A token named {name} already exists. Remove it first.")
            if len(tokens) >= _MOST_NAMED:
                raise TooMuch(
                    f"The limit of {_MOST_NAMED} named tokens is reached. Remove one first."
                )
            tokens[name] = NamedToken(sha256=digest(token), created_at=now, role=role, until=until)
        return token

    def change(self, name: str, **changes: "Role | int | None") -> NamedToken:
        """Another `role` or end (`until`, None for none) for a token that stays the same."""
        until = changes.get("until")
        if isinstance(until, int) and until <= _now():
            raise Invalid(_PAST)
        with self._changing() as tokens:
            # The owner of a server has no other role than that.
            if name not in tokens or not _NAME.fullmatch(name):
                raise NotFound("token named", name)
            tokens[name] = tokens[name].model_copy(update=changes)
            return tokens[name]

    def remove(self, name: str) -> None:
        """From now on neither the token nor what was signed in with it gets in."""
        if name == OWNER:
            raise Invalid(
                f"The owner's token is not listed here. To replace it, delete {self.folder.token} "
                f"(or change {VARIABLE}) and restart the server."
            )
        with self._changing() as tokens:
            if name not in tokens:
                raise NotFound("token named", name)
            del tokens[name]


@dataclass(frozen=True)
class NamedTokens(TokenBook):
    """In a file of the data folder, for its one server."""

    folder: DataFolder

    def read(self) -> dict[str, NamedToken]:
        file = self.folder.named_tokens
        try:
            return _FILE.validate_json(file.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be read: {error.strerror}.") from error
        except ValidationError as error:
            raise SettingsInvalid(
                f"{file} is damaged, so no named token works. Delete it and add the tokens again."
            ) from error

    @contextmanager
    def _changing(self) -> Generator[dict[str, NamedToken]]:
        self.folder.create()
        with locked(self.folder):
            tokens = self.read()
            before = dict(tokens)
            yield tokens
            keep_private(self.folder.named_tokens, _FILE.dump_json(tokens, indent=2).decode())
            # What a crash in between leaves out of the audit, the next start's list shows.
            TokenChanges(self.folder).add(*changes_between(before, tokens))


def changes_between(
    before: Mapping[str, NamedToken], after: Mapping[str, NamedToken]
) -> list[RecordedChange]:
    """For the audit."""
    found: list[RecordedChange] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        token = new or old
        if token is None or old == new:
            continue
        change = "changed" if old and new else "added" if new else "removed"
        found.append(
            recorded_change(change, TokenFacts(name=name, role=token.role, until=token.until))
        )
    return found


def _now() -> int:
    return int(time.time() * 1000)


def token_is_chosen(folder: DataFolder, given: str | None) -> bool:
    """Whether somebody decided who gets in, beyond the token that is made by itself."""
    return given is not None or bool(NamedTokens(folder).read())
