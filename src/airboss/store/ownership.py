"""Who may write in a stream: the worker that owns it, in the epoch in which it came to own it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, select, text, update

from airboss.store.dialect import (
    SHARED_EPOCH,
    Append,
    Fenced,
    Growth,
    keeps_parts,
    note_proven,
)
from airboss.store.machine_tables import workers
from airboss.store.tables import events, streams

NOT_WRITTEN: Final = "Not written: {error}. Another server has taken this over. Look there."
# States of a worker that may write.
LIVING: Final = ("alive", "draining")


@dataclass
class Ownership:
    """Of one process. `on_fenced` hears of it when this one may not write any more, `on_taken` of
    each stream that is another's now, or is gone."""

    worker: str
    on_fenced: Callable[[Fenced], None] | None = None
    on_taken: Callable[[str], None] | None = None
    is_fenced: bool = field(default=False, init=False)
    fenced: int = field(default=0, init=False)

    def tell(self, fenced: Fenced) -> None:
        """One stream that is another's ends nothing but who writes in it."""
        self.fenced += 1
        if not fenced.is_own_end:
            return
        if not self.is_fenced and self.on_fenced:
            self.on_fenced(fenced)
        self.is_fenced = True

    def tell_taken(self, stream: str) -> None:
        if self.on_taken:
            self.on_taken(stream)


# The one server of a data folder.
HERE: Final = Ownership("here")


@dataclass(frozen=True)
class Claimed:
    """A stream of one's own: in which epoch, and how far it has come. A new one has no epoch."""

    epoch: int | None
    head: int
    # Whether nobody had it a moment ago.
    is_new: bool = False


def claim(connection: Connection, worker: str, stream: str) -> Claimed:
    """In a transaction that writes, by a worker that lives. What nobody owns, or a worker that is
    gone, becomes this worker's in a new epoch; what another one has stays there, and raises
    `Fenced`."""
    # Beats pass this lock; who gives the worker up for lost waits for it.
    me = select(workers.c.id).where(workers.c.id == worker, workers.c.state.in_(LIVING))
    if connection.execute(me.with_for_update(read=True, key_share=True)).first() is None:
        raise Fenced(f"the worker {worker} counts as lost", is_own_end=True)
    here = streams.c.stream == stream
    row = connection.execute(select(streams).where(here).with_for_update()).first()
    if row is None:
        return Claimed(None, 0)
    if row.owner == worker:
        return Claimed(row.epoch, row.head)
    lives = select(workers.c.id).where(workers.c.id == row.owner, workers.c.state.in_(LIVING))
    if row.owner is not None and connection.execute(lives).first():
        raise Fenced(f"{stream} belongs to the worker {row.owner}")
    epoch = row.epoch + 1
    connection.execute(update(streams).where(here).values(owner=worker, epoch=epoch))
    return Claimed(epoch, row.head, is_new=True)


def release(connection: Connection, worker: str, stream: str, epoch: int) -> None:
    """Unless it has become somebody's since, this worker's in another epoch included."""
    mine = (streams.c.stream == stream, streams.c.owner == worker, streams.c.epoch == epoch)
    connection.execute(update(streams).where(*mine).values(owner=None))


def has_come_to(connection: Connection, batch: Append) -> bool:
    """Whether this batch was written, all of it: each of its streams has come as far as that, in
    the same hands. Waits for a commit that is still on its way. Nothing is written, so whoever
    counts as lost may ask, too."""
    note_proven(connection)
    for one in batch.growths:
        if one.epoch == SHARED_EPOCH:
            if not _is_there(connection, batch, one):
                return False
            continue
        wanted = select(streams.c.head, streams.c.owner, streams.c.epoch)
        wanted = wanted.where(streams.c.stream == one.stream)
        if keeps_parts(connection):
            wanted = wanted.with_for_update()
        row = connection.execute(wanted).first()
        if row is None or row.head != one.last or row.owner != batch.worker:
            return False
        if row.epoch != (one.epoch or 1):
            return False
    return bool(batch.growths)


def has_changed_hands(connection: Connection, worker: str, one: Growth) -> bool:
    """Whether this worker cannot write this any more: the stream is another's, is gone, or is not
    where this worker left it."""
    wanted = select(streams).where(streams.c.stream == one.stream)
    row = connection.execute(wanted).first()
    if row is None:
        return one.epoch is not None
    return (row.owner, row.epoch, row.head) != (worker, one.epoch or 1, one.committed)


def _is_there(connection: Connection, batch: Append, one: Growth) -> bool:
    """In a shared stream others may have written since: it is known by its last event."""
    body = next(row[4] for row in batch.rows if row[:2] == (one.stream, one.last))
    wanted = select(events.c.body).where(events.c.stream == one.stream, events.c.seq == one.last)
    return connection.execute(wanted).scalar() == body


def lock(connection: Connection, stream: str) -> None:
    """Until the transaction's end nobody writes in it."""
    connection.execute(select(streams.c.head).where(streams.c.stream == stream).with_for_update())


def lock_shared(connection: Connection, stream: str) -> int:
    """Until the transaction's end nobody else writes in it. Answers how far it has come."""
    new = {"stream": stream, "owner": None, "epoch": SHARED_EPOCH, "head": 0, "bytes": 0}
    wanted = select(streams.c.head).where(streams.c.stream == stream).with_for_update()
    head = connection.execute(wanted).scalar()
    if head is None:
        connection.execute(text(_ADD_SHARED), new)
        head = connection.execute(wanted).scalar_one()
    return head


_ADD_SHARED: Final = """
INSERT INTO streams (stream, owner, epoch, head, bytes)
VALUES (:stream, :owner, :epoch, :head, :bytes) ON CONFLICT DO NOTHING
"""
