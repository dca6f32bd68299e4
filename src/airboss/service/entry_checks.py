"""What one may ask about entries: check a text or a file, install one, and seed 001's test call."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from airboss.errors import AirbossError, Conflict, Invalid, TooLarge
from airboss.model.cage_bounds import ServerCages
from airboss.service.entries import Entries
from airboss.service.entry_files import FileReading
from airboss.service.entry_reader import in_thread
from airboss.service.folder_files import lies_with_secrets
from airboss.service.installed import Installed
from airboss.service.trust import digest_of, whole_path

if TYPE_CHECKING:
    from airboss.entry.document import Entry
    from airboss.entry.draft import Draft
    from airboss.entry.violations import Violation

_DOCUMENT = Path("entry")


@dataclass(frozen=True)
class Checkup:
    """Everything that is wrong with an entry, and which of its requests would not be granted."""

    violations: "tuple[Violation, ...]"
    # How many there are, when not all of them are told.
    mistakes: int
    ungranted: tuple[str, ...]
    trusted: bool
    tasks: int
    jobs: int


@dataclass(frozen=True)
class InstallResult:
    """Seed 001's words for what became of an entry."""

    result: Literal["OK", "InvalidatePath", "InvalidateEntry", "Rejected"]
    error: str | None = None


@dataclass(frozen=True)
class EntryChecks:
    """Reads whatever somebody brings. Python runs only where a person has trusted that file."""

    entries: Entries

    async def check_text(self, text: str, form: Literal["json", "yaml"]) -> Checkup:
        from airboss.entry.violations import EntryInvalid

        # JSON may bring halves of characters: they are refused where the text is read.
        content = text.encode("utf-8", "surrogatepass")
        try:
            found = await self.entries.files.reader.find(content, form)
        except EntryInvalid as error:
            recorded = await self._shown(error.violations, text, form)
            return await self._checkup(None, recorded, len(error.violations))
        recorded = await self._shown(found.violations, text, form)
        return await self._checkup(found.entry, recorded, found.mistakes)

    async def _shown(
        self, violations: "tuple[Violation, ...]", text: str, form: Literal["json", "yaml"]
    ) -> "tuple[Violation, ...]":
        return await in_thread(lambda: self.entries.files.shown(violations, text, form))

    async def check_draft(
        self, text: str, form: Literal["json", "yaml"]
    ) -> "tuple[Draft, tuple[str, ...]]":
        """What is known of a text that somebody is writing, and which of its requests would not be
        granted."""
        from airboss.entry.bounds import not_granted
        from airboss.entry.draft import Draft, cleaned
        from airboss.entry.load import MAX_BYTES
        from airboss.entry.violations import EntryInvalid

        files = self.entries.files
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > MAX_BYTES:
            raise TooLarge(f"An entry has up to {MAX_BYTES >> 20} MiB.")
        try:
            found = await files.reader.draft(content, form)
        except EntryInvalid as error:
            found = Draft(error.violations, len(error.violations))

        def told() -> "tuple[Draft, tuple[str, ...]]":
            draft = cleaned(found, files.redactor.text)
            shown = files.shown(draft.violations, text, form)
            settings = self.entries.settings
            wider = not_granted(
                draft.requests, settings.permissions, settings.session, ServerCages.of(settings)
            )
            said = (files.said(str(request)) for request in wider)
            return replace(draft, violations=shown), tuple(said)

        return await in_thread(told)

    async def check_path(self, text: str) -> Checkup:
        reading = await self._read(text)
        if reading.entry is None and not reading.violations:
            raise Invalid(reading.trouble)
        return await self._checkup(
            reading.entry, reading.violations, reading.mistakes, trusted=reading.trusted
        )

    async def _checkup(
        self,
        entry: "Entry | None",
        violations: "tuple[Violation, ...]",
        mistakes: int,
        *,
        trusted: bool = False,
    ) -> Checkup:
        from airboss.entry.bounds import ungranted

        def look() -> Checkup:
            if entry is None:
                return Checkup(violations, mistakes, (), trusted, 0, 0)
            server = self.entries.settings
            wished = ungranted(
                entry, server.permissions, session=server.session, cages=ServerCages.of(server)
            )
            requests = () if trusted else tuple(wished)
            texts = tuple(self.entries.files.said(str(request)) for request in requests)
            return Checkup((), 0, texts, trusted, len(entry.tasks), len(entry.jobs))

        return await in_thread(look)

    async def install_path(self, text: str) -> Installed:
        return await self._install(await self._read(text))

    async def install_request(self, body: bytes) -> Installed:
        """`{"entry": …}`, as somebody sent it: an entry may be large, and is parsed where that
        holds nobody up."""
        files = self.entries.files
        found = await files.reader.find(body, "request")
        entry = await in_thread(lambda: files.without_secrets(found.entry))
        recorded = files.shown(found.violations)
        return await self._install(FileReading(_DOCUMENT, entry, violations=recorded))

    async def _install(self, reading: FileReading) -> Installed:
        from airboss.entry.violations import EntryInvalid

        if reading.violations:
            raise EntryInvalid(reading.violations)
        if reading.entry is None:
            raise Invalid(reading.trouble)
        return await self.entries.install(reading, "api")

    async def _read(self, text: str) -> FileReading:
        path = whole_path(text)
        roots = self.entries.folders.roots
        if not await in_thread(lambda: _is_inside(path, roots)):
            allowed = ", ".join(str(root) for root in roots)
            raise Invalid(f"{path} is outside the folders where agents may work ({allowed}).")
        if await in_thread(lambda: self._is_closed(path)):
            raise Invalid(f"{path} lies where secrets are kept.")
        return await self.entries.files.read(path, quotes=await self.entries.may_quote(path))

    def _is_closed(self, path: Path) -> bool:
        """What is wrong with a file tells the names in it. The project's own entry is read anyway,
        wherever it lies."""
        if self.entries.may_quote_here(path):
            return False
        folders, real = self.entries.folders, Path(os.path.realpath(path))
        roots = [root for root in folders.roots if real.is_relative_to(root)]
        return all(lies_with_secrets(real, root, folders.protected) for root in roots)

    async def install_for_test(self, text: str) -> InstallResult:
        """Seed 001's `installJobsEntry`: path, then entry, then whether it may be installed."""
        from airboss.entry.load import format_of, read_content

        files = self.entries.files
        try:
            path = await in_thread(lambda: self._test_file(text))
            content = await in_thread(lambda: read_content(path))
            found = await files.reader.find(content, format_of(path, content))
        except AirbossError as error:
            return InstallResult("InvalidatePath", files.said(str(error)))
        if found.entry is None:
            result = "InvalidatePath" if found.is_unparsed else "InvalidateEntry"
            return InstallResult(result, files.said(found.first))
        entry = await in_thread(lambda: files.without_secrets(found.entry))
        try:
            await self.entries.install(FileReading(path, entry, digest_of(content)), "test")
        except Conflict as error:
            return InstallResult("Rejected", str(error))
        return InstallResult("OK")

    def _test_file(self, text: str) -> Path:
        """The real path of a JSON file in the test folder; links do not lead out of it."""
        path = whole_path(text)
        folder = self.entries.settings.test_folder or self.entries.folders.repo_root / "tests"
        if not _is_inside(path, (folder,)):
            raise Invalid(f"{path} is not in the test folder {folder}.")
        real = Path(os.path.realpath(path))
        if real.suffix.lower() != ".json":
            raise Invalid(f"{path} is not a .json file.")
        return real


def _is_inside(path: Path, folders: tuple[Path, ...]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)
