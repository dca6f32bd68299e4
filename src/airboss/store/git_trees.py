"""The files of a git folder as a tree, written into its repository under a name of ours.

The repository is not trusted. Its configuration, hooks and filters run programs, so none of them is
used: git works in a repository of our own making that borrows the other one's objects, with a copy
of its index. Of the repository itself only objects are added, and names below `refs/airboss`.
"""

import contextlib
import itertools
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from airboss import strange_files
from airboss.store.own_repository import foreign_repository, leading_elsewhere

_REF: Final = "refs/airboss/runs"
_SECONDS: Final = 20.0
_LOOK_SECONDS: Final = 0.25
_MOST_LISTED: Final = 32 * 1024 * 1024
_LARGEST_INDEX: Final = 512 * 1024 * 1024
_MOST_SHARED: Final = 64
_MOST_FILES: Final = 20_000
_MOST_BYTES: Final = 256 * 1024 * 1024
_LARGEST_FILE: Final = 32 * 1024 * 1024
_TOO_MANY: Final = f"More than {_MOST_FILES:,} files are new or changed and not ignored."
_TOO_LARGE: Final = f"The new and changed files have more than {_MOST_BYTES // 2**20} MiB."
_TOO_SLOW: Final = f"git took longer than {_SECONDS:.0f} s."
# Said by the repository's own configuration, and turned off where git reads that.
_HARMLESS: Final = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
_WRITER: Final = {"GIT_COMMITTER_NAME": "Airboss", "GIT_COMMITTER_EMAIL": "airboss@localhost"}


class NotKept(Exception):
    """Why there is no tree, in words for a person."""


class NotInGit(NotKept):
    """The folder is in no repository, or there is no git: nothing to be told of."""


@dataclass(frozen=True)
class KeptTree:
    """A tree of all files that are tracked, or new and not ignored, and how many were too large."""

    tree: str
    left_out: int = 0


@dataclass(frozen=True)
class Repository:
    """Where a folder's repository has what is needed of it."""

    folder: Path
    top: Path
    git_dir: Path
    # The same one, but in a linked worktree.
    common: Path
    object_format: str

    @property
    def objects(self) -> Path:
        return self.common / "objects"

    @property
    def foreign(self) -> str | None:
        """Why it is not the folder's own."""
        return foreign_repository(self.folder, self.top, self.git_dir, self.common)


@dataclass
class Clock:
    """All calls of git together take no longer than this."""

    until: float = field(default_factory=lambda: time.monotonic() + _SECONDS)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until


def keep_tree(folder: Path, run: str, when: str) -> KeptTree:
    """Writes the folder's files as they are now. Blocking. Raises `NotKept`."""
    clock = Clock()
    repository = find_repository(folder, clock)
    ref = f"{_REF}/{run}/{when}"
    _check_own(repository, ref)
    with _borrowed(repository) as environ:
        changed, left_out = _changed_files(repository, environ, clock)
        if changed:
            listed = b"".join(name + b"\0" for name in changed)
            command = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
            run_git(command, folder, environ, clock, given=listed)
        tree = _write_tree(repository, environ, clock)
    _check_own(repository, ref)  # what still works there may have changed it meanwhile
    _update_ref(repository, (ref, tree), clock)
    return KeptTree(tree, left_out)


def forget_trees(folder: Path, run: str) -> None:
    """The names are gone; what they named goes with git's next cleaning. Blocking."""
    clock = Clock()
    with contextlib.suppress(NotKept):
        repository = find_repository(folder, clock)
        for ref in (f"{_REF}/{run}/begin", f"{_REF}/{run}/end"):
            with contextlib.suppress(NotKept):
                _check_own(repository, ref)
                _update_ref(repository, ("-d", ref), clock)


def _check_own(repository: Repository, ref: str) -> None:
    """Before anything is read or written there for this name."""
    foreign = repository.foreign or leading_elsewhere(repository.git_dir, repository.common, ref)
    if foreign:
        raise NotKept(f"Nothing is saved in this repository: {foreign}.")


