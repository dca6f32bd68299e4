"""What processes on one database call out to each other. A notice only wakes: it may be lost, and
what the database says is true."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

# What is called that is no stream: somebody asks, or answers; runs wait for a worker.
COMMANDS: Final = "commands"
ANSWERS: Final = "answers"
WORK: Final = "work"
# Tokens or sign-ins came or went.
ACCESS: Final = "access"
# A slot is free on some machine.
SLOTS: Final = "slots"
# Streams were deleted, of which other machines may have files.
DELETED: Final = "deleted"
# The head of a stream that is not there any more.
GONE: Final = -1
# PostgreSQL refuses 8,000 bytes and more.
_MOST_BYTES: Final = 7_900


@dataclass(frozen=True, slots=True)
class StreamNotice:
    """A stream has come to `head`; with `more`, something but deltas was said. What is no stream
    has the head 0."""

    name: str
    head: int
    more: bool

    def joined(self, earlier: "StreamNotice | None") -> "StreamNotice":
        """Both in one: the newest head, and whether there was more in either."""
        if earlier is None:
            return self
        return StreamNotice(self.name, self.head, self.more or earlier.more)


# What others called, in a thread of the line's. None: some of it may have been missed.
Heard = Callable[[Sequence[StreamNotice] | None], None]


class NoticeLine(ABC):
    """The line of one process."""

    # How often it came back.
    reconnects: int = 0

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def call(self, notices: Iterable[StreamNotice]) -> None:
        """Soon, without waiting; from any thread. Of one name only the newest is called."""

    @abstractmethod
    def close(self) -> None:
        """Calls what is left, and waits for it."""


def packed(notices: Iterable[StreamNotice]) -> Iterator[str]:
    """As few texts as they fit in."""
    together: list[str] = []
    size = 0
    for one in notices:
        said = f"{one.name}:{one.head}:{int(one.more)}"
        length = len(said.encode()) + 1
        if together and size + length > _MOST_BYTES:
            yield ",".join(together)
            together, size = [], 0
        together.append(said)
        size += length
    if together:
        yield ",".join(together)


def unpacked(text: str) -> Iterator[StreamNotice]:
    """What cannot be read is left out: a later version may say more."""
    for said in text.split(","):
        match said.split(":"):
            case [name, head, more, *_] if name and head.removeprefix("-").isdecimal():
                yield StreamNotice(name, int(head), more == "1")
            case _:
                pass
