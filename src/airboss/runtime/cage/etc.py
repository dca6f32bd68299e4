"""The folder that a cage sees as /etc: made-up files, copies of a few small ones, and places for
the folders that are mounted there.

A file that is mounted by itself costs each start of a cage a fifth of a millisecond.
"""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

from airboss.runtime.cage.system import SystemFacts

ETC: Final = Path("/etc")


def furnish(etc: Path, system: SystemFacts, made_up: dict[str, str]) -> None:
    """Blocking. For all cages: what is there and has not changed stays, as others look at it."""
    for path in system.etc:
        place = etc / path.relative_to(ETC)
        if path in system.copied:
            _copy(path, place)
        elif not place.exists():
            _make_place(place, is_folder=path.is_dir())
    for name, text in made_up.items():
        if _content(etc / name) != text.encode():
            _put(etc / name, text.encode())


def _make_place(place: Path, *, is_folder: bool) -> None:
    """For a mount."""
    (place if is_folder else place.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        place.touch()


def _copy(path: Path, place: Path) -> None:
    # Removed since we looked, or not ours to read: then it is not there inside either.
    with contextlib.suppress(FileNotFoundError, PermissionError):
        now = path.stat()
        if _facts(place) != (now.st_size, now.st_mtime_ns):
            place.parent.mkdir(parents=True, exist_ok=True)
            _put(place, path.read_bytes(), now)


def _put(place: Path, content: bytes, original: os.stat_result | None = None) -> None:
    """Whole or not at all: a cage may be reading it."""
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    fresh.write_bytes(content)
    if original is not None:
        os.utime(fresh, ns=(original.st_atime_ns, original.st_mtime_ns))
    fresh.replace(place)


def _facts(place: Path) -> tuple[int, int] | None:
    try:
        known = place.stat()
    except FileNotFoundError:
        return None
    return known.st_size, known.st_mtime_ns


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None
