"""Files that an agent may have made, read: it never waits, and never takes more than it says.

What stands in the place of a file may be a pipe, a device or a link to one. What is read is not
known here.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_NOT_FOLLOWED: Final = getattr(os, "O_NOFOLLOW", 0)
_CAREFULLY: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_PIECE: Final = 1 << 20


class NotAFile(OSError):
    """It is a folder, a pipe, a device, a socket."""


class FileTooLarge(OSError):
    """It has more than whoever reads it takes."""


def opened(path: str | Path, most: int, *, follows: bool = True) -> BinaryIO:
    """Without `follows`, a link in the place of the file is an error as well."""
    # Opening a pipe waits for its other end, unless one asks not to.
    descriptor = os.open(path, _CAREFULLY | (0 if follows else _NOT_FOLLOWED))
    said = os.fstat(descriptor)
    if not stat.S_ISREG(said.st_mode):
        os.close(descriptor)
        raise NotAFile(errno.EINVAL, "it is not a file", str(path))
    if said.st_size > most:
        os.close(descriptor)
        raise FileTooLarge(errno.EFBIG, "it is too large", str(path))
    return os.fdopen(descriptor, "rb")


def read(path: str | Path, most: int, *, follows: bool = True) -> bytes:
    with opened(path, most, follows=follows) as file:
        content = file.read(most + 1)
    if len(content) > most:  # it grew meanwhile, or its size says nothing
        raise FileTooLarge(errno.EFBIG, "it is too large", str(path))
    return content


def digest(path: str | Path, most: int) -> str:
    with opened(path, most) as file:
        said, left = hashlib.sha256(), most
        while piece := file.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                raise FileTooLarge(errno.EFBIG, "it is too large", str(path))
            said.update(piece)
    return said.hexdigest()


def copy(path: str | Path, target: Path, most: int) -> int:
    """With its times, and without following a link; how much that was."""
    with opened(path, most, follows=False) as file, target.open("xb") as written:
        said, copied = os.fstat(file.fileno()), 0
        while piece := file.read(_PIECE):
            copied += len(piece)
            if copied > most:
                raise FileTooLarge(errno.EFBIG, "it is too large", str(path))
            written.write(piece)
    os.utime(target, ns=(said.st_atime_ns, said.st_mtime_ns))
    return copied