def find_repository(folder: Path, clock: Clock) -> Repository:
    asked = (
        "rev-parse",
        *("--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"),
        "--show-object-format",
    )
    try:
        said = run_git((*_HARMLESS, *asked), folder, plain_environ(), clock)
    except NotKept as error:
        if clock.is_over:
            raise
        raise NotInGit(str(error)) from error
    lines = os.fsdecode(said).rstrip("\n").split("\n")
    if len(lines) != 4:  # a path with a line break in it
        raise NotInGit("The repository's path cannot be read.")
    top, git_dir, common, object_format = lines
    return Repository(
        folder=folder.resolve(),
        top=Path(top).resolve(),
        git_dir=Path(git_dir).resolve(),
        common=Path(common).resolve(),
        object_format=object_format,
    )


@contextlib.contextmanager
def _borrowed(repository: Repository) -> Generator[dict[str, str]]:
    """A repository of ours with the other one's objects and a copy of its index."""
    with bare_repository(repository.object_format) as own:
        index = own / "index"
        try:
            _copy_index(repository.git_dir / "index", own)
        except OSError as error:
            raise NotKept(f"The index of git cannot be read: {error.strerror}.") from error
        yield plain_environ() | {
            "GIT_DIR": str(own),
            "GIT_WORK_TREE": str(repository.top),
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(repository.objects),
        }


def _copy_index(index: Path, own: Path) -> None:
    """With its time: git tells by that which files may have changed since."""
    left = _LARGEST_INDEX
    with contextlib.suppress(FileNotFoundError):  # a new repository has none
        left -= strange_files.copy(index, own / "index", left)
    for shared in itertools.islice(index.parent.glob("sharedindex.*"), _MOST_SHARED):
        left -= strange_files.copy(shared, own / shared.name, left)


@contextlib.contextmanager
def bare_repository(object_format: str) -> Generator[Path]:
    """An empty one, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="airboss-git-") as made:
        own = Path(made)
        (own / "refs").mkdir()
        (own / "objects").mkdir()
        (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        extension = f"[extensions]\n\tobjectFormat = {object_format}\n"
        version = 0 if object_format == "sha1" else 1
        said = f"[core]\n\trepositoryFormatVersion = {version}\n{extension if version else ''}"
        (own / "config").write_text(said, encoding="utf-8")
        yield own


def _changed_files(
    repository: Repository, environ: dict[str, str], clock: Clock
) -> tuple[list[bytes], int]:
    """Those that differ from the index, or are new, and how many of them are too large."""
    command = ["ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard"]
    info = repository.common / "info"
    # A link could name a file that the agent cannot read, and what is left out would tell of it.
    is_link = info.is_symlink() or (info / "exclude").is_symlink()
    if not is_link and (info / "exclude").is_file():
        command.append(f"--exclude-from={info / 'exclude'}")
    if ignored := _owners_ignores(repository.folder, clock):
        command.append(f"--exclude-from={ignored}")
    said = run_git(command, repository.folder, environ, clock, most=_MOST_LISTED)
    looked = _Looked(os.fsencode(repository.folder))
    for name in dict.fromkeys(name for name in said.split(b"\0") if name):
        looked.look_at(name)
    return looked.changed, looked.left_out


@dataclass
class _Looked:
    """The names that git is to read, within bounds, and without those that it would fail at."""

    folder: bytes
    changed: list[bytes] = field(default_factory=list[bytes])
    left_out: int = 0
    _bytes: int = 0
    _links: dict[bytes, bool] = field(default_factory=dict[bytes, bool])

    def look_at(self, name: bytes) -> None:
        # A repository in the repository; and what lies behind a link, which is somewhere else.
        if name.endswith(b"/") or self._is_behind_link(os.path.dirname(name)):
            return
        path = os.path.join(self.folder, name)
        try:
            found = os.lstat(path)
        except OSError:  # deleted
            self.changed.append(name)
            return
        if stat.S_ISREG(found.st_mode):
            if found.st_size > _LARGEST_FILE or not os.access(path, os.R_OK):
                self.left_out += 1
                return
            self._bytes += found.st_size
        elif not stat.S_ISLNK(found.st_mode):
            return
        self.changed.append(name)
        if len(self.changed) > _MOST_FILES:
            raise NotKept(_TOO_MANY)
        if self._bytes > _MOST_BYTES:
            raise NotKept(_TOO_LARGE)

    def _is_behind_link(self, below: bytes) -> bool:
        if not below:
            return False
        if below not in self._links:
            is_link = os.path.islink(os.path.join(self.folder, below))
            self._links[below] = is_link or self._is_behind_link(os.path.dirname(below))
        return self._links[below]


def _owners_ignores(folder: Path, clock: Clock) -> str | None:
    """The file of ignored names that the server's owner has for all repositories."""
    environ = plain_environ() | {"GIT_CONFIG_GLOBAL": _owners_configuration()}
    command = ("config", "--global", "--type=path", "--get", "core.excludesFile")
    with contextlib.suppress(NotKept):
        path = os.fsdecode(run_git(command, folder, environ, clock)).strip()
        if path and Path(path).is_file():
            return path
    return None


