"""Files below a session's folder, for people who read along: one of them as text, and their names.

What lies outside, in a protected place, or under a name that secrets usually have is refused: who
may look on is not let in any further than the conversation. A hard link is not recognised.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from airboss.errors import Invalid, NotFound
from airboss.harness.protected import Protected
from airboss.model.redaction import Redactor
from airboss.model.words import Frozen

MOST_BYTES: Final = 1024 * 1024
LONGEST_PATH: Final = 4096
_MOST_LOOKED_AT: Final = 20_000
_BEGINNING: Final = 8_192
# Names that people give to secrets. Agents are asked about by rules; a page does not ask anybody.
_SECRET: Final = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials", "credentials.json"),
    *(".netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml"),
)
_EXAMPLES: Final = (".env.example", ".env.sample", ".env.template", "*.pub")
_SECRET_FOLDERS: Final = frozenset({".git", ".ssh", ".aws", ".gnupg", ".docker", ".kube"})
# What a build or a tool made: nobody means one of these.
_MADE: Final = frozenset(
    {"node_modules", "__pycache__", ".venv", "venv", "dist", "build", "target", ".tox", ".cache"}
)


class TextFile(Frozen):
    """A file as it is now. `cut`: only its beginning is here. Secrets that the server knows are
    taken out."""

    path: str
    text: str
    bytes: int
    cut: bool = False


class FileNames(Frozen):
    """Paths from the folder on, the best first. `more`: there are others that fit, or files that
    were not looked at."""

    items: list[str]
    more: bool = False


@dataclass(frozen=True)
class FolderFiles:
    """What may be seen of the folder. Both look at the disk: they are for a thread."""

    folder: Path
    protected: Protected
    redactor: Redactor

    def read(self, path: str) -> TextFile:
        real = self._allowed(path)
        try:
            handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            raise NotFound("file", path) from None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise Invalid(f"{path} is not a readable file.")
            data = self._content(handle, path, found)
        finally:
            os.close(handle)
        if b"\0" in data[:_BEGINNING]:
            raise Invalid(f"{path} is not a text file, so it cannot be shown.")
        return TextFile(
            path=str(real.relative_to(self._real)),
            text=self.redactor.text(data.decode("utf-8", "replace")),
            bytes=found.st_size,
            cut=found.st_size > MOST_BYTES,
        )

    def _content(self, handle: int, path: str, found: os.stat_result) -> bytes:
        """An agent may have put a link in the file's place between the look and the opening."""
        try:
            is_same = os.path.samestat(found, os.lstat(self._allowed(path)))
        except OSError:
            is_same = False
        if not is_same:
            raise Invalid(f"{path} was replaced by another file. Try again.")
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read(MOST_BYTES)

    def names(self, wanted: str, most: int) -> FileNames:
        """Those whose path has these letters in it; a match in the file's own name comes first."""
        letters = wanted.casefold()
        fitting: list[str] = []
        looked_at = 0
        for path in self._walk(self._real):
            looked_at += 1
            if looked_at > _MOST_LOOKED_AT:
                break
            if letters in path.casefold():
                fitting.append(path)
        fitting.sort(key=lambda path: _rank(letters, path))
        more = len(fitting) > most or looked_at > _MOST_LOOKED_AT
        return FileNames(items=fitting[:most], more=more)

    @property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.folder))

    def _allowed(self, path: str) -> Path:
        """Where it really lies; refused where nobody is to look."""
        if not path or "\0" in path or len(path) > LONGEST_PATH:
            raise Invalid("This is no usable path.")
        folder = self._real
        try:
            real = Path(os.path.realpath(folder / path))
        except (OSError, ValueError):
            raise Invalid("This is no usable path.") from None
        if not real.is_relative_to(folder):
            raise Invalid(f"{path} is outside the session's folder, {folder}.")
        if lies_with_secrets(real, folder, self.protected):
            raise Invalid(f"{path} may contain secrets, so it is not shown.")
        return real

    def _walk(self, folder: Path) -> Iterator[str]:
        """By breadth, so that of a very large folder the upper files are found."""
        waiting = [folder]
        while waiting:
            here = waiting.pop(0)
            if here != folder and _is_inside(here, self.protected):
                continue
            try:
                with os.scandir(here) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name.casefold() not in _MADE | _SECRET_FOLDERS:
                        waiting.append(Path(entry.path))
                elif entry.is_file(follow_symlinks=False) and not is_secret(Path(entry.name)):
                    yield os.path.relpath(entry.path, folder)


def lies_with_secrets(real: Path, root: Path, protected: Protected) -> bool:
    """Whether a file below this root is, by its name or place, one that may contain secrets."""
    return is_secret(real.relative_to(root)) or _is_inside(real, protected)


def _is_inside(real: Path, protected: Protected) -> bool:
    return any(not one.above for one in protected.touched([str(real)]))


def is_secret(path: Path) -> bool:
    """By its name, or that of a folder above it."""
    if not _SECRET_FOLDERS.isdisjoint(part.casefold() for part in path.parts):
        return True
    name = path.name.casefold()
    if any(fnmatch(name, pattern) for pattern in _EXAMPLES):
        return False
    return any(fnmatch(name, pattern) for pattern in _SECRET)


def _rank(letters: str, path: str) -> tuple[bool, bool, int, str]:
    name = path.rpartition("/")[2].casefold()
    return (not name.startswith(letters), letters not in name, path.count("/"), path)
