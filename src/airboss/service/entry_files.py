"""What a file gives: an entry, or why not. Nothing is remembered here, and nothing is installed."""

import asyncio
import os
import shlex
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from airboss.entry.places import SUFFIXES, own_entries
from airboss.errors import Invalid
from airboss.model.redaction import Redactor
from airboss.programs import APART, end_group, hear_the_rest
from airboss.service.entry_reader import EntryReader, in_thread
from airboss.service.installed import redacted
from airboss.service.trust import Look, LookedFile, Trust, digest_of, whole_path

if TYPE_CHECKING:
    from airboss.entry.document import Entry
    from airboss.entry.found import FoundViolations
    from airboss.entry.violations import Violation, Writing
    from airboss.store.entries import TrustRow

# What tells files from those that were read: where, when, how large, which.
FilePrints: TypeAlias = tuple[tuple[str, int, int, int, int], ...]


@dataclass(frozen=True)
class FileReading:
    """What was found in one file. `trouble` says, where there is no entry, why not."""

    path: Path
    entry: "Entry | None" = None
    file_digest: str = ""
    trusted: bool = False
    trouble: str = ""
    violations: "tuple[Violation, ...]" = ()
    # How many there are, when not all of them are told.
    mistakes: int = 0
    # A program that nobody has trusted, as it is now.
    needs_trust: bool = False


@dataclass(frozen=True)
class EntryFiles:
    """Reads entries off the event loop. The language is imported when the first one is read."""

    trust: Trust
    redactor: Redactor
    reader: EntryReader = field(default_factory=EntryReader)

    async def read(self, path: Path, *, quotes: bool = False) -> FileReading:
        """`quotes`: mistakes come with the lines around them."""
        from airboss.entry.load import read_content
        from airboss.entry.violations import EntryInvalid, EntryUnreadable

        content = b""
        try:
            content = await in_thread(lambda: read_content(path))
            digest = digest_of(content)
            trusted = await self.trust.covers(path, digest)
            if path.suffix.lower() == ".py" and not trusted:
                return self._untrusted(path, digest)
            found = await self._find(path, content, digest)
        except EntryInvalid as error:
            recorded = await self._shown(path, content if quotes else b"", error.violations)
            return self._invalid(FileReading(path), recorded, len(error.violations))
        except EntryUnreadable as error:
            return FileReading(path, trouble=self.said(f"The entry cannot be used: {error}"))
        if found.entry is None:
            what = (
                FileReading(path) if found.is_unparsed else FileReading(path, None, digest, trusted)
            )
            recorded = await self._shown(path, content if quotes else b"", found.violations)
            return self._invalid(what, recorded, found.mistakes)
        entry = await in_thread(lambda: self._cleaned(found.entry, path))
        trusted = trusted and await self.is_trusted(path, digest, entry)
        return FileReading(path, entry, digest, trusted)

    async def is_trusted(self, path: Path, digest: str, entry: "Entry | None") -> bool:
        """With all that it names beside itself."""
        from airboss.service.named_files import first_untrusted, named_files

        if not await self.trust.covers(path, digest):
            return False
        try:
            folder = path.parent
            files = await in_thread(lambda: named_files(entry, folder) if entry else [])
        except Invalid:
            return False
        return await first_untrusted(self.trust, files) is None

    async def named_by(self, text: str) -> list[Path]:
        """The files that an entry names, which are trusted with it. Those of a program are known
        when it is trusted itself."""
        from airboss.service.named_files import named_files

        path = await in_thread(lambda: Path(os.path.realpath(whole_path(text))))
        found: dict[Path, None] = {}
        for file in await in_thread(lambda: own_entries(path) if path.is_dir() else [path]):
            if file.suffix.lower() in SUFFIXES and (entry := (await self.read(file)).entry):
                named = partial(named_files, entry, file.parent)
                found |= dict.fromkeys(await in_thread(named))
        return list(found)

    def _cleaned(self, entry: "Entry | None", path: Path) -> "Entry | None":
        from airboss.service.named_files import with_whole_paths

        clean = self.without_secrets(entry)
        return clean and with_whole_paths(clean, path.absolute().parent)

    async def look(self, path: str) -> Look:
        """At what somebody may trust; secrets in it are not shown."""
        seen = await self.trust.look(path, await self.named_by(path))

        def shown(file: LookedFile) -> LookedFile:
            return replace(file, text=self.said(file.text) if file.text else file.text)

        def clean() -> Look:
            extensions = (
                replace(one, files=tuple(map(shown, one.files))) for one in seen.extensions
            )
            files = tuple(map(shown, seen.files))
            return replace(seen, files=files, extensions=tuple(extensions))

        return await in_thread(clean)

    async def add_trust(self, path: str, digest: str, who: str) -> "list[TrustRow]":
        return await self.trust.add(path, digest, who, await self.named_by(path))

    async def _find(self, path: Path, content: bytes, digest: str) -> "FoundViolations":
        from airboss.entry.load import format_of

        if path.suffix.lower() == ".py":
            output, code = await run_program(path, digest)
            return await self.reader.find(output, "program", code)
        return await self.reader.find(content, format_of(path, content))

    def _untrusted(self, path: Path, digest: str) -> FileReading:
        trouble = (
            f"{path} is a Python program, and nobody has trusted its current version. "
            f"Read it, then run `airboss trust {shlex.quote(str(path))}`."
        )
        return FileReading(path, None, digest, False, self.said(trouble), needs_trust=True)

    def _invalid(
        self, found: FileReading, recorded: "tuple[Violation, ...]", count: int
    ) -> FileReading:
        line = f"line {recorded[0].line}: " if recorded[0].line is not None else ""
        many = "an error" if count == 1 else f"{count} errors, the first"
        trouble = f"The entry {found.path} has {many}: {line}{recorded[0]}"
        said = self.said(trouble)
        return FileReading(
            found.path, None, found.file_digest, found.trusted, said, recorded, count
        )

    async def _shown(
        self, path: Path, content: bytes, violations: "tuple[Violation, ...]"
    ) -> "tuple[Violation, ...]":
        from airboss.entry.load import writing_of

        def look() -> "tuple[Violation, ...]":
            text = content.decode("utf-8-sig", "replace")
            return self.shown(violations, text, writing_of(path))

        return await in_thread(look)

    def shown(
        self,
        violations: "tuple[Violation, ...]",
        text: str = "",
        writing: "Writing" = "yaml",
    ) -> "tuple[Violation, ...]":
        """In the order of the text, as many as somebody reads, with the lines around the first of
        them where there is a text, and without secrets."""
        from airboss.entry.excerpts import with_excerpts
        from airboss.entry.found import MOST_VIOLATIONS
        from airboss.entry.violations import in_order_of_text

        clean = self.redactor.text
        told = tuple(
            replace(
                said,
                where=clean(said.where),
                reason=clean(said.reason),
                hint=clean(said.hint) if said.hint else None,
                advice=clean(said.advice) if said.advice else None,
                example=clean(said.example) if said.example else None,
                loc=(),
            )
            for said in in_order_of_text(violations)[:MOST_VIOLATIONS]
        )
        return with_excerpts(told, text, writing, self.redactor.places) if text else told

    def said(self, text: str) -> str:
        """A sentence that may leave the house."""
        from airboss.entry.violations import without_halves

        return without_halves(self.redactor.text(text))

    def without_secrets(self, entry: "Entry | None") -> "Entry | None":
        """What no agent is ever told need not be kept either."""
        return entry and redacted(entry, self.redactor.text)


