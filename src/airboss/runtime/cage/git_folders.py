"""What of git a cage sees beside its working folder, and what in it is closed.

The agent may write all of the working folder. What git would run or believe later, when a person or
Airboss uses it outside, stays as it was: configuration, hooks, and where the rest is kept.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from airboss.runtime.cage.walls import Bind, same

_GIT: Final = ".git"
_MOST_BYTES: Final = 4096

# Why a folder cannot be handed in; none where it can.
Refusal = Callable[[Path], str | None]


def git_binds(cwd: Path, refusal: Refusal) -> tuple[Bind, ...]:
    """Blocking. Nothing for a folder that has no repository of its own."""
    dot = cwd / _GIT
    if dot.is_symlink():
        return ()
    if dot.is_dir():
        return tuple(_of_repository(dot, refusal))
    return tuple(_of_worktree(cwd, dot, refusal)) if dot.is_file() else ()


def _of_repository(git: Path, refusal: Refusal) -> Iterator[Bind]:
    """Bound on itself, since a folder with mounts in it could be moved away, but for a mount."""
    yield same(git, writable=True)
    for name in ("hooks", "modules"):
        _make(git / name, is_folder=True)
    _make(git / "config.worktree")
    for name in ("config", "config.worktree", "hooks", "modules"):
        if (git / name).exists() and not (git / name).is_symlink():
            yield same(git / name)
    yield from _objects(git / "objects", refusal)


def _make(path: Path, *, is_folder: bool = False) -> None:
    """Empty, it says nothing to git. What was not there could be made inside, and in the place of
    it a link, just as the next cage binds it."""
    with contextlib.suppress(OSError):
        if is_folder:
            path.mkdir()
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def _objects(objects: Path, refusal: Refusal) -> Iterator[Bind]:
    """Those that a shared clone borrows are read-only, and so is what says where they are."""
    if objects.is_symlink() or not objects.is_dir():
        return
    _make(objects / "info", is_folder=True)
    yield same(objects, writable=True)
    if (objects / "info").is_symlink():
        return
    yield same(objects / "info")
    for line in _read(objects / "info" / "alternates").splitlines():
        borrowed = Path(os.path.realpath(objects / line)) if line else objects
        if borrowed.name == "objects" and borrowed.is_dir() and not refusal(borrowed):
            yield same(borrowed)


def _of_worktree(cwd: Path, dot: Path, refusal: Refusal) -> Iterator[Bind]:
    """Believed only if git itself made it: both sides name each other, and the side outside was
    never writable from a cage."""
    own = Path(os.path.realpath(cwd / _read(dot).removeprefix("gitdir:").strip()))
    common = own.parent.parent
    names_us = os.path.realpath(own / _read(own / "gitdir").strip()) == os.path.realpath(dot)
    is_common = os.path.realpath(own / _read(own / "commondir").strip()) == str(common)
    if own.parent.name != "worktrees" or not names_us or not is_common or refusal(common):
        return
    yield same(common)
    for name in ("objects", "refs", "logs"):
        if (common / name).is_dir() and not (common / name).is_symlink():
            yield same(common / name, writable=True)
    if (common / "objects" / "info").is_dir():
        yield same(common / "objects" / "info")
    yield same(own, writable=True)
    _make(own / "config.worktree")
    for name in ("gitdir", "commondir", "config.worktree"):
        if (own / name).is_file():
            yield same(own / name)
    yield same(dot)


def _read(path: Path) -> str:
    """Without following a link, and never much."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
