"""What a file gives: an entry, or why not. Nothing is remembered here, and nothing is installed."""

import asyncio
import contextlib
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from airboss.model.redaction import Redactor
from airboss.service.trust import Look, LookedFile, Trust, digest_of

if TYPE_CHECKING:
    from airboss.entry.document import Entry
    from airboss.entry.validate import Checked
    from airboss.entry.violations import Violation

_MOST_VIOLATIONS = 1000
_LARGEST_OUTPUT = 64 * 1024 * 1024
T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
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

    async def read(self, path: Path) -> Reading:
        from airboss.entry.load import read_content
        from airboss.entry.violations import EntryInvalid, EntryUnreadable

        try:
            content = await in_thread(lambda: read_content(path))
            digest = digest_of(content)
            trusted = await self.trust.covers(path, digest)
            if path.suffix.lower() == ".py" and not trusted:
                return self._untrusted(path, digest)
            checked = await self._check(path, content, digest)
        except EntryInvalid as error:
            return self._invalid(Reading(path), error.violations)
        except EntryUnreadable as error:
            return Reading(path, trouble=self.said(f"The entry cannot be used: {error}"))
        found = Reading(path, file_digest=digest, trusted=trusted)
        if checked.entry is None:
            return self._invalid(found, checked.violations)
        entry = await in_thread(lambda: self.without_secrets(checked.entry))
        return Reading(path, entry, digest, trusted)

    async def look(self, path: str) -> Look:
        """At what somebody may trust; secrets in it are not shown."""
        seen = await self.trust.look(path)

        def shown(file: LookedFile) -> LookedFile:
            return replace(file, text=self.said(file.text) if file.text else file.text)

        return await in_thread(lambda: replace(seen, files=tuple(map(shown, seen.files))))

    async def _check(self, path: Path, content: bytes, digest: str) -> "Checked":
        from airboss.entry.load import check_content
        from airboss.entry.places import SUFFIXES
        from airboss.entry.validate import check_entry
        from airboss.entry.violations import EntryUnreadable

        if path.suffix.lower() == ".py":
            data = await run_program(path, digest)
            return await in_thread(lambda: check_entry(data))
        if path.suffix.lower() not in SUFFIXES:
            raise EntryUnreadable(f"{path}: should be a .yaml, .json or .py file.")
        return await in_thread(lambda: check_content(path, content))

    def _untrusted(self, path: Path, digest: str) -> Reading:
        trouble = (
            f"{path} is a Python program, and nobody has trusted it as it is now. "
            f"Read it, then say `airboss trust {shlex.quote(str(path))}`."
        )
        return Reading(path, None, digest, False, self.said(trouble), needs_trust=True)

    def _invalid(self, found: Reading, violations: "tuple[Violation, ...]") -> Reading:
        told = self.told(violations)
        count = len(violations)
        line = f"line {told[0].line}: " if told[0].line is not None else ""
        many = "a mistake" if count == 1 else f"{count} mistakes, the first"
        trouble = f"The entry {found.path} has {many}: {line}{told[0]}"
        said = self.said(trouble)
        return Reading(found.path, None, found.file_digest, found.trusted, said, told, count)

    def told(self, violations: "tuple[Violation, ...]") -> "tuple[Violation, ...]":
        """In the order of the text, as many as somebody reads, and without secrets."""
        from airboss.entry.load import in_order_of_text

        clean = self.redactor.text
        return tuple(
            replace(
                told,
                where=clean(told.where),
                reason=clean(told.reason),
                hint=clean(told.hint) if told.hint else None,
                loc=(),
            )
            for told in in_order_of_text(violations)[:_MOST_VIOLATIONS]
        )

    def said(self, text: str) -> str:
        """A sentence that may leave the house."""
        from airboss.entry.violations import mended

        return mended(self.redactor.text(text))

    def without_secrets(self, entry: "Entry | None") -> "Entry | None":
        """What no agent is ever told need not be kept either."""
        if entry is None:
            return None
        body = entry.model_dump_json(by_alias=True, exclude_none=True)
        clean = self.redactor.text(body)
        return entry if clean == body else type(entry).model_validate_json(clean)


async def in_thread(work: Callable[[], T]) -> T:
    """In a thread of its own that nobody waits for at the end: a server stops within seconds, and a
    large file may take longer."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(give: Callable[[Any], None], what: object) -> None:
        if not done.done():
            give(what)

    def run() -> None:
        try:
            give, what = done.set_result, work()
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            give, what = done.set_exception, error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, give, what)

    threading.Thread(target=run, name="entry-reader", daemon=True).start()
    return await done


async def run_program(path: Path, digest: str, seconds: float | None = None) -> object:
    """What a trusted program exports. It ends with us, and leaves nothing running."""
    from airboss.entry import python_file

    limit = python_file.SECONDS if seconds is None else seconds
    wanted = python_file.program(path, digest)
    own_group: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}
    process = await asyncio.create_subprocess_exec(
        *wanted.words,
        env=wanted.environ,
        cwd=wanted.cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        **own_group,
    )
    try:
        async with asyncio.timeout(limit):
            output = await _output(process)
            code = await process.wait()
    except TimeoutError:
        raise python_file.unended(limit) from None
    finally:
        _kill(process)
        await process.wait()
    return await in_thread(lambda: python_file.told_entry(output, code))


async def _output(process: asyncio.subprocess.Process) -> bytes:
    found = bytearray()
    if process.stdout is not None:
        while len(found) <= _LARGEST_OUTPUT and (part := await process.stdout.read(65536)):
            found += part
    return bytes(found)


def _kill(process: asyncio.subprocess.Process) -> None:
    """With all that it started and that stayed in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
