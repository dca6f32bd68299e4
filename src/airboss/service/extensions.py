"""Extensions as people see them: listed, shown before somebody trusts one, created, turned off."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from airboss.errors import NotFound, WorkingDirectoryNotAbsolute
from airboss.extensions.content import Content, Unusable, read
from airboss.extensions.differences import ShownFile, content_of, difference_of, shown_files
from airboss.extensions.discovery import Language, Scope, key_of, shown
from airboss.extensions.shelf import ExtensionFile, Shelf
from airboss.extensions.skeletons import scaffold
from airboss.log.writer import now_ms
from airboss.model.audit_events import ExtensionChanged
from airboss.model.redaction import Redactor
from airboss.service.audit import Audit, actor
from airboss.service.folders import Folders


@dataclass(frozen=True)
class RunningExtension:
    """One process of an extension, in one session."""

    session: str
    state: str
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    # Why it does not run, or did not last time.
    reason: str = ""
    log: str = ""


@dataclass(frozen=True)
class ExtensionLook:
    """All that a person reads before trusting one. `difference` is a unified diff against what was
    trusted; empty where nothing was, or nothing has changed. `left_out` names the files of which
    that does not show all."""

    file: ExtensionFile
    files: tuple[ShownFile, ...]
    difference: str
    running: tuple[RunningExtension, ...] = ()
    left_out: tuple[str, ...] = ()


def _nobody(file: ExtensionFile) -> Sequence[RunningExtension]:
    del file
    return ()


@dataclass
class Extensions:
    """`running` tells which sessions run one."""

    shelf: Shelf
    folders: Folders
    redactor: Redactor
    audit: Audit | None = None
    announce: Callable[[], None] = lambda: None
    running: Callable[[ExtensionFile], Sequence[RunningExtension]] = _nobody

    async def list(self, cwd: str | None) -> tuple[ExtensionFile, ...]:
        """Those of this working folder: the project's and the user's."""
        place = await asyncio.to_thread(self._folder, cwd)
        return await self.shelf.found(place)

    async def show(self, cwd: str | None, scope: Scope, name: str) -> ExtensionLook:
        file = await self._find(cwd, scope, name)
        shown = await asyncio.to_thread(self._shown, file)
        return replace(shown, running=tuple(map(self._clean, self.running(file))))

    async def create(
        self, cwd: str | None, scope: Scope, name: str, language: Language
    ) -> ExtensionFile:
        """A skeleton that works. Nobody has trusted it yet."""
        where = await asyncio.to_thread(self._folder, cwd)
        await asyncio.to_thread(self._write, where, scope, name, language)
        found = await self._find(cwd, scope, name)
        await self._record("created", found)
        return found

    async def switch(
        self, cwd: str | None, scope: Scope, name: str, who: str, *, enabled: bool
    ) -> ExtensionFile:
        """For sessions that start, or reload, from now on. Twice is as good as once."""
        file = await self._find(cwd, scope, name)
        key = await asyncio.to_thread(key_of, file.path)
        if enabled:
            await self.shelf.disabled.remove(key)
        else:
            await self.shelf.disabled.add(key, who, now_ms())
        await self._record("enabled" if enabled else "disabled", file)
        return await self._find(cwd, scope, name)

    async def _find(self, cwd: str | None, scope: Scope, name: str) -> ExtensionFile:
        place = await asyncio.to_thread(self._folder, cwd)
        file = await self.shelf.find(place, scope, name)
        if file is None:
            raise NotFound(f"{scope} extension", name)
        return file

    def _folder(self, cwd: str | None) -> Path:
        if cwd is not None and not cwd.strip():
            raise WorkingDirectoryNotAbsolute("The working directory must be an absolute path.")
        return self.folders.check(cwd)

    def _write(self, cwd: Path, scope: Scope, name: str, language: Language) -> None:
        place = self.shelf.place_for(cwd, scope, name)
        scaffold(place, language)

    def _shown(self, file: ExtensionFile) -> ExtensionLook:
        try:
            content = read(file.path)
        except Unusable:  # its state says why
            return ExtensionLook(file, (), "")
        before, clean = content_of(file.copy), self.redactor.text
        told = difference_of(before or Content(()), content)
        files = tuple(
            replace(one, text=None if one.text is None else clean(one.text))
            for one in shown_files(content)
        )
        # What is shown and what is trusted are the same bytes.
        file = replace(file, digest=content.digest)
        diff = clean(told.text) if before is not None else ""
        left_out = told.left_out if before is not None else _not_shown(files)
        return ExtensionLook(file, files, diff, left_out=left_out)

    def _clean(self, one: RunningExtension) -> RunningExtension:
        clean = self.redactor.text
        return replace(one, reason=clean(one.reason), log=clean(one.log))

    async def _record(
        self, change: Literal["created", "enabled", "disabled"], file: ExtensionFile
    ) -> None:
        self.announce()
        if self.audit:
            await self.audit.write(
                ExtensionChanged(
                    by=actor(),
                    change=change,
                    name=file.name,
                    scope=file.scope,
                    path=shown(str(file.path)),
                )
            )


def _not_shown(files: Sequence[ShownFile]) -> tuple[str, ...]:
    return tuple(one.path for one in files if one.text is None)
