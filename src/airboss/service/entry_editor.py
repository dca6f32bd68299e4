"""The project's entry as a text that people edit: shown with its version, and saved over that
version only."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from airboss.entry.places import NAMES
from airboss.errors import Conflict, Invalid, TooLarge
from airboss.model.audit_events import EntryWritten
from airboss.model.words import Frozen, Words
from airboss.service.audit import Audit, actor
from airboss.service.entries import Entries
from airboss.service.entry_reader import in_thread
from airboss.service.file_versions import (
    FileNotUsable,
    FileVersion,
    VersionChanged,
    read_version,
    replace_version,
)
from airboss.service.folder_files import lies_with_secrets
from airboss.service.trust import whole_path

if TYPE_CHECKING:
    from airboss.service.installed import Installed

MOST_BYTES: Final = 8 * 1024 * 1024
EDITED: Final = (".yaml", ".yml", ".json")
_BOM: Final = "\ufeff"
_BREAK: Final = re.compile("\r\n|\r|\n")
_PYTHON: Final = "A Python entry is a program. It is shown here, but not edited here."
_UNSHOWN: Final = (
    "It contains what looks like a secret, which is not shown. Take it out of the file in another "
    "editor; then it can be edited here."
)


class EntryFile(Frozen):
    """An entry's file as it is now. `digest` is the SHA-256 of its bytes; there is none where the
    file does not exist, or may not be shown. `in_use`: the server uses exactly this version.
    `why_not` says in words why it cannot be written here."""

    path: Words
    exists: bool
    format: Literal["yaml", "json", "python"]
    text: Words = ""
    digest: str | None = None
    modified_at: int | None = None
    in_use: bool = False
    writable: bool = True
    why_not: Words | None = None

    def locked(self, why_not: str) -> "EntryFile":
        """The same, for somebody who may not write it. What stood in the way before still does."""
        said = self.why_not or why_not
        return self.model_copy(update={"writable": False, "why_not": said})


class EntryFileChanged(Conflict):
    """Somebody else has changed it. What is on the disk comes along."""

    code = "file_changed"

    def __init__(self, found: EntryFile) -> None:
        state = "was changed elsewhere" if found.exists else "is gone"
        super().__init__(f"{found.path} {state} since you opened it. Nothing was saved.")
        self.found = found


@dataclass(frozen=True)
class _EditedPlace:
    """Where a file is: as it is called, and what that really is."""

    path: Path
    real: Path
    # Why it may not be read, or why not written.
    hidden: str | None = None
    locked: str | None = None


@dataclass(frozen=True)
class EntryEditor:
    """Reads and writes below the roots alone, and never where secrets are kept."""

    entries: Entries
    audit: Audit | None = None

    async def is_own(self, path: str) -> bool:
        """Whether this is the project's own entry, which everybody may see."""
        wanted = whole_path(path)
        return wanted in await self._own_files()

    async def show(self, path: str | None = None) -> EntryFile:
        """Without a path: the file that the server uses, should use, or would find first."""
        place = await self._place(path)
        return await self._shown(place)

    async def save(self, path: str, text: str, digest: str | None) -> EntryFile:
        place = await self._place(path)
        if why_not := place.hidden or place.locked:
            raise Invalid(why_not)
        try:
            await in_thread(lambda: self._write(place, text, digest))
        except VersionChanged:
            raise EntryFileChanged(await self._shown(place)) from None
        self.entries.look_again()
        saved = await self._shown(place)
        if self.audit:
            by = actor()
            await self.audit.write(
                EntryWritten(by=by, path=saved.path, digest=saved.digest, before=digest)
            )
        return saved

    async def _own_files(self) -> list[Path]:
        """The one that counts first."""
        used = await self.entries.current()
        found = await in_thread(self.entries.candidates)
        if used and used.source == "file" and used.path:
            found.insert(0, used.path)
        if used and used.mistaken_path:
            found.insert(0, used.mistaken_path)
        return found or [self.entries.folders.repo_root / NAMES[0]]

    async def _place(self, text: str | None) -> _EditedPlace:
        own = await self._own_files()
        path = whole_path(text) if text is not None else own[0]
        return await in_thread(lambda: self._looked_up(path, is_own=path in own))

    def _looked_up(self, path: Path, *, is_own: bool) -> _EditedPlace:
        try:
            real = Path(os.path.realpath(path))
        except (OSError, ValueError):
            raise Invalid("This is no usable path.") from None
        closed = self._closed(path, real)
        if not is_own:
            if closed:
                raise Invalid(closed)
            if not _is_edited(path, real):
                raise Invalid(f"{path} should be a .yaml or .json file.")
            return _EditedPlace(real if ".." in path.parts else path, real)
        hidden = closed if closed and not self.entries.may_quote_here(path) else None
        return _EditedPlace(
            path, real, hidden, closed or (None if _is_edited(path, real) else _PYTHON)
        )

    def _closed(self, path: Path, real: Path) -> str | None:
        """Why nobody may write there; none where that is fine."""
        folders = self.entries.folders
        root = next((root for root in folders.roots if real.is_relative_to(root)), None)
        if root is None:
            allowed = ", ".join(str(root) for root in folders.roots)
            return f"{path} is outside the folders where agents may work ({allowed})."
        if lies_with_secrets(real, root, folders.protected):
            return f"{path} lies where secrets are kept."
        return None

    async def _shown(self, place: _EditedPlace) -> EntryFile:
        used = await self.entries.current()
        return await in_thread(lambda: self._look(place, used))

    def _look(self, place: _EditedPlace, used: "Installed | None") -> EntryFile:
        from airboss.entry.load import writing_of

        shown = EntryFile(path=str(place.path), exists=False, format=writing_of(place.path))
        if place.hidden:
            exists = os.path.lexists(place.path)
            return shown.model_copy(update={"exists": exists}).locked(place.hidden)
        try:
            found = read_version(place.real, MOST_BYTES)
            text = _decoded(place.path, found) if found else ""
        except FileNotUsable as error:
            return shown.model_copy(update={"exists": True}).locked(str(error))
        if found:
            used_digest = used.file_digest if used and used.path == place.path else None
            shown = shown.model_copy(
                update={
                    "exists": True,
                    "text": self.entries.files.redactor.text(text),
                    "digest": found.digest,
                    "modified_at": found.modified_at,
                    "in_use": used_digest == found.digest,
                }
            )
        return self._with_locks(shown, place, text)

    def _with_locks(self, shown: EntryFile, place: _EditedPlace, text: str) -> EntryFile:
        if place.locked:
            return shown.locked(place.locked)
        if shown.text != text:
            return shown.locked(_UNSHOWN)
        if why_not := _no_access(place):
            return shown.locked(why_not)
        return shown

    def _write(self, place: _EditedPlace, text: str, digest: str | None) -> None:
        secret = next(iter(self.entries.files.redactor.places(text)), None)
        if secret:
            line = text.count("\n", 0, secret[0]) + 1
            raise Invalid(
                f"Line {line} contains what looks like a secret. Agents would not get it, and a "
                "project's file is no place for it. Take it out, then save."
            )
        if why_not := _no_access(place):
            raise FileNotUsable(why_not)

        def content_for(before: FileVersion | None) -> bytes:
            old = _decoded(place.path, before, keeps_mark=True) if before else ""
            if self.entries.files.redactor.count(old):
                raise Invalid(f"{place.path}: {_UNSHOWN}")
            return _encoded(_as_before(text, old))

        replace_version(place.real, digest, MOST_BYTES, content_for)