def _owners_configuration() -> str:
    return os.environ.get("GIT_CONFIG_GLOBAL") or str(Path.home() / ".gitconfig")


def _write_tree(repository: Repository, environ: dict[str, str], clock: Clock) -> str:
    """Of the folder alone, which may lie below the repository's top."""
    below = repository.folder.relative_to(repository.top).as_posix()
    command = ["write-tree", "--missing-ok"]
    if below != ".":
        command.append(f"--prefix={below}/")
    try:
        return run_git(command, repository.folder, environ, clock).decode().strip()
    except NotKept:
        if below == ".":
            raise
        empty = ("hash-object", "-t", "tree", "-w", "--stdin")  # nothing of it is tracked or new
        return run_git(empty, repository.folder, environ, clock).decode().strip()


def _update_ref(repository: Repository, given: Sequence[str], clock: Clock) -> None:
    """Its configuration does not say who writes in logs, and no name leads to another one."""
    places = {"GIT_DIR": str(repository.git_dir), "GIT_COMMON_DIR": str(repository.common)}
    environ = plain_environ() | _WRITER | places
    command = (*_HARMLESS, "update-ref", "--no-deref", *given)
    run_git(command, repository.folder, environ, clock)


def plain_environ() -> dict[str, str]:
    """Nothing of ours but where programs and the owner's ignored names are found; no network."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(Path.home()),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
    }


def run_git(
    command: Iterable[str],
    folder: Path,
    environ: dict[str, str],
    clock: Clock,
    *,
    given: bytes = b"",
    most: int | None = None,
) -> bytes:
    """What git says. Raises `NotKept` where it fails, takes too long or says too much."""
    if clock.is_over:
        raise NotKept(_TOO_SLOW)
    with contextlib.ExitStack() as files:
        put, said, errors = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        put.write(given)
        put.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - git, and what we say to it
                (_program(), *command),
                cwd=folder,
                env=environ,
                stdin=put,
                stdout=said,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise NotInGit("git could not be started.") from error
        with process:
            _wait(process, said, clock, most)
        if process.returncode != 0:
            raise NotKept(_read_words(errors) or "git failed.")
        said.seek(0)
        return said.read()


def _program() -> str:
    """By its whole path: a program of that name in the folder is not meant."""
    found = shutil.which("git")
    if found is None:
        raise NotInGit("git is not installed.")
    return found


def _wait(
    process: subprocess.Popen[bytes], said: IO[bytes], clock: Clock, most: int | None
) -> None:
    while process.poll() is None:
        is_late = clock.is_over
        if is_late or (most is not None and os.fstat(said.fileno()).st_size > most):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise NotKept(_TOO_SLOW if is_late else _TOO_MANY)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_SECONDS)


def _read_words(errors: IO[bytes]) -> str:
    errors.seek(0)
    return " ".join(errors.read(2_000).decode(errors="replace").split())[:300]
