"""What a profile of a cage may not hand in: the home, what Airboss keeps, sockets, secrets."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.own_code import refusal_to_write
from airboss.runtime.environment import is_secret_name

# Made anew inside, or not there at all.
_SYSTEM: Final = tuple(map(Path, ("/proc", "/sys", "/dev", "/run", "/var/run")))
# Folders in it are like those on a disk.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - nothing is made there


def expanded(path: str, home: Path) -> Path:
    """As a real path, so that no link leads around a rule."""
    return Path(os.path.realpath(_named(path, home)))


def _named(path: str, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else home if path == "~" else Path(path)


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


def links(terms: CageProfile, home: Path) -> tuple[str, ...]:
    """The folders of a profile that are no real paths any more: an agent that may write around
    them could have put a link in their place."""
    return tuple(
        f"{key}: {path} is refused: it became a link, to {found}."
        for key, paths in (("read", terms.read), ("write", terms.write))
        for path in paths
        if str(found := expanded(path, home)) != os.path.normpath(_named(path, home))
    )


def refusals(
    terms: CageProfile, home: Path, data: Path, code: tuple[Path, ...] = ()
) -> tuple[str, ...]:
    """All that is wrong with a profile, in words; none where it holds. `code` is where Airboss
    itself lies, which nobody writes."""
    home, data = (Path(os.path.realpath(place)) for place in (home, data))
    return (
        *_of_folders("read", terms.read, home, data),
        *_of_folders("write", terms.write, home, data, code),
        *(
            f"variables: {name} is refused: by its name it is a secret, and every command in the "
            "cage could read it."
            for name in terms.variables
            if is_secret_name(name)
        ),
    )


def _of_folders(
    key: str, paths: Iterable[str], home: Path, data: Path, code: tuple[Path, ...] = ()
) -> Iterable[str]:
    for path in paths:
        if not path.startswith(("/", "~/")) and path != "~":
            yield f"{key}: {path} is refused: write the whole path, from / or ~/."
        elif why := _refusal(expanded(path, home), home, data, code):
            yield f"{key}: {path} is refused: {why}."


def _refusal(path: Path, home: Path, data: Path, code: tuple[Path, ...]) -> str | None:
    return folder_refusal(path, home, data) or refusal_to_write(path, code)


def _contains(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