def _is_edited(path: Path, real: Path) -> bool:
    return path.suffix.lower() in EDITED and real.suffix.lower() in EDITED


def _no_access(place: _EditedPlace) -> str | None:
    """Said before somebody has typed for an hour."""
    folder = place.real.parent
    if not os.path.isdir(folder):
        return f"The folder {folder} does not exist."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"The server may not write in the folder {folder}."
    if os.path.exists(place.real) and not os.access(place.real, os.W_OK):
        return f"The server may not write {place.path}: it is read-only."
    return None


def _decoded(path: Path, found: FileVersion, *, keeps_mark: bool = False) -> str:
    try:
        return found.content.decode("utf-8" if keeps_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileNotUsable(f"{path} is not UTF-8 text: byte {error.start}.") from None


def _as_before(text: str, old: str) -> str:
    """With the line ends of the version before, and with its byte order mark if it had one: pages
    keep neither."""
    ends = Counter(_BREAK.findall(old))
    if ends:
        [(end, _)] = ends.most_common(1)
        text = end.join(_BREAK.split(text))
    return f"{_BOM}{text.removeprefix(_BOM)}" if old.startswith(_BOM) else text


def _encoded(text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"The text has half of a character, at {error.start}.") from None
    if len(content) > MOST_BYTES:
        raise TooLarge(f"An entry has up to {MOST_BYTES >> 20} MiB.")
    return content
