"""What a person has read and trusts: files by their bytes, so that a change is asked again."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from airboss.entry.places import SUFFIXES, own_entries
from airboss.errors import Conflict, Invalid, NotFound
from airboss.log.writer import now_ms
from airboss.model.audit_events import TrustChanged
from airboss.service.audit import Audit, actor
from airboss.store.entries import TrustRow, TrustStore

_log = logging.getLogger("airboss.trust")
# What is longer is not read on a page.
_SHOWN_BYTES: Final = 1024 * 1024


@dataclass(frozen=True)
class Trusted:
    """Something trusted. `current` is False for a file that changed since, or is gone."""

    row: TrustRow
    current: bool


@dataclass(frozen=True)
class LookedFile:
    """A file as it is now. `text` is all of it, or none where it is too long to be shown."""

    path: str
    digest: str
    bytes: int
    text: str | None


@dataclass(frozen=True)
class Look:
    """What would be trusted. `digest` stands for all of it: of a file its own, of several that of
    their list. Whoever trusts says by it what was looked at."""

    path: str
    kind: Literal["file", "folder"]
    digest: str
    files: tuple[LookedFile, ...]


@dataclass(frozen=True)
class Trust:
    """Who trusts what. A folder stands for the entries that were in it at that moment."""

    store: TrustStore
    audit: Audit | None = None

    async def look(self, text: str, named: Sequence[Path] = ()) -> Look:
        """At a file with what it names, or at all entries in a folder, before somebody trusts
        them."""
        path = whole_path(text)
        return await asyncio.to_thread(_look, path, named)

    async def add(
        self, text: str, digest: str, who: str, named: Sequence[Path] = ()
    ) -> list[TrustRow]:
        """As it was when it was looked at, or not at all."""
        path = whole_path(text)
        seen = await asyncio.to_thread(_look, path, named)
        if seen.digest != digest:
            raise Conflict(
                f"{path} has changed since you reviewed it, or the digest is of another file. "
                "Review it again, then trust it."
            )
        rows = _rows(seen, who)
        await self.store.add(rows)
        for row in rows:
            _log.info("%s trusts %s", who, row.path)
        await self._record(who, "trusted", [row.path for row in rows], digest)
        return rows

    async def remove(self, text: str, who: str) -> list[str]:
        """What is no longer trusted: the path itself, and below a folder all there is."""
        name = await asyncio.to_thread(name_of, whole_path(text))
        rows = await self.store.all()
        folders = {row.path for row in rows if row.kind == "folder" and row.path == name}
        gone = [row.path for row in rows if row.path == name or _is_below(row.path, folders)]
        if not gone:
            raise NotFound("trusted file or folder", name)
        await self.store.remove(gone)
        for path in gone:
            _log.info("%s no longer trusts %s", who, path)
        await self._record(who, "distrusted", gone)
        return gone

    async def _record(
        self,
        who: str,
        change: Literal["trusted", "distrusted"],
        paths: list[str],
        digest: str | None = None,
    ) -> None:
        if self.audit:
            await self.audit.write(
                TrustChanged(by=actor(who), change=change, paths=tuple(paths), digest=digest)
            )

    async def all(self) -> list[Trusted]:
        rows = await self.store.all()
        return await asyncio.to_thread(lambda: [Trusted(row, _is_current(row)) for row in rows])

    async def covers(self, path: Path, digest: str) -> bool:
        """Whether a person trusts the file with exactly this content."""
        name = await asyncio.to_thread(name_of, path)
        return await self.store.digest_of(name) == digest


def whole_path(text: str) -> Path:
    path = Path(text.strip())
    if not path.is_absolute() or "\0" in text:
        raise Invalid("The path must be absolute.")
    return path


def name_of(path: Path) -> str:
    """The real path, as text that every disk and wire takes."""
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def digest_of(content: bytes) -> str:
    return sha256(content).hexdigest()


def _look(path: Path, named: Sequence[Path] = ()) -> Look:
    # Imported when somebody trusts: most servers never need it.
    from airboss.entry.load import read_content

    is_folder = path.is_dir()
    files = own_entries(Path(os.path.realpath(path))) if is_folder else [path]
    if not files:
        raise Invalid(f"{path} contains no entry to trust.")
    wrong = next((file for file in files if file.suffix.lower() not in SUFFIXES), None)
    if wrong:
        raise Invalid(f"{wrong}: should be a .yaml, .json or .py file, or a folder.")
    found = tuple(_looked(name_of(file), read_content(file)) for file in (*files, *named))
    kind = "folder" if is_folder else "file"
    if not is_folder and not named:
        return Look(name_of(path), kind, found[0].digest, found)
    listed = "".join(f"{file.digest}  {file.path}\n" for file in found)
    return Look(name_of(path), kind, digest_of(listed.encode()), found)


def _looked(path: str, content: bytes) -> LookedFile:
    text = content.decode("utf-8", "replace") if len(content) <= _SHOWN_BYTES else None
    return LookedFile(path, digest_of(content), len(content), text)


def _rows(seen: Look, who: str) -> list[TrustRow]:
    at = now_ms()
    folder = [TrustRow(seen.path, "folder", None, who, at)] if seen.kind == "folder" else []
    return folder + [TrustRow(file.path, "file", file.digest, who, at) for file in seen.files]


def _is_below(path: str, folders: set[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip(os.sep)}{os.sep}") for folder in folders)


def _is_current(row: TrustRow) -> bool:
    from airboss.entry.load import read_content

    if row.kind == "folder":
        return os.path.isdir(row.path)
    try:
        return digest_of(read_content(Path(row.path))) == row.digest
    except Invalid:
        return False