async def run_program(
    path: Path, digest: str, seconds: float | None = None
) -> tuple[bytes, int | None]:
    """What a trusted program wrote, and its exit code. It ends with us, and leaves nothing
    running."""
    from airboss.entry import python_file

    limit = python_file.SECONDS if seconds is None else seconds
    wanted = python_file.program(path, digest)
    process = await asyncio.create_subprocess_exec(
        *wanted.words,
        env=wanted.environ,
        cwd=wanted.cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        **APART,
    )
    try:
        async with asyncio.timeout(limit):
            output = await _output(process)
            code = await process.wait()
    except TimeoutError:
        raise python_file.unended(limit) from None
    finally:
        end_group(process)
        await hear_the_rest(process)
        await process.wait()
    return output, code


async def _output(process: asyncio.subprocess.Process) -> bytes:
    """All of it: what is longer than an entry may be is told to be."""
    from airboss.entry.load import MAX_BYTES
    from airboss.entry.python_file import too_long

    found = bytearray()
    if process.stdout is not None:
        while part := await process.stdout.read(65536):
            found += part
            if len(found) > MAX_BYTES:
                raise too_long(MAX_BYTES)
    return bytes(found)


def prints_of(files: list[Path]) -> FilePrints:
    found: list[tuple[str, int, int, int, int]] = []
    for file in files:
        try:
            said = os.stat(file)
        except (OSError, ValueError):
            found.append((os.fspath(file), 0, 0, 0, 0))
            continue
        times = (said.st_mtime_ns, said.st_ctime_ns)
        found.append((os.fspath(file), *times, said.st_size, said.st_ino))
    return tuple(found)
