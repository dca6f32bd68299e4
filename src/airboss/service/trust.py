"""What a person has read and trusts: files and extensions by their bytes, so that a change is asked
again."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from airboss.entry.places import SUFFIXES, own_entries
from airboss.errors import Conflict, Invalid, NotFound, StoreUnavailable
from airboss.extensions.content import Content, Unusable, read
from airboss.extensions.differences import shown_files
from airboss.extensions.discovery import (
    ExtensionFolder,
    extension_at,
    extensions_in,
    is_extension,
    key_of,
    project_folder,
)
from airboss.extensions.shelf import Shelf
from airboss.log.writer import now_ms
from airboss.model.audit_events import TrustChanged
from airboss.service.audit import Audit, actor
from airboss.store.entries import TrustKind, TrustRow, TrustStore

_log = logging.getLogger("airboss.trust")
# What is longer is not read on a page.
_SHOWN_BYTES: Final = 1024 * 1024
_MOST_EXTENSIONS: Final = 50
_MOST_LISTED: Final = 200
_MOST_BYTES: Final = 50 * 1024 * 1024
_TOO_MANY: Final = "The project has too many or too large extensions. Trust this one by itself."


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
class LookedExtension:
    """An extension as it is now. `reason` says why it cannot be trusted; it is left out then."""

    name: str
    path: str
    digest: str
    files: tuple[LookedFile, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Look:
    """What would be trusted. `digest` stands for all of it: of a file or an extension its own, of
    several that of their list. Whoever trusts says by it what was looked at."""

    path: str
    kind: TrustKind
    digest: str
    files: tuple[LookedFile, ...]
    extensions: tuple[LookedExtension, ...] = ()


@dataclass(frozen=True)
class _Seen:
    """A look, and the content of the extensions in it: what is copied is what was hashed."""

    look: Look
    contents: tuple[Content, ...] = ()


@dataclass(frozen=True)
class Trust:
    """Who trusts what. A folder stands for the entries and extensions that were in it at that
    moment. Of what is an extension a private copy is kept, and that is what runs."""

    store: TrustStore
    audit: Audit | None = None
    shelf: Shelf | None = None
    # Told of every change.
    announce: Callable[[], None] = lambda: None

    async def look(self, text: str, named: Sequence[Path] = ()) -> Look:
        """At a file with what it names, at an extension, or at all entries and extensions in a
        folder, before somebody trusts them."""
        path = whole_path(text)
        return (await asyncio.to_thread(_look, path, named)).look

    async def add(
        self, text: str, digest: str, who: str, named: Sequence[Path] = ()
    ) -> list[TrustRow]:
        """As it was when it was looked at, or not at all."""
        path = whole_path(text)
        seen = await asyncio.to_thread(_look, path, named)
        if seen.look.digest != digest:
            raise Conflict(
                f"{path} has changed since you reviewed it, or the digest is of another file. "
                "Review it again, then trust it."
            )
        rows = _rows(seen.look, who)
        if self.shelf:
            async with self.shelf.keeping(seen.contents):
                await self.store.add(rows)
        else:
            await self.store.add(rows)
        await self._sweep()
        for row in rows:
            _log.info("%s trusts %s", who, row.path)
        await self._record(who, "trusted", [row.path for row in rows], digest)
        return rows

    async def remove(self, text: str, who: str) -> list[str]:
        """What is no longer trusted: the path itself, and below a folder all there is."""
        path = whole_path(text)
        name = await asyncio.to_thread(name_of, path)
        # Where an extension was, there may be something else by now.
        names = {name, await asyncio.to_thread(key_of, path)}
        rows = await self.store.all()
        folders = {row.path for row in rows if row.kind == "folder" and row.path == name}
        gone = [row.path for row in rows if row.path in names or _is_below(row.path, folders)]
        if not gone:
            raise NotFound("trusted file or folder", name)
        await self.store.remove(gone)
        await self._sweep()
        for path in gone:
            _log.info("%s no longer trusts %s", who, path)
        await self._record(who, "distrusted", gone)
        return gone

    async def _sweep(self) -> None:
        if self.shelf:
            with contextlib.suppress(StoreUnavailable):  # the next one does it
                await self.shelf.sweep()

    async def _record(
        self,
        who: str,
        change: Literal["trusted", "distrusted"],
        paths: list[str],
        digest: str | None = None,
    ) -> None:
        self.announce()
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


def _look(path: Path, named: Sequence[Path] = ()) -> _Seen:
    # Imported when somebody trusts: most servers never need it.
    from airboss.entry.load import read_content

    is_folder = path.is_dir()
    if is_folder and is_extension(path):
        return _look_at_extension(path)
    real = Path(os.path.realpath(path))
    files = own_entries(real) if is_folder else [path]
    extensions, contents = _extensions_of(real) if is_folder else ((), ())
    if not files and not extensions:
        raise Invalid(f"{path} contains no entry and no extension to trust.")
    wrong = next((file for file in files if file.suffix.lower() not in SUFFIXES), None)
    if wrong:
        raise Invalid(f"{wrong}: should be a .yaml, .json or .py file, or a folder.")
    found = tuple(_looked(name_of(file), read_content(file)) for file in (*files, *named))
    kind = "folder" if is_folder else "file"
    if not is_folder and not named:
        return _Seen(Look(name_of(path), kind, found[0].digest, found))
    listed = "".join(f"{one.digest}  {one.path}\n" for one in (*found, *extensions))
    digest = digest_of(listed.encode())
    return _Seen(Look(name_of(path), kind, digest, found, extensions), contents)


def _look_at_extension(path: Path) -> _Seen:
    folder = extension_at(path.absolute(), "project")
    extension, content = _looked_extension(folder)
    if content is None:
        raise Invalid(f"{path} cannot be trusted. {extension.reason}")
    look = Look(extension.path, "extension", extension.digest, extension.files, (extension,))
    return _Seen(look, (content,))


def _extensions_of(root: Path) -> tuple[tuple[LookedExtension, ...], tuple[Content, ...]]:
    """The project's own, each by its name. More than a person reads are trusted one by one."""
    looked: list[LookedExtension] = []
    contents: list[Content] = []
    size = 0
    for number, folder in enumerate(extensions_in(project_folder(root), "project")):
        if number >= _MOST_EXTENSIONS or size > _MOST_BYTES:
            looked.append(LookedExtension(folder.name, folder.key, "", reason=_TOO_MANY))
            continue
        extension, content = _looked_extension(folder)
        looked.append(extension)
        if content:
            size += sum(len(said) for _, said in content.files)
            contents.append(content)
    return tuple(looked[:_MOST_LISTED]), tuple(contents)


