"""What a profile of a cage may not hand in: the home, what Airboss keeps, sockets, secrets."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile
from airboss.runtime.environment import is_secret_name

# Made anew inside, or not there at all.
_SYSTEM: Final = tuple(map(Path, ("/proc", "/sys", "/dev", "/run", "/var/run")))
# Folders in it are like those on a disk.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - nothing is made there


def expanded(path: str, home: Path) -> Path:
    """As a real path, so that no link leads around a rule."""
    named = home / path[2:] if path.startswith("~/") else home if path == "~" else Path(path)
    return Path(os.path.realpath(named))


def folder_refusal(path: Path, home: Path, data: Path) -> str | None:
    """Why this folder cannot be handed in; none where it can. All of them are real paths."""
    if path == Path("/"):
        return "it is the whole system"
    if _contains(path, home):
        return "it is the home folder" if path == home else "the home folder is in it"
    if _contains(path, data):
        return "it is Airboss's data folder" if path == data else "Airboss's data folder is in it"
    if _contains(data, path):
        return "it is in Airboss's data folder"
    for place in () if _MEMORY in path.parents else _SYSTEM:
        if _contains(place, path) or _contains(path, place):
            return f"a cage has a {place} of its own, or none"
    return "it is a socket" if _is_socket(path) else None


def refusals(terms: CageProfile, home: Path, data: Path) -> tuple[str, ...]:
    """All that is wrong with a profile, in words; none where it holds."""
    home, data = (Path(os.path.realpath(place)) for place in (home, data))
    return (
        *_of_folders("read", terms.read, home, data),
        *_of_folders("write", terms.write, home, data),
        *(
            f"variables: {name} is refused: by its name it is a secret, and every command in the "
            "cage could read it."
            for name in terms.variables
            if is_secret_name(name)
        ),
    )


def _of_folders(key: str, paths: Iterable[str], home: Path, data: Path) -> Iterable[str]:
    for path in paths:
        if not path.startswith(("/", "~/")) and path != "~":
            yield f"{key}: {path} is refused: write the whole path, from / or ~/."
        elif why := folder_refusal(expanded(path, home), home, data):
            yield f"{key}: {path} is refused: {why}."


def _contains(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
