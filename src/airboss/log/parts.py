"""Deltas of open blocks, where a database keeps those of a batch as one row: nothing of them is
shown before it is there, so that none is lost that somebody has read."""

import json
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sqlalchemy import Connection, select

from airboss.log.marks import Marks
from airboss.model.events import (
    EVENT,
    BlockDelta,
    MessageDelta,
    ReasoningDelta,
    Recorded,
    ToolDelta,
)
from airboss.store.dialect import Part
from airboss.store.machine_tables import parts

Delta: TypeAlias = MessageDelta | ReasoningDelta | ToolDelta
# A delta at its place.
Said: TypeAlias = tuple[Recorded, Delta]

DELTAS: Final[Mapping[str, type[Delta]]] = {
    "reasoning.delta": ReasoningDelta,
    "message.delta": MessageDelta,
    "tool.delta": ToolDelta,
}

_as_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_COLUMNS: Final = [column for column in parts.columns if column is not parts.c.stream]


@dataclass(frozen=True, slots=True)
class KeptPart:
    """Neighbouring deltas of a block, as they were written. `seq` is the last one's; where each of
    them begins in the text is in `places`, counted from the block's beginning."""

    seq: int
    first: int
    at: int
    kind: str
    block: str
    text: str
    places: "array[int]"

    @property
    def marks(self) -> Marks:
        base = self.places[0]
        ends = array("Q", [*self.places[1:], base + len(self.text)])
        return Marks(base, array("Q", range(self.first, self.seq + 1)), ends)

    def behind(self, seq: int) -> Recorded:
        """What a reader at `seq` lacks of it: never nothing."""
        base = self.places[0]
        said = self.places[max(0, seq + 1 - self.first)]
        rest = self.text[said - base :]
        delta = DELTAS[self.kind](block=self.block, offset=said, text=rest)
        return Recorded.of(self.seq, self.at, delta)


def parts_of(stream: str, deltas: Iterable[Said]) -> list[Part]:
    """The rows of these deltas, in their order: of those that follow each other in a block, one."""
    rows: list[Part] = []
    together: list[Said] = []
    for said in deltas:
        if together and not _follows(together[-1], said):
            rows.append(_row(stream, together))
            together = []
        together.append(said)
    if together:
        rows.append(_row(stream, together))
    return rows


def parts_of_rows(stream: str, rows: Iterable[tuple[int, int, str]]) -> list[Part]:
    """The same of deltas that another database has as rows of their own: seq, time and body."""
    said = [(Recorded(seq, at, body), EVENT.validate_json(body)) for seq, at, body in rows]
    return parts_of(stream, [(one, delta) for one, delta in said if isinstance(delta, BlockDelta)])


def _follows(last: Said, said: Said) -> bool:
    (before, earlier), (recorded, delta) = last, said
    return (
        recorded.seq == before.seq + 1
        and delta.block == earlier.block
        and delta.kind == earlier.kind
        and delta.offset == earlier.offset + len(earlier.text)
    )


def _row(stream: str, deltas: Sequence[Said]) -> Part:
    (first, begin), (last, _) = deltas[0], deltas[-1]
    places = array("Q", [delta.offset for _, delta in deltas])
    # As JSON: a tool may say a character that the database keeps in no other way.
    text = _as_json("".join([delta.text for _, delta in deltas]))
    return (stream, last.seq, first.seq, last.at, begin.kind, begin.block, text, places.tobytes())


def kept_parts(
    connection: Connection,
    stream: str,
    after: int,
    limit: int | None = None,
    blocks: Collection[str] | None = None,
) -> list[KeptPart]:
    """Those that have something behind `after`, of these blocks or of all."""
    wanted = select(*_COLUMNS).where(parts.c.stream == stream, parts.c.seq > after)
    if blocks is not None:
        wanted = wanted.where(parts.c.block.in_(blocks))
    return [kept(*row) for row in connection.execute(wanted.order_by(parts.c.seq).limit(limit))]


def kept(seq: int, first: int, at: int, kind: str, block: str, text: str, marks: bytes) -> KeptPart:
    """Of a row without its stream."""
    places = array("Q")
    places.frombytes(marks)
    return KeptPart(seq, first, at, kind, block, json.loads(text), places)