def _looked_extension(folder: ExtensionFolder) -> tuple[LookedExtension, Content | None]:
    if folder.fault:
        return LookedExtension(folder.name, folder.key, "", reason=folder.fault), None
    try:
        content = read(folder.path)
    except Unusable as error:
        return LookedExtension(folder.name, folder.key, "", reason=str(error)), None
    files = tuple(
        LookedFile(f"{folder.key}/{file.path}", digest_of(said), file.bytes, file.text)
        for file in shown_files(content)
        for said in (dict(content.files)[file.path],)
    )
    return LookedExtension(folder.name, folder.key, content.digest, files), content


def _looked(path: str, content: bytes) -> LookedFile:
    text = content.decode("utf-8", "replace") if len(content) <= _SHOWN_BYTES else None
    return LookedFile(path, digest_of(content), len(content), text)


def _rows(seen: Look, who: str) -> list[TrustRow]:
    at = now_ms()
    folder = [TrustRow(seen.path, "folder", None, who, at)] if seen.kind == "folder" else []
    files = () if seen.kind == "extension" else seen.files
    return [
        *folder,
        *(TrustRow(file.path, "file", file.digest, who, at) for file in files),
        *(
            TrustRow(one.path, "extension", one.digest, who, at)
            for one in seen.extensions
            if not one.reason
        ),
    ]


def _is_below(path: str, folders: set[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip(os.sep)}{os.sep}") for folder in folders)


def _is_current(row: TrustRow) -> bool:
    from airboss.entry.load import read_content

    if row.kind == "folder":
        return os.path.isdir(row.path)
    try:
        if row.kind == "extension":
            return read(Path(row.path)).digest == row.digest
        return digest_of(read_content(Path(row.path))) == row.digest
    except (Invalid, Unusable):
        return False
