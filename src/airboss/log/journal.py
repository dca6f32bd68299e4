"""Deltas on disk before anybody sees them: two files, written by turns, each emptied by a flush.

A write into a file survives the death of our process, and costs microseconds where a transaction
costs milliseconds. What it does not survive is a loss of power: that takes the last batch.
"""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import StoreUnavailable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Note:
    """One delta as the journal has it."""

    stream: str
    seq: int
    at: int
    body: str


class Journal:
    """The deltas that were shown and that the database does not have yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[int] = []
        self._current = 0
        self._used = [False, False]
        self._torn = False

    def _paths(self) -> tuple[Path, Path]:
        return self._folder / "a.jsonl", self._folder / "b.jsonl"

    def open(self) -> list[Note]:
        """What an earlier server left here. It stays until `start` is called."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            notes = [note for path in self._paths() if path.exists() for note in _read(path)]
        except OSError as error:
            raise self._unusable(error) from error
        return sorted(notes, key=lambda note: (note.stream, note.seq))

    def start(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        try:
            for path in self._paths():
                self._files.append(os.open(path, flags, 0o600))
        except OSError as error:
            self.close()
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(
            f"The folder {self._folder} cannot be used: {error.strerror}. "
            "Free some space, mend its rights, or choose another data folder with --data."
        )

    def add(self, stream: str, seq: int, at: int, body: str) -> bool:
        """Whether the delta is noted; it is not where the disk is full.

        The one file operation on the event loop, on purpose: it copies some hundred bytes into
        the page cache and waits for no disk, while a thread would cost ten times its time.
        """
        line = f"[{json.dumps(stream)},{seq},{at},{body}]\n".encode()
        if self._torn:
            line = b"\n" + line  # what a full disk cut off must not spoil the next
        try:
            written = os.write(self._files[self._current], line)
        except OSError:
            return False
        self._used[self._current] = True
        self._torn = written != len(line)
        return not self._torn

    def turn(self) -> int:
        """Begin to write into the other file; answers which one a flush may empty."""
        full = self._current
        self._current = 1 - full
        self._torn = True  # of the file that is begun nobody knows how its last line ended
        return full

    def empty(self, which: int) -> None:
        """All that stands there is in the database: called by the thread that wrote it."""
        if self._used[which]:
            try:
                os.ftruncate(self._files[which], 0)
            except OSError:
                _log.exception("The journal %s cannot be emptied", self._paths()[which])
                return
            self._used[which] = False

    def close(self) -> None:
        for descriptor in self._files:
            os.close(descriptor)
        self._files = []


def _read(path: Path) -> Iterator[Note]:
    for line in path.read_bytes().split(b"\n"):
        try:
            stream, seq, at, body = json.loads(line)
            note = Note(str(stream), int(seq), int(at), _compact(body))
        except (ValueError, TypeError):
            continue  # the last line of a process that died while it wrote
        yield note


def _compact(body: object) -> str:
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)
