"""The data folder: who has it, which server runs on it, and what lies where."""

import contextlib
import json
import os
import secrets
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from airboss.errors import DataFolderTaken, StoreUnavailable

# Somebody who only looks whether the folder is held has its lock for less than this.
_LOOKING_SECONDS = 0.3
# For files that are the owner's alone. Whoever may read a lock's file may take the lock, too.
PRIVATE = 0o600


@dataclass(frozen=True)
class ServerNote:
    """What a running server tells the command line about itself."""

    pid: int
    url: str
    started_at: int


@dataclass(frozen=True)
class DataFolder:
    """Paths inside the folder, and the few small files that are not in the database."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "airboss.sqlite"

    @property
    def journal(self) -> Path:
        return self.path / "deltas"

    @property
    def copilot_home(self) -> Path:
        return self.path / "copilot-home"

    @property
    def homes(self) -> Path:
        """Of identities other than the default one."""
        return self.path / "homes"

    def home_of(self, identity: str) -> Path:
        return self.homes / identity / "copilot"

    def all_homes(self) -> list[Path]:
        found = sorted(self.homes.iterdir()) if self.homes.is_dir() else []
        return [self.copilot_home, *(place / "copilot" for place in found)]

    @property
    def runtime_notes(self) -> Path:
        """Where it is written down which processes run."""
        return self.path / "runtimes"

    @property
    def images(self) -> Path:
        return self.path / "images"

    @property
    def extensions(self) -> Path:
        """Copies of those that somebody trusts: what runs."""
        return self.path / "extensions"

    @property
    def token(self) -> Path:
        return self.path / "token"

    @property
    def named_tokens(self) -> Path:
        return self.path / "tokens.json"

    @property
    def token_changes(self) -> Path:
        return self.path / "token-changes.jsonl"

    @property
    def secrets(self) -> Path:
        return self.path / "secrets"

    @property
    def settings(self) -> Path:
        return self.path / "settings.toml"

    @property
    def server_note(self) -> Path:
        return self.path / "server.json"

    @property
    def _lock(self) -> Path:
        return self.path / "lock"

    def create(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.copilot_home.mkdir(mode=0o700, exist_ok=True)
            probe = self.path / f".writable-{os.getpid()}"
            try:
                probe.write_bytes(b"x")
            finally:
                probe.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def owner_id(self) -> str:
        """A name for this folder that its agents' processes carry, made once."""
        file = self.path / "id"
        try:
            known = file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            known = ""
        if not known:
            known = f"own_{secrets.token_hex(12)}"
            write_private(file, known)
        return known

    def note(self) -> ServerNote | None:
        """The server that runs on this folder, if it still does."""
        try:
            said = json.loads(self.server_note.read_text(encoding="utf-8"))
            note = ServerNote(int(said["pid"]), str(said["url"]), int(said["started_at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return note if self.is_locked() else None

    def is_locked(self) -> bool:
        """Whether a living process has this folder. Looking takes the lock for a moment."""
        if not self._lock.exists():
            return False
        lock = FileLock(self._lock, mode=PRIVATE)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False
        lock.release()
        return False

    @contextlib.contextmanager
    def kept_still(self) -> Generator[None]:
        """No server starts on it meanwhile. Nothing in it is made or changed but the lock."""
        lock = FileLock(self._lock, mode=PRIVATE)
        try:
            lock.acquire(timeout=_LOOKING_SECONDS, poll_interval=0.02)
        except Timeout:
            raise DataFolderTaken(self._taken()) from None
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            yield
        finally:
            lock.release()

    def hold(self) -> "HeldFolder":
        """Take the folder for this process, or say who has it."""
        self.create()
        lock = FileLock(self._lock, mode=PRIVATE)
        try:
            lock.acquire(timeout=_LOOKING_SECONDS, poll_interval=0.02)
        except Timeout:
            raise DataFolderTaken(self._taken()) from None
        except OSError as error:
            raise self._unwritable(error) from error
        # An earlier holder that died left its note; until we announce ourselves nobody is named.
        self.server_note.unlink(missing_ok=True)
        return HeldFolder(self, lock)

    def _unwritable(self, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(
            f"The data folder {self.path} cannot be written: {error.strerror or error}. "
            "Free some space, fix its permissions, or choose another with --data."
        )

    def _taken(self) -> str:
        note = self.note()
        who = f"the server with process id {note.pid} at {note.url}" if note else "another process"
        return (
            f"The data folder {self.path} is in use by {who}. "
            "Stop that server first, or use another folder with --data."
        )


@dataclass(frozen=True)
class HeldFolder:
    """A data folder that this process has, until it releases it or dies."""

    folder: DataFolder
    lock: FileLock

    def announce(self, note: ServerNote) -> None:
        text = json.dumps({"pid": note.pid, "url": note.url, "started_at": note.started_at})
        write_private(self.folder.server_note, text)

    def release(self) -> None:
        self.folder.server_note.unlink(missing_ok=True)
        self.lock.release()


def write_private(file: Path, text: str) -> None:
    """Whole or not at all, and readable by its owner only from the first byte on."""
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise StoreUnavailable(
            f"The file {file} cannot be written: {error.strerror}. "
            "Free some space, fix the folder's permissions, or choose another with --data."
        ) from error
