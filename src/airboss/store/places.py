"""Where runtimes and sessions put what only they should see: temporary files and long outputs.

    tmp/LIFE/            the temporary folder of one life of the runtime, and of what agents start
    tmp/LIFE.of/SESSION  who was on that life: when the last of them is deleted, so is the folder
    tmp/LIFE.of/.living  it runs
    outputs/SESSION/     outputs too long for the model, of an open session
    outputs/closed/SESSION/  the same while it is closed: the runtime deletes what it closes

All of it is for the server's user only. A session that is resumed finds what it left.
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import StoreUnavailable

_OF = ".of"
_LIVING = ".living"
_CLOSED = "closed"
# Of a life's name, its end: programs put sockets there, whose paths have 107 characters at most.
_NAME = 10
# Sessions are deleted and lives begin on threads, at the same time.
_ALONE = threading.RLock()


@dataclass(frozen=True)
class Places:
    """Those of one data folder."""

    folder: Path

    @property
    def _temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def _outputs(self) -> Path:
        return self.folder / "outputs"

    def outputs_of(self, session: str) -> Path:
        """Where the long outputs of an open session are."""
        return self._outputs / session

    def own(self, *names: str) -> tuple[Path, ...]:
        """What a session that the runtime knows by these names reads without asking, and no other
        does; as real paths."""
        outputs = Path(os.path.realpath(self._outputs))
        return tuple(outputs / name for name in names)

    def begin(self, life: str) -> Path:
        """The temporary folder of a life that begins now."""
        place = self._temporary / life[-_NAME:]
        with _ALONE, _words_for(place):
            for folder in (self._temporary, _of(place)):
                _private(folder)
            (_of(place) / _LIVING).touch(mode=0o600)
            _private(place)
        return place

    def join(self, life: str, session: str) -> Path:
        """A session is opened on this life: where its long outputs go, with what is there yet."""
        with _ALONE, _words_for(self.outputs_of(session)):
            of, outputs = _of(self._temporary / life[-_NAME:]), self.outputs_of(session)
            try:
                _join(of / session, outputs)
            except FileNotFoundError:
                for folder in (of, self._outputs):
                    _private(folder)
                _join(of / session, outputs)
            _move(self._outputs / _CLOSED / session, outputs)
        return outputs

    def put_aside(self, session: str) -> None:
        """Before the runtime closes a session and deletes its outputs."""
        outputs = self.outputs_of(session)
        with contextlib.suppress(OSError):
            outputs.rmdir()  # there are none
            return
        if not outputs.exists():
            return
        _private(self._outputs / _CLOSED)
        _move(outputs, self._outputs / _CLOSED / session)

    def end(self, life: str) -> None:
        """The life is over; what its sessions left stays as long as they do."""
        (_of(self._temporary / life[-_NAME:]) / _LIVING).unlink(missing_ok=True)
        self._clear()

    def start(self) -> None:
        """A server starts: no life of an earlier one goes on."""
        for of in self._temporary.glob(f"*{_OF}"):
            (of / _LIVING).unlink(missing_ok=True)
        self._clear()

    def forget(self, session: str) -> None:
        """The session is deleted, and all that is only its own."""
        for outputs in (self.outputs_of(session), self._outputs / _CLOSED / session):
            remove(outputs)
        for of in self._temporary.glob(f"*{_OF}"):
            (of / session).unlink(missing_ok=True)
        self._clear()

    def _clear(self) -> None:
        """Delete the temporary folders that nobody uses and no session could come back to."""
        with _ALONE:
            for of in self._temporary.glob(f"*{_OF}"):
                if not any(of.iterdir()):
                    remove(of.with_name(of.name.removesuffix(_OF)))
                    remove(of)


@contextlib.contextmanager
def _words_for(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"The folder {place} cannot be made: {error.strerror or error}. "
            "Free some space, or fix the permissions of the data folder."
        ) from error


def _of(place: Path) -> Path:
    return place.with_name(place.name + _OF)


def _join(note: Path, outputs: Path) -> None:
    """Every session that is opened waits for this: the folders above it are there but for the
    first one."""
    os.close(os.open(note, os.O_WRONLY | os.O_CREAT, 0o600))
    with contextlib.suppress(FileExistsError):
        os.mkdir(outputs, 0o700)
    os.chmod(outputs, 0o700)


def _private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def _move(source: Path, target: Path) -> None:
    """All that is in one folder into the other; where that is not there, at once."""
    with contextlib.suppress(FileNotFoundError):
        if not target.exists():
            source.rename(target)
            return
        for file in source.iterdir():
            if not (target / file.name).exists():
                file.rename(target / file.name)
        remove(source)


def remove(place: Path) -> None:
    """A folder with all that is in it; one that is not there is removed already."""
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreUnavailable(
            f"The files in {place} cannot be deleted: {error.strerror or error}. "
            "Fix the permissions of the data folder, then try again."
        ) from error
