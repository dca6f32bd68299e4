"""What of git a cage sees beside its working folder, and what in it is closed.

The agent may write all of the working folder. What git would run or believe later, when a person or
Airboss uses it outside, stays as it was: configuration, hooks, and where the rest is kept.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from airboss.runtime.cage.walls import Bind, same
from airboss.runtime.cage.written_folders import WrittenFolders

_GIT: Final = ".git"
_MOST_BYTES: Final = 4096
_MOST_WORKTREES: Final = 200
# What git runs of, or believes, and never writes where a repository is only worked in.
_CLOSED_FOLDERS: Final = (
    *("hooks", "modules"),
    # Addresses of remotes, as git kept them long ago: it still pushes to one that is there.
    *("remotes", "branches"),
)
_CLOSED: Final = ("config", "config.worktree", "commondir", *_CLOSED_FOLDERS)
_CLOSED_IN_WORKTREE: Final = ("gitdir", "commondir", "config.worktree")

# Why a folder cannot be handed in; none where it can.
Refusal = Callable[[Path], str | None]


def git_refusal(cwd: Path) -> str | None:
    """Blocking. Why what git believes there cannot be closed: who may write around a link puts
    another file in its place."""
    dot = cwd / _GIT
    for path in (dot, *(dot / name for name in _CLOSED)):
        if path.is_symlink():
            return f"{path.relative_to(cwd)} in it is a link, which cannot be closed"
    return None


def git_binds(
    cwd: Path,
    refusal: Refusal,
    worktrees: Path,
    known: WrittenFolders | None = None,
    write: tuple[Path, ...] = (),
) -> tuple[Bind, ...]:
    """Blocking. Nothing for a folder that has no repository of its own. `worktrees` is the cage's
    own folder, where it has what git notes of worktrees that are made inside. `known` is asked once
    it is read what else the repository uses: an agent may have written that. `write` are folders
    that the cage is given."""
    dot = cwd / _GIT
    if dot.is_symlink():
        return ()
    if dot.is_dir():

        def to_borrow(path: Path) -> str | None:
            is_believed = known is None or not known.reach(cwd)
            return refusal(path) if is_believed else "an agent may have named it"

        return (*_of_repository(dot, to_borrow), *_of_worktrees(cwd, dot / "worktrees", worktrees))
    if not dot.is_file():
        return ()
    own = Path(os.path.realpath(cwd / _read(dot).removeprefix("gitdir:").strip()))
    if refusal(own.parent.parent) or not _is_ours(cwd, own, known, write):
        return ()
    return tuple(_of_worktree(dot, own))


def closes_git(cwd: Path, binds: Iterable[Bind]) -> bool:
    """Whether these close what says where the objects of the folder's repository are."""
    closed = {bind.target for bind in binds if not bind.writable}
    return not closed.isdisjoint({cwd / _GIT, cwd / _GIT / "objects" / "info"})


def _of_repository(git: Path, refusal: Refusal) -> Iterator[Bind]:
    """Bound on itself, since a folder with mounts in it could be moved away, but for a mount."""
    yield same(git, writable=True)
    for name in _CLOSED_FOLDERS:
        _make(git / name, is_folder=True)
    _make(git / "config.worktree")
    # What git finds without it as well. Another one would lead it to a configuration elsewhere.
    _make(git / "commondir", words=".\n")
    for name in _CLOSED:
        if (git / name).exists() and not (git / name).is_symlink():
            yield same(git / name)
    yield from _objects(git / "objects", refusal)


def _of_worktrees(cwd: Path, noted: Path, own: Path) -> Iterator[Bind]:
    """What git notes of worktrees leads it to a configuration, when somebody works in one outside:
    a cage sees what is noted, writes that of worktrees in its folder, and adds only to its own."""
    _make(noted, is_folder=True)
    if noted.is_symlink() or not noted.is_dir():
        return
    yield Bind(own, noted, writable=True)
    entries = sorted(noted.iterdir())[:_MOST_WORKTREES]
    for entry in entries:
        if entry.is_symlink() or not entry.is_dir():
            continue
        worktree = Path(os.path.realpath(_read(entry / "gitdir").strip() or "/"))
        yield same(entry, writable=cwd in worktree.parents)
        _make(entry / "config.worktree")
        for name in _CLOSED_IN_WORKTREE:
            if (entry / name).is_file() and not (entry / name).is_symlink():
                yield same(entry / name)


def _make(path: Path, *, is_folder: bool = False, words: str = "") -> None:
    """It says nothing to git. What was not there could be made inside, and in the place of it a
    link, just as the next cage binds it."""
    with contextlib.suppress(OSError):
        if is_folder:
            path.mkdir()
        else:
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            os.write(made, words.encode())
            os.close(made)


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


def _is_ours(cwd: Path, own: Path, known: WrittenFolders | None, write: tuple[Path, ...]) -> bool:
    """Believed only if git itself made it: both sides name each other, and the side outside was
    never writable from a cage."""
    common, dot = own.parent.parent, cwd / _GIT
    names_us = os.path.realpath(own / _read(own / "gitdir").strip()) == os.path.realpath(dot)
    is_common = os.path.realpath(own / _read(own / "commondir").strip()) == str(common)
    if own.parent.name != "worktrees" or not names_us or not is_common:
        return False
    given = (cwd, *write)
    if any(common.is_relative_to(folder) for folder in given):
        return True  # all of it is handed in anyway, and here parts of it are closed
    if cwd.is_relative_to(common) or any(own.is_relative_to(folder) for folder in given):
        return False
    repository = common.parent if common.name == _GIT else common
    return known is None or not known.reach(repository, str(own.relative_to(repository)))


def _of_worktree(dot: Path, own: Path) -> Iterator[Bind]:
    common = own.parent.parent
    yield same(common)
    for name in ("objects", "refs", "logs"):
        if (common / name).is_dir() and not (common / name).is_symlink():
            yield same(common / name, writable=True)
    if (common / "objects").is_dir() and not (common / "objects").is_symlink():
        _make(common / "objects/info", is_folder=True)
        if not (common / "objects/info").is_symlink():
            yield same(common / "objects/info")
    yield same(own, writable=True)
    _make(own / "config.worktree")
    for name in _CLOSED_IN_WORKTREE:
        if (own / name).is_file():
            yield same(own / name)
    yield same(dot)


def _read(path: Path) -> str:
    """Without following a link, and never much; to the first NUL, which is in no path."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MOST_BYTES).partition(b"\0")[0].decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
