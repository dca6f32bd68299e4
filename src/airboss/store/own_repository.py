"""Whether a folder's repository is its own: what is written there is written nowhere else.

An agent may have made the repository, or changed it. It could name another one, or put a link in
the place of a folder, and let Airboss write where the agent itself may not.
"""

import itertools
import os
from pathlib import Path
from typing import Final

from airboss import strange_files

_MOST_BYTES: Final = 4096
# What git makes or replaces when it writes objects and names of ours.
_OBJECTS: Final = ("objects", *(f"objects/{number:02x}" for number in range(256)))
_NAMES: Final = ("packed-refs", "refs", "logs")


def foreign_part(top: Path, git_dir: Path, ref: str) -> str | None:
    """Blocking. What leads elsewhere where objects and this name are written; none where nothing
    does. `top` is the repository's work tree."""
    dot = top / ".git"
    if dot.is_symlink():
        return ".git is a link"
    common = _pointed_at(git_dir / "commondir", git_dir)
    if dot.is_dir():
        # A cage leaves one there that names itself.
        if not _is_same(dot, git_dir) or not _is_same(dot, common or dot):
            return ".git names another repository"
    elif not _names_back(git_dir, top):
        return ".git names a repository that does not know this folder"
    shared = common or git_dir
    steps = ref.split("/")
    names = ["/".join(steps[:count]) for count in range(2, len(steps) + 1)]
    written = (*_OBJECTS, *_NAMES, *names, *(f"logs/{name}" for name in ("refs", *names)))
    places = itertools.chain(*((place / name for name in written) for place in {shared, git_dir}))
    link = next((place for place in places if place.is_symlink()), None)
    return None if link is None else f"{link.name} in its repository is a link"


def _names_back(git_dir: Path, top: Path) -> bool:
    """A linked worktree's own folder says where the worktree is, a submodule's configuration where
    its files are."""
    if back := _pointed_at(git_dir / "gitdir", git_dir):
        return _is_same(back, top / ".git")
    try:
        said = strange_files.read(git_dir / "config", 1 << 20, follows=False).decode()
    except (OSError, ValueError):
        return False
    lines = [line.partition("=") for line in said.splitlines()]
    named = [value.strip().strip('"') for key, _, value in lines if key.strip() == "worktree"]
    return any(_is_same(git_dir / path, top) for path in named)


def _pointed_at(file: Path, folder: Path) -> Path | None:
    """What the one line of a file of git's names."""
    try:
        said = strange_files.read(file, _MOST_BYTES, follows=False)
    except FileNotFoundError:
        return None
    except OSError:
        return folder / "unreadable"
    return Path(os.path.realpath(folder / os.fsdecode(said).rstrip("\n")))


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
