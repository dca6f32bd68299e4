"""Deltas where they survive our death before anybody sees them: two areas of shared memory, each a
file, filled by turns and each emptied when the database has what is in it.

A process that is killed leaves its pages to the kernel. Storing into them costs a microsecond and
waits for no disk; a write into a file waits, now and then for a tenth of a second, while another
file is synchronised. What it does not survive is a loss of power: that takes the last batch.
"""

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import StoreUnavailable

# A quarter of a second of ten thousand deltas each second: a flush takes a tenth of that. What
# finds no room is shown when the database has it. All of it counts as our memory.
AREA_BYTES = 512 * 1024

_HEADER = struct.Struct("<II")  # how long the note is, and its checksum
_NOTHING = bytes(_HEADER.size)


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
        self._areas: list[mmap.mmap] = []
        self._filled = [0, 0]
        self._current = 0

    def _paths(self) -> tuple[Path, Path]:
        return self._folder / "a", self._folder / "b"

    def open(self) -> list[Note]:
        """What an earlier server left here. It stays until `start` is called."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            notes = [note for path in self._paths() if path.exists() for note in _read(path)]
        except OSError as error:
            raise self._unusable(error) from error
        return sorted(notes, key=lambda note: (note.stream, note.seq))

    def start(self) -> None:
        try:
            for path in self._paths():
                self._areas.append(_area(path))
        except OSError as error:
            self.close()
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(
            f"The folder {self._folder} cannot be used: {error.strerror}. "
            "Free some space, fix its permissions, or choose another data folder with --data."
        )

    def add(self, stream: str, seq: int, at: int, body: str) -> bool:
        """Whether there was room for it."""
        line = f"[{json.dumps(stream)},{seq},{at},{body}]".encode()
        area, begin = self._areas[self._current], self._filled[self._current]
        text, end = begin + _HEADER.size, begin + _HEADER.size + len(line)
        if end + _HEADER.size > len(area):
            return False
        area[text:end] = line
        area[end : end + _HEADER.size] = _NOTHING
        # Last of all, so that a note is there as a whole or not at all whenever we are killed.
        area[begin:text] = _HEADER.pack(len(line), zlib.crc32(line))
        self._filled[self._current] = end
        return True

    def turn(self) -> int:
        """Begin to fill the other area; answers which one a flush may empty."""
        full = self._current
        self._current = 1 - full
        return full

    def empty(self, which: int) -> None:
        """All that stands there is in the database."""
        self._areas[which][: _HEADER.size] = _NOTHING
        self._filled[which] = 0

    def close(self) -> None:
        for area in self._areas:
            area.close()
        self._areas = []


def _area(path: Path) -> mmap.mmap:
    """Written once from end to end: storing into a page that a full disk refuses would kill us."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        if os.fstat(descriptor).st_size != AREA_BYTES:
            os.ftruncate(descriptor, 0)
            missing = AREA_BYTES
            while missing:
                missing -= os.write(descriptor, bytes(missing))
        area = mmap.mmap(descriptor, AREA_BYTES)
    finally:
        os.close(descriptor)
    area[: _HEADER.size] = _NOTHING
    return area


def _read(path: Path) -> Iterator[Note]:
    content, begin = path.read_bytes(), 0
    while begin + _HEADER.size <= len(content):
        length, checksum = _HEADER.unpack_from(content, begin)
        begin += _HEADER.size
        line = content[begin : begin + length]
        if not length or zlib.crc32(line) != checksum:
            return  # the end, or what a loss of power left
        begin += length
        stream, seq, at, body = json.loads(line)
        yield Note(str(stream), int(seq), int(at), _compact(body))


def _compact(body: object) -> str:
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)
