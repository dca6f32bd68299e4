"""Which extensions lie on disk for a working folder, and which of them may run: as a copy of what a
person trusted. It starts none of them."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.entry.places import find_repo_root
from airboss.errors import Invalid, StoreUnavailable
from airboss.extension_settings import NO_EXTENSION_SETTINGS, ExtensionSettings
from airboss.extensions.content import Content, Survey, Unusable, read, survey
from airboss.extensions.copies import Copies
from airboss.extensions.discovery import (
    MAIN_FILES,
    SCOPES,
    ExtensionFolder,
    Language,
    Scope,
    extensions_in,
    language_of,
    may_have_extensions,
    project_folder,
)
from airboss.store.entries import TrustStore
from airboss.store.extensions import DisabledExtensions

ShelfState: TypeAlias = Literal["ready", "untrusted", "changed", "disabled", "shadowed", "failed"]

# More in one folder are not looked at, except for those that somebody trusts.
_MOST_FOLDERS: Final = 200
# A disk's clock is coarse: what changed just now may change again without looking different.
_COARSE_NS: Final = 2_000_000_000
_MOST_KNOWN: Final = 1_000

_OFF: Final = "Extensions are turned off in the settings: [extensions] enabled = false."
_DISABLED: Final = "Somebody disabled it."
_SHADOWED: Final = "The project has an extension of the same name, and that one runs."
_UNTRUSTED: Final = "Nobody has trusted it yet. Read it, then trust it."
_CHANGED: Final = (
    "It has changed since it was trusted. The version that was trusted runs until somebody trusts "
    "the new one."
)


@dataclass(frozen=True)
class ExtensionFile:
    """One extension. `path` is its folder, `digest` that of what is in it now (empty if it cannot
    be read). `copy` is the folder that may run: of one that is `changed`, the older content."""

    name: str
    scope: Scope
    language: Language
    path: Path
    digest: str
    state: ShelfState
    reason: str
    copy: Path | None
    on_host: bool

    @property
    def runs(self) -> bool:
        return self.copy is not None and self.state in ("ready", "changed")

    @property
    def copy_digest(self) -> str:
        """Of what may run; empty if nothing may."""
        return self.copy.name if self.copy else ""

    @property
    def program(self) -> Path | None:
        """The file that is started."""
        return self.copy / MAIN_FILES[language_of(self.copy)] if self.copy else None


@dataclass
class Shelf:
    """All extensions of this server's sessions, by the working folder of each."""

    copies: Copies
    trust: TrustStore
    disabled: DisabledExtensions
    user_folder: Path
    settings: ExtensionSettings = NO_EXTENSION_SETTINGS
    # The digests of the copies that run now: they stay. Unknown until somebody runs some.
    in_use: Callable[[], Collection[str]] | None = None
    _known: dict[str, tuple[Survey, str]] = field(default_factory=dict[str, tuple[Survey, str]])
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def found(self, cwd: Path) -> tuple[ExtensionFile, ...]:
        """The project's, then the user's, each by name. Where there are none this only looks
        whether two folders are there."""
        folders, above = await asyncio.to_thread(self._folders, cwd)
        if not folders and not above:
            return ()
        trusted, disabled = await self.trust.extensions(), await self.disabled.all()
        kept = [folder for folder in above if folder.key in trusted]
        return await asyncio.to_thread(self._weighed, [*folders, *kept], trusted, disabled)

    async def find(self, cwd: Path, scope: Scope, name: str) -> ExtensionFile | None:
        listed = await self.found(cwd)
        return next((one for one in listed if (one.scope, one.name) == (scope, name)), None)

    def place_of(self, cwd: Path, scope: Scope, name: str) -> Path:
        """Where one of this name is, or would be. Blocking."""
        return self._root(cwd, scope) / name

    def place_for(self, cwd: Path, scope: Scope, name: str) -> Path:
        """Where a new one may be written, without links in it. Blocking. Raises `Invalid`."""
        place = self.place_of(cwd, scope, name)
        real = Path(os.path.realpath(place.parent))
        if scope == "project" and Path(os.path.realpath(place.parents[2])) not in real.parents:
            raise Invalid(f"{place.parent} leads out of the project.")
        return real / name

    @contextlib.asynccontextmanager
    async def keeping(self, contents: Sequence[Content]) -> AsyncGenerator[None]:
        """Private copies of what a person trusts meanwhile. Until that is written down, nobody
        sweeps them away."""
        async with self._lock:
            for content in contents:
                await asyncio.to_thread(self.copies.keep, content)
            yield

    async def sweep(self, *, at_start: bool = False) -> list[str]:
        """Removes the copies that no trust names and that nobody runs."""
        if self.in_use is None and not at_start:
            return []
        async with self._lock:
            trusted = await self.trust.extensions()
            wanted = {*trusted.values(), *(self.in_use() if self.in_use else ())}
            return await asyncio.to_thread(self.copies.sweep, wanted)

    # What lies there.

    def _root(self, cwd: Path, scope: Scope) -> Path:
        if scope == "user":
            return self.user_folder
        return project_folder(find_repo_root(cwd.absolute()))

    def _folders(self, cwd: Path) -> tuple[list[ExtensionFolder], list[ExtensionFolder]]:
        """The project's and the user's; and those above the project. Of these count what somebody
        trusts: an agent that makes a repository below a guard does not switch it off."""
        project = find_repo_root(cwd.absolute())
        own = extensions_in(project_folder(project), "project")
        here = [*own, *extensions_in(self.user_folder, "user")]
        above = [
            folder
            for outer in project.parents
            if may_have_extensions(outer)
            for folder in extensions_in(project_folder(outer), "project")
        ]
        return here, above

    # What may run.

    def _weighed(
        self,
        folders: Sequence[ExtensionFolder],
        trusted: Mapping[str, str],
        disabled: Collection[str],
    ) -> tuple[ExtensionFile, ...]:
        found: list[ExtensionFile] = []
        for scope in SCOPES:
            own = [folder for folder in folders if folder.scope == scope]
            for folder in _bounded(own, trusted):
                weighed = self._one(folder, trusted.get(folder.key))
                found.append(self._switched(weighed, is_off=folder.key in disabled))
        return tuple(_shadowed(found))

    def _one(self, folder: ExtensionFolder, trusted: str | None) -> ExtensionFile:
        fault, digest, copy = folder.fault, "", None
        try:
            if not fault:
                digest = self._digest(folder)
            copy = self.copies.find(trusted) if trusted else None
            if copy is None and trusted and digest == trusted:
                copy = self._made_again(folder, trusted)
        except (Unusable, StoreUnavailable) as error:
            fault = str(error)
            copy = self.copies.find(trusted) if trusted else None
        if copy is None:
            state = "failed" if fault else "untrusted"
            return self._file(folder, digest, state, fault or _UNTRUSTED)
        if digest == trusted:
            return self._file(folder, digest, "ready", "", copy)
        # Its language is that of what was trusted, whatever lies there now.
        folder = replace(folder, language=language_of(copy))
        return self._file(folder, digest, "changed", f"{_CHANGED} {fault}".rstrip(), copy)

    def _file(
        self,
        folder: ExtensionFolder,
        digest: str,
        state: ShelfState,
        reason: str,
        copy: Path | None = None,
    ) -> ExtensionFile:
        return ExtensionFile(
            name=folder.name,
            scope=folder.scope,
            language=folder.language,
            path=folder.path,
            digest=digest,
            state=state,
            reason=reason,
            copy=copy,
            on_host=folder.scope == "user" and folder.name in self.settings.on_host,
        )

    def _switched(self, file: ExtensionFile, *, is_off: bool) -> ExtensionFile:
        if not self.settings.enabled:
            return replace(file, state="disabled", reason=_OFF)
        return replace(file, state="disabled", reason=_DISABLED) if is_off else file

    def _digest(self, folder: ExtensionFolder) -> str:
        looks, real = survey(folder.path), os.path.realpath(folder.path)
        known = self._known.get(real)
        if known and known[0] == looks:
            return known[1]
        digest = read(folder.path).digest
        if looks.newest_ns + _COARSE_NS < time.time_ns() and survey(folder.path) == looks:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[real] = looks, digest
        return digest

    def _made_again(self, folder: ExtensionFolder, trusted: str) -> Path | None:
        """Somebody removed the copy of what is still there as it was trusted."""
        content = read(folder.path)
        return self.copies.keep(content) if content.digest == trusted else None


def _shadowed(found: Sequence[ExtensionFile]) -> Iterator[ExtensionFile]:
    """The nearest that runs has the name; the user's are the farthest."""
    running: set[str] = set()
    for one in found:
        if one.name in running and one.state != "disabled":
            yield replace(one, state="shadowed", reason=_SHADOWED)
            continue
        if one.scope == "project" and one.runs:
            running.add(one.name)
        yield one


def _bounded(folders: list[ExtensionFolder], trusted: Mapping[str, str]) -> list[ExtensionFolder]:
    """The trusted ones and as many others as one looks at; a crowd does not hide a guard."""
    if len(folders) <= _MOST_FOLDERS:
        return folders
    first = sorted(folders, key=lambda folder: folder.key not in trusted)
    looked_at = {folder.path for folder in first[:_MOST_FOLDERS]}
    return [folder for folder in folders if folder.path in looked_at]
