"""Reads an entry in a process of its own: in bounded time and memory, whatever somebody wrote."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from airboss.entry.found import Form, FoundViolations, find, taken_up, written
from airboss.entry.load import Format
from airboss.entry.python_file import our_program
from airboss.entry.violations import ROOT, EntryUnparsed, Violation
from airboss.tuning import unsearched

# What is smaller, and has no more parts than that, costs so little that nobody needs a process.
SMALL_BYTES: Final = 64 * 1024
SMALL_PARTS: Final = 20_000
SMALL_CHARACTERS: Final = 1_000_000

DRAFT: Final = "draft"

_NO_MEMORY: Final = 17
_STOPPED_FOR_TIME: Final = (-getattr(signal, "SIGXCPU", 24),)
# A library that gets none aborts; and where the machine has none, its kernel kills.
_STOPPED_FOR_MEMORY: Final = (_NO_MEMORY, -signal.SIGABRT, -getattr(signal, "SIGKILL", 9))


@dataclass(frozen=True)
class ReadingBounds:
    """Of computing time, and of memory."""

    seconds: int
    mebibytes: int

    @property
    def patience(self) -> float:
        """So long somebody waits: on a busy machine computing takes longer."""
        return 3.0 * self.seconds


# What 8 MiB of anything need: at most 25 s and 1.3 GiB were seen.
ORDINARY: Final = ReadingBounds(60, 2048)
# Of what a server has used before, and is to use again, however large it is.
STORED: Final = ReadingBounds(600, 16 * 1024)


def command(
    form: Form, bounds: ReadingBounds, code: int | None = None, *, is_draft: bool = False
) -> tuple[list[str], dict[str, str]]:
    """How the process is started, and in which environment. It reads the text from its input."""
    asked = DRAFT if is_draft else "" if code is None else code
    words = (form, bounds.seconds, bounds.mebibytes, asked)
    return our_program("airboss.entry.apart", *map(str, words))


def found_by(output: bytes, code: int | None, bounds: ReadingBounds) -> FoundViolations:
    """What the process found, or why it found nothing."""
    must_have_ended(code, bounds)
    return taken_up(output)


def must_have_ended(code: int | None, bounds: ReadingBounds) -> None:
    """By itself, and with an answer."""
    if code == 0:
        return
    if code in _STOPPED_FOR_TIME:
        raise too_slow(bounds)
    if code in _STOPPED_FOR_MEMORY:
        raise _unread(f"Needs more than {bounds.mebibytes:,} MiB of memory to be read")
    raise EntryUnparsed([Violation(ROOT, f"Cannot be read: its reader ended with {code}.")])


def too_slow(bounds: ReadingBounds) -> EntryUnparsed:
    return _unread(f"Takes more than {bounds.seconds} seconds to be read")


def _unread(reason: str) -> EntryUnparsed:
    advice = "Make it smaller, or write it with fewer aliases and `<<`."
    return EntryUnparsed([Violation(ROOT, f"{reason}. {advice}")])


def _limit(bounds: ReadingBounds) -> None:
    if sys.platform == "win32":
        return
    import resource

    memory = bounds.mebibytes * 1024 * 1024
    limits = (
        (resource.RLIMIT_CPU, bounds.seconds, bounds.seconds + 2),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for what, soft, hard in limits:
        with contextlib.suppress(ValueError, OSError):  # it has less already, or has no such limit
            resource.setrlimit(what, (soft, hard))


def _answer(content: bytes, form: Form, asked: str) -> Iterator[bytes]:
    if asked != DRAFT:
        yield from written(find(content, form, code=int(asked) if asked else None))
        return
    from airboss.entry import draft

    yield draft.written(draft.find_draft(content, cast("Format", form)))


def main(given: BinaryIO, output: BinaryIO) -> int:
    form, seconds, mebibytes, code = sys.argv[1:5]
    _limit(ReadingBounds(int(seconds), int(mebibytes)))
    try:
        with unsearched():
            for line in _answer(given.read(), cast("Form", form), code):
                output.write(line)
        output.flush()
    except MemoryError:
        return _NO_MEMORY
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
