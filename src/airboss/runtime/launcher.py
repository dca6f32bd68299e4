"""The runtime's program as a copy that can be run but not read.

What cannot be read, the kernel does not let be dumped: a session's token in the runtime's memory,
and the pipes by which it speaks to us, are closed to the shells that it starts.
"""

import contextlib
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from airboss.runtime.locate import Located

_MODE = 0o111
_NEW = ".new-"
_PREBUILDS = "prebuilds"
_LIBRARY = "runtime.node"
_ELF = b"\x7fELF"
# Several runtimes may be started at the same time, and one makes the copy for all.
_MAKING = threading.Lock()

_log = logging.getLogger(__name__)


def unreadable(located: Located, folder: Path) -> Path:
    """The program to run: a copy below `folder`, made when it is first needed. What the runtime
    finds around itself is linked. Where there can be no copy, the program itself."""
    if sys.platform != "linux":
        return located.path
    try:
        if not _is_program(located.path):  # a script's interpreter has to read it
            return located.path
        with _MAKING:
            copy = _copy_of(located, folder)
    except OSError as error:
        _log.warning(
            "The agent runtime cannot be copied into %s (%s): agents can read its memory.",
            folder,
            error.strerror or error,
        )
        return located.path
    if not os.access(copy, os.X_OK):  # a file system that runs nothing
        _log.warning("Nothing can be run in %s: agents can read the runtime's memory.", folder)
        return located.path
    return copy


def _is_program(path: Path) -> bool:
    if not os.access(path, os.R_OK):
        return False  # it is unreadable already
    with path.open("rb") as program:
        return program.read(len(_ELF)) == _ELF


def _copy_of(located: Located, folder: Path) -> Path:
    original = located.path.resolve()
    top = _top_of(original) if located.native else original.parent
    place = folder / _key(original)
    copy = place / original.relative_to(top)
    if _is_whole(copy, original):
        return copy
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Path(tempfile.mkdtemp(prefix=_NEW, dir=folder))
    try:
        _fill(made, original, top)
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(FileExistsError):  # somebody else was faster
            made.rename(place)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    for other in folder.iterdir():
        if other != place:
            shutil.rmtree(other, ignore_errors=True)
    return copy


def _top_of(original: Path) -> Path:
    """Where the folder with the runtime's files begins: they lie around `prebuilds`."""
    is_packed = original.parent.parent.name == _PREBUILDS
    return original.parents[2] if is_packed else original.parent


def _key(original: Path) -> str:
    """Another for every other file, also where only its content was replaced."""
    about = original.stat()
    said = f"{original}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ctime_ns}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _is_whole(copy: Path, original: Path) -> bool:
    try:
        about = copy.stat()
    except OSError:
        return False
    return about.st_mode & 0o777 == _MODE and about.st_size == original.stat().st_size


def _fill(place: Path, original: Path, top: Path) -> None:
    inside = place / original.relative_to(top).parent
    inside.mkdir(parents=True, exist_ok=True)
    if top != original.parent:
        for other in top.iterdir():
            if other.name != _PREBUILDS:
                (place / other.name).symlink_to(other)
    for other in original.parent.iterdir():
        if other.suffix == Path(_LIBRARY).suffix:
            (inside / other.name).symlink_to(other)
    copy = inside / original.name
    shutil.copyfile(original, copy)
    copy.chmod(_MODE)
