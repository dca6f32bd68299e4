"""Reads entries beside everything else: what is small in a thread, all else in a process of its
own. Neither time nor memory of it is the event loop's."""

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from airboss.programs import hear_the_rest
from airboss.tuning import making_what_stays

if TYPE_CHECKING:
    from airboss.entry.apart import ReadingBounds
    from airboss.entry.document import Entry, Task
    from airboss.entry.draft import Draft
    from airboss.entry.found import Form, FoundViolations
    from airboss.entry.load import Format

T = TypeVar("T")

# Each may take gigabytes; whoever comes later waits.
_AT_ONCE = 2
# Of those that are stored. Each view of a run of an earlier entry asks for it twice.
_KEPT = 2


@dataclass(frozen=True)
class EntryReader:
    """The language is imported when the first entry is read."""

    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    # Read last, by the digest of the text; the latest is the last.
    _stored: "dict[bytes, Entry]" = field(default_factory=dict[bytes, "Entry"])

    async def find(
        self, content: bytes, form: "Form", code: int | None = None
    ) -> "FoundViolations":
        """What is in an entry's text; EntryUnparsed where that takes too much to be known."""
        from airboss.entry import apart

        if len(content) <= apart.SMALL_BYTES:
            small = await in_thread(lambda: _small(content, form, code))
            if small is not None:
                return small
        return await self._apart(content, form, apart.ORDINARY, code)

    async def draft(self, content: bytes, form: "Format") -> "Draft":
        """What is known of a text that somebody is writing; EntryUnparsed where that takes too
        much."""
        from airboss.entry import apart, draft

        if len(content) <= apart.SMALL_BYTES:
            small = await in_thread(lambda: _small_draft(content, form))
            if small is not None:
                return small
        words, environ = apart.command(form, apart.ORDINARY, is_draft=True)
        output, ended = await self._run_apart(words, environ, content, apart.ORDINARY)
        apart.must_have_ended(ended, apart.ORDINARY)
        return await in_thread(lambda: draft.taken_up(output))

    async def stored(self, body: str) -> "Entry":
        """One that a server used before, however large it is."""
        digest = hashlib.sha256(body.encode()).digest()
        entry = self._stored.pop(digest, None) or await self._read(body)
        self._stored[digest] = entry
        while len(self._stored) > _KEPT:
            del self._stored[next(iter(self._stored))]
        return entry

    async def _read(self, body: str) -> "Entry":
        from airboss.entry import apart

        found = (
            await in_thread(lambda: _small(body.encode(), "stored", None))
            if len(body) <= apart.SMALL_BYTES
            else await self._apart(body.encode(), "stored", apart.STORED, None)
        )
        if found is None or found.entry is None:
            raise ValueError("What is stored is an entry.")
        return found.entry

    async def _apart(
        self, content: bytes, form: "Form", bounds: "ReadingBounds", code: int | None
    ) -> "FoundViolations":
        from airboss.entry import apart

        words, environ = apart.command(form, bounds, code)
        output, ended = await self._run_apart(words, environ, content, bounds)
        return await in_thread(lambda: _unsearched(lambda: apart.found_by(output, ended, bounds)))

    async def _run_apart(
        self, words: list[str], environ: dict[str, str], content: bytes, bounds: "ReadingBounds"
    ) -> tuple[bytes, int | None]:
        from airboss.entry import apart

        async with self._turns:
            try:
                async with asyncio.timeout(bounds.patience):
                    return await _run(words, environ, content)
            except TimeoutError:
                raise apart.too_slow(bounds) from None


def _unsearched(work: Callable[[], T]) -> T:
    """An entry. To look through all of it for garbage, again and again, would hold the event loop
    up for 200 ms each time where it is large."""
    with making_what_stays():
        return work()


def _small(content: bytes, form: "Form", code: int | None) -> "FoundViolations | None":
    """Nothing, where a small text becomes something large."""
    from airboss.entry import apart
    from airboss.entry.found import find
    from airboss.entry.shape import TooManyParts

    try:
        found = find(content, form, apart.SMALL_PARTS, code)
    except TooManyParts:
        return None
    tasks = found.entry.tasks.values() if found.entry else ()
    is_small = sum(_characters(task) for task in tasks) <= apart.SMALL_CHARACTERS
    return found if is_small else None


def _small_draft(content: bytes, form: "Format") -> "Draft | None":
    from airboss.entry import apart
    from airboss.entry.draft import find_draft
    from airboss.entry.shape import TooManyParts

    try:
        return find_draft(content, form, apart.SMALL_PARTS)
    except TooManyParts:
        return None


def _characters(task: "Task") -> int:
    """Of all its prompts, whose variables multiply."""
    before, after = task.availability, task.criteria
    more = [before.condition] if before else []
    more += [after.condition, after.failure_action.additional_prompt] if after else []
    return sum(len(line) for prompt in (task.prompt, *more) for line in prompt or ())


async def _run(words: list[str], environ: dict[str, str], given: bytes) -> tuple[bytes, int | None]:
    """It ends with us, and leaves nothing running."""
    process = await asyncio.create_subprocess_exec(
        *words,
        env=environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await process.communicate(given)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await hear_the_rest(process)
        await process.wait()
    return output, process.returncode


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
