"""Which files the closed places of a cage are, so that nothing else comes into their place.

A mount is made by its path. While a cage is built, an agent in another one that works in the same
folder could put a link there; so the warden compares what was mounted with what was looked at here.
And a mount goes when somebody outside puts another file where it is, as `git config` does: what is
there then could be written from inside. So the watch looks whether the same files are still there.
"""

import contextlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.errors import CageUnavailable
from airboss.runtime.cage.walls import CageLayout, same

_HANDLE: Final = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC
_GONE: Final = "{path} was moved away, or became a link, while the cage was built. Try again."


@dataclass(frozen=True)
class Pin:
    """What has to be at `target` inside, by the numbers that the kernel knows it by."""

    target: Path
    device: int
    number: int


class Pins:
    """Of one life of a cage. Its files stay open, so that no other one gets their numbers."""

    def __init__(self, layout: CageLayout) -> None:
        self._open = contextlib.ExitStack()
        try:
            self.mounted = tuple(
                self._pinned(bind.source, bind.target)
                for bind in (
                    *map(same, (*layout.read, *layout.write, layout.cwd)),
                    *layout.code,
                    *layout.git,
                )
            )
            self._closed = tuple(self._pinned(path, path) for path in _closed_places(layout))
        except BaseException:
            self.close()
            raise

    def _pinned(self, source: Path, target: Path) -> Pin:
        try:
            handle = os.open(source, _HANDLE)
            self._open.callback(os.close, handle)
            found, where = os.fstat(handle), os.readlink(f"/proc/self/fd/{handle}")
        except FileNotFoundError:
            raise CageUnavailable(_GONE.format(path=source)) from None
        if stat.S_ISLNK(found.st_mode) or where != str(source):
            raise CageUnavailable(_GONE.format(path=source))
        return Pin(target, found.st_dev, found.st_ino)

    @property
    def has_changed(self) -> bool:
        """Blocking: a look at each. Whether a closed place is not what it was."""
        return not all(map(_is_there, self._closed))

    def close(self) -> None:
        self._open.close()


def _is_there(pin: Pin) -> bool:
    try:
        found = os.lstat(pin.target)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (pin.device, pin.number)


def _closed_places(layout: CageLayout) -> Iterable[Path]:
    """By their paths outside: all but what is mounted in a folder of the cage's own."""
    binds = (*layout.code, *layout.git)
    own = [bind.target for bind in binds if bind.source != bind.target]
    for bind in binds:
        if not any(place in bind.target.parents for place in own):
            yield bind.target
