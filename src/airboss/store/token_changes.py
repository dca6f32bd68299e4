"""What was done to the tokens since a server last read it. They are changed without one."""

import getpass
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from airboss.errors import Conflict, StoreUnavailable
from airboss.model.audit_events import TokenFacts
from airboss.store.folder import PRIVATE, DataFolder, write_private

_LOCK_SECONDS = 10.0

Change: TypeAlias = Literal["added", "removed", "changed"]


class RecordedChange(BaseModel):
    """One change, by the user of the machine who made it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    at: int
    user: str
    change: Change
    token: TokenFacts


def recorded_change(change: Change, token: TokenFacts) -> RecordedChange:
    """Made now, by the user of this process."""
    return RecordedChange(
        id=secrets.token_hex(8),
        at=int(time.time() * 1000),
        user=_user(),
        change=change,
        token=token,
    )


class ChangesToTell(Protocol):
    """What a server takes for its audit log."""

    def read_whole(self) -> list[RecordedChange]: ...
    def forget(self, last: str) -> None: ...


@contextmanager
def locked(folder: DataFolder) -> Generator[None]:
    """Whoever changes the tokens, or what is told of that, is alone."""
    lock = FileLock(folder.path / "tokens.lock", mode=PRIVATE)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout:
        raise Conflict("Another process is changing the tokens. Try again.") from None
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class TokenChanges:
    """A line for each. Whoever adds or forgets one holds the lock of the tokens."""

    folder: DataFolder

    def add(self, *said: RecordedChange) -> None:
        if said:
            self._write([*self.read(), *said])

    def read(self) -> list[RecordedChange]:
        file = self.folder.token_changes
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be read: {error.strerror}.") from error
        return [said for line in lines if (said := _parsed(line))]

    def read_whole(self) -> list[RecordedChange]:
        """Behind a change that is being made: its line comes after the tokens themselves."""
        with locked(self.folder):
            return self.read()

    def forget(self, last: str) -> None:
        """All up to this one. What came meanwhile stays."""
        with locked(self.folder):
            known = self.read()
            ids = [said.id for said in known]
            if last in ids:
                self._write(known[ids.index(last) + 1 :])

    def _write(self, said: list[RecordedChange]) -> None:
        file = self.folder.token_changes
        text = "".join(f"{one.model_dump_json()}\n" for one in said)
        try:
            write_private(file, text)
        except OSError as error:
            raise StoreUnavailable(f"{file} cannot be written: {error.strerror}.") from error


def _parsed(line: str) -> RecordedChange | None:
    try:
        return RecordedChange.model_validate_json(line)
    except ValidationError:
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id that has no name
        return "somebody"
