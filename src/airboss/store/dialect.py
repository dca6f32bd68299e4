"""What databases say differently. Whoever writes SQL asks here, and knows none of them by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from sqlalchemy import ColumnElement, Connection, Insert, Table

from airboss.store.view_rows import ViewRow

if TYPE_CHECKING:
    from airboss.store.search import LookIn, SearchHit

# The columns of `events`, in their order.
Row = tuple[str, int, int, str, str, str | None, str | None, int | None, bytes | None]
# The start of a block: its stream and seq.
Start = tuple[str, int]
# Where an event comes from: its stream, the origin, its seq.
Origin = tuple[str, str, int]
# Rows of a stream that others take the place of: from this seq to that.
Span = tuple[str, int, int]
# The columns of `parts`, in their order.
Part = tuple[str, int, int, int, str, str, str, bytes]


class EventRow(Protocol):
    """A row of `events` that was read."""

    stream: str
    seq: int
    at: int
    kind: str
    body: str
    role: str | None
    block: str | None
    end_seq: int | None
    marks: bytes | None


@dataclass(frozen=True, slots=True)
class NewsRows:
    """What a database has of several streams behind a seq of each; in no order."""

    # How far each has come, with the kind and text of its view where that is newer.
    states: Mapping[str, tuple[int, str | None, str | None]]
    # Only of those that are not too far behind.
    events: Sequence[EventRow]
    parts: Sequence[Part]


# Of a stream that everybody may write in, while its row is locked.
SHARED_EPOCH: Final = 0


class Fenced(Exception):
    """Somebody else has this stream, or this worker counts as lost, which is its `own end`: nothing
    was written."""

    def __init__(self, said: str, *, is_own_end: bool = False) -> None:
        super().__init__(said)
        self.is_own_end = is_own_end


@dataclass(frozen=True, slots=True)
class Growth:
    """How far a batch takes a stream: from its first new seq to its last. `epoch` is the one in
    which its owner holds it; none where the stream is new."""

    stream: str
    first: int
    last: int
    bytes: int
    epoch: int | None = None
    # How far its owner knows it to have come before.
    committed: int = 0


@dataclass(frozen=True, slots=True)
class Append:
    """All that is written in one transaction of the log, or nothing of it."""

    worker: str
    growths: Sequence[Growth]
    rows: Sequence[Row]
    replaced: Sequence[Span] = ()
    parts: Sequence[Part] = ()
    opened: Sequence[Start] = ()
    closed: Sequence[Start] = ()
    origins: Sequence[Origin] = ()
    views: Sequence[ViewRow] = ()


# In what is known of a connection: of its transaction nothing has to be proven any more.
_PROVEN: Final = "proven"


def is_proven(connection: Connection) -> bool:
    """Whether this transaction has seen that its worker lives, and keeps it so until its end; or
    writes nothing. Databases that no other machine writes in do not ask."""
    return bool(connection.info.get(_PROVEN))


def note_proven(connection: Connection, *, proven: bool = True) -> None:
    connection.info[_PROVEN] = proven


def keeps_parts(connection: Connection) -> bool:
    """Whether deltas of open blocks are in `parts`, and not among the events."""
    return bool(connection.get_execution_options().get("keeps_parts"))


class Dialect(ABC):
    """One of them."""

    name: ClassVar[str]
    # Whether neighbouring deltas of a batch are one row of `parts`, and shown when that is there.
    keeps_parts: ClassVar[bool]
    # Whether several machines have rows here, each its own.
    has_places: ClassVar[bool]

    def add(self, table: Table, values: Mapping[str, Any]) -> Insert:
        """A row, unless it is there."""
        return self._insert(table).values(values).on_conflict_do_nothing()

    def put(self, table: Table, keys: Sequence[str], values: Mapping[str, Any]) -> Insert:
        """A row, in the place of the one with the same keys."""
        others = {name: value for name, value in values.items() if name not in keys}
        put = self._insert(table).values(values)
        return put.on_conflict_do_update(index_elements=list(keys), set_=others)

    def putting(self, table: Table, keys: Sequence[str], names: Collection[str]) -> Insert:
        """As `put`, for rows with these columns that are given when it is executed: for what is
        said so often that to build it anew each time counts."""
        return _putting(self._insert, table, tuple(keys), tuple(names))

    @abstractmethod
    def _insert(self, table: Table) -> Any:
        """Which can say what happens to a row that is there. Both databases say it alike, and
        SQLAlchemy has two classes for it."""

    @abstractmethod
    def holds(self, text: ColumnElement[str], part: str) -> ColumnElement[bool]:
        """Whether this text has that part, letter for letter."""

    @abstractmethod
    def append(self, connection: Connection, batch: Append) -> None:
        """Raises `Fenced` where somebody else may write, or has written, in one of the streams. An
        origin that has said something is refused by the table's key."""

    def news(self, connection: Connection, places: Mapping[str, int], most: int) -> NewsRows:
        """What was said behind these seqs, in streams that have come at most so much further. Only
        where several processes share a database."""
        raise NotImplementedError

    @abstractmethod
    def used_bytes(self, connection: Connection) -> int:
        """How much of the store is in use: what was deleted leaves room in it."""

    @abstractmethod
    def look_for(
        self,
        connection: Connection,
        words: Sequence[str],
        before: int,
        limit: int,
        where: "LookIn",
    ) -> "tuple[list[SearchHit], int | None]":
        """Texts with all of these words, or with words that begin so, newest first; and where the
        next page begins. Raises `TooMuch` where it takes too long."""


@lru_cache(maxsize=32)
def _putting(
    insert: Callable[[Table], Any], table: Table, keys: tuple[str, ...], names: tuple[str, ...]
) -> Insert:
    put = insert(table)
    others = {name: put.excluded[name] for name in names if name not in keys}
    return put.on_conflict_do_update(index_elements=list(keys), set_=others)
