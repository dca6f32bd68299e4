"""`airboss doctor --repair`: what it mends are files of Airboss, and nothing of anybody else."""

import contextlib
import os
import stat
from collections.abc import Iterator

from airboss.store.folder import DataFolder

_FOLDER = 0o700
_FILE = 0o600


def make_private(folder: DataFolder) -> Iterator[str]:
    """The data folder and its token are for their owner alone. A line for each that was not."""
    if os.name != "posix":
        return
    for path, wanted in ((folder.path, _FOLDER), (folder.token, _FILE)):
        with contextlib.suppress(OSError):  # not there, or somebody else's: the checks tell
            mode = stat.S_IMODE(path.lstat().st_mode)
            if mode & 0o077 and not path.is_symlink():
                path.chmod(wanted)
                yield f"Repaired: {path} was {mode:04o}, and is {wanted:04o} now."
