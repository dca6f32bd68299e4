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
_NAMES: Final = ("packed-refs", "refs", "logs", "reftable")


def foreign_repository(folder: Path, top: Path, git_dir: Path, common: Path) -> str | None:
    """Blocking. Why this repository is not the folder's own; none where it is. All are real paths,
    and what git found: the repository itself may have named its work tree, `top`, and `common`."""
    if not folder.is_relative_to(top):
        return "its files are in another folder"
    dot = top / ".git"
    if dot.is_symlink():
        return ".git is a link"
    if dot.is_dir():
        if not _is_same(dot, git_dir) or common != git_dir:
            return ".git names another repository"
    elif not _is_same(_pointed_at(dot, top, "gitdir: ") or dot, git_dir):
        return ".git names another repository"
    elif not _is_linked(git_dir, top, common) and not _is_configured(git_dir, top, common):
        return ".git names a repository that does not know this folder"
    return None


def leading_elsewhere(git_dir: Path, common: Path, ref: str) -> str | None:
    """Blocking. What leads elsewhere where objects and this name are written; none where nothing
    does."""
    steps = ref.split("/")
    names = ["/".join(steps[:count]) for count in range(2, len(steps) + 1)]
    logs = (f"logs/{name}" for name in ("HEAD", "refs", *names))
    written = (*_OBJECTS, *_NAMES, *names, *logs)
    places = itertools.chain(*((place / name for name in written) for place in {common, git_dir}))
    link = next((place for place in places if place.is_symlink()), None)
    return None if link is None else f"{link.name} in its repository is a link"


def _is_linked(git_dir: Path, top: Path, common: Path) -> bool:
    """A linked worktree: its own folder is among those of the repository, which whoever can write
    the worktree alone cannot make, and says where the worktree is."""
    back = _pointed_at(git_dir / "gitdir", git_dir)
    if back is None or not _is_same(back, top / ".git"):
        return False
    is_apart = not git_dir.is_relative_to(top) and not top.is_relative_to(git_dir)
    return is_apart and git_dir.parent == common / "worktrees"


def _is_configured(git_dir: Path, top: Path, common: Path) -> bool:
    """A submodule: its configuration, which is in no other repository, says where its files are."""
    if common != git_dir:
        return False
    try:
        said = strange_files.read(git_dir / "config", 1 << 20, follows=False).decode()
    except (OSError, ValueError):
        return False
    lines = [line.partition("=") for line in said.splitlines()]
    named = [value.strip().strip('"') for key, _, value in lines if key.strip() == "worktree"]
    return any("\0" not in path and _is_same(git_dir / path, top) for path in named)


def _pointed_at(file: Path, folder: Path, prefix: str = "") -> Path | None:
    """What the one line of a file of git's names, as git reads it."""
    nowhere = folder / "unreadable"
    try:
        said = strange_files.read(file, _MOST_BYTES, follows=False)
    except FileNotFoundError:
        return None
    except OSError:
        return nowhere
    if b"\0" in said:
        return nowhere
    named = os.fsdecode(said).removeprefix(prefix).rstrip("\r\n")
    return Path(os.path.realpath(folder / named))


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
