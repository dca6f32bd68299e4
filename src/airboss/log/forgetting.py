"""An end to streams, for good. What is large goes in many short transactions: hidden first, so that
nobody finds half of it, and whoever comes later goes on where one was cut off."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from airboss.errors import Conflict
from airboss.log import rows
from airboss.store import bindings
from airboss.store.database import Database
from airboss.store.dialect import keeps_parts
from airboss.store.machine_tables import parts
from airboss.store.ownership import lock
from airboss.store.tables import events, origins, said, streams, views

# The owner of what is being deleted: no worker has this id.
FORGOTTEN: Final = "forgotten"
# A row may have half a megabyte: so many are gone in a second in any case.
_AT_ONCE: Final = 500
_LARGE_BYTES: Final = 32 * 1024 * 1024


async def forget_streams(database: Database, names: Sequence[str], over: str | None) -> None:
    """Refused where what is to be over goes on."""
    # Each of several machines forgets what its files of them are called when those are gone.
    forgotten = () if database.dialect.has_places else names
    if await database.write(lambda c: _begin(c, names, over, forgotten)):
        await _forget_rest(database, names)


async def forget_left(database: Database) -> None:
    """What somebody began to delete, and did not come to the end of."""
    wanted = select(streams.c.stream).where(streams.c.owner == FORGOTTEN)
    left = await database.read(lambda c: list(c.execute(wanted).scalars()))
    await _forget_rest(database, left)


def _begin(
    connection: Connection, names: Sequence[str], over: str | None, unbound: Sequence[str]
) -> bool:
    """Whether there is more of them than goes at once."""
    if over is not None:
        lock(connection, over)
        view = rows.view(connection, over)
        if view is not None and view.is_open:
            raise Conflict(f"{over} goes on again.")
    bindings.forget(connection, unbound)
    mine = streams.c.stream.in_(names)
    sizes = select(func.sum(streams.c.head), func.sum(streams.c.bytes)).where(mine)
    count, size = connection.execute(sizes).one()
    if (count or 0) <= _AT_ONCE and (size or 0) <= _LARGE_BYTES:
        rows.forget(connection, names)
        return False
    connection.execute(delete(views).where(views.c.stream.in_(names)))
    hidden = {"owner": FORGOTTEN, "epoch": streams.c.epoch + 1}
    connection.execute(update(streams).where(mine).values(hidden))
    return True


async def _forget_rest(database: Database, names: Sequence[str]) -> None:
    for name in names:
        after: int | None = 0
        while after is not None:
            after = await database.write(lambda c, name=name, seq=after: _forget_some(c, name, seq))


def _forget_some(connection: Connection, name: str, after: int) -> int | None:
    """From this seq on; answers where it goes on."""
    wanted = select(events.c.seq).where(events.c.stream == name, events.c.seq > after)
    wanted = wanted.order_by(events.c.seq).offset(_AT_ONCE - 1).limit(1)
    last = connection.execute(wanted).scalar()
    if last is None:
        rows.forget(connection, [name])
        return None
    for table in (events, origins, parts, said) if keeps_parts(connection) else (events, origins):
        connection.execute(delete(table).where(table.c.stream == name, table.c.seq <= last))
    return last
