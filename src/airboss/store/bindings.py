"""Which of the runtime's sessions each of ours is bound to, and what that one was made with.

A row is never the only word on it: which one is in use stands in the session's own events.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, select

from airboss.errors import StoreUnavailable
from airboss.store.database import Database
from airboss.store.placed_rows import PlacedRows
from airboss.store.tables import bindings, views

_AT_ONCE = 400


@dataclass(frozen=True)
class BindingRow:
    """The `number`th of the runtime's sessions that a session has had. `parts` has no secrets."""

    session: str
    number: int
    runtime: str
    # As people name it.
    model: str
    parts: Mapping[str, str]
    # Whether the runtime's session is on another machine, where several share a database.
    is_elsewhere: bool = False


class MalformedBinding(StoreUnavailable):
    """What is kept cannot be read."""


@dataclass(frozen=True)
class BindingStore:
    """Of the machine with this data folder, where several share the database."""

    database: Database
    place: str = ""

    @property
    def _rows(self) -> PlacedRows:
        return PlacedRows(self.database.dialect, bindings, self.place)

    async def find(self, session: str, number: int) -> BindingRow | None:
        table = self._rows.table
        wanted = select(table).where(table.c.session == session, table.c.number == number)
        found = await self.database.read(lambda c: c.execute(wanted).first())
        return None if found is None else self._row(found)

    async def place_of(self, session: str) -> str | None:
        """The machine that has its runtime's last session."""
        if not self.database.dialect.has_places:
            return None
        table = self._rows.table
        wanted = select(table.c.place).where(table.c.session == session, table.c.number > 0)
        wanted = wanted.order_by(table.c.number.desc()).limit(1)
        return await self.database.read(lambda c: c.execute(wanted).scalar())

    async def keep(self, *rows: BindingRow) -> None:
        """All of them, or none."""

        def work(connection: Connection) -> None:
            for row in rows:
                put, given = self._rows.putting(["session", "number"], _values(row))
                connection.execute(put, given)

        await self.database.write(work)

    async def forget(self, sessions: Sequence[str]) -> None:
        await self.database.write(lambda c: forget(c, sessions))

    async def forget_gone(self, sessions: Sequence[str]) -> None:
        """What other machines have of them is theirs to forget."""
        table, mine = self._rows.table, self._rows.mine

        def work(connection: Connection) -> None:
            for start in range(0, len(sessions), _AT_ONCE):
                some = table.c.session.in_(sessions[start : start + _AT_ONCE])
                connection.execute(delete(table).where(some, mine))

        await self.database.write(work)

    async def forget_half(self, session: str) -> None:
        """It has become whole."""
        half = delete(bindings).where(bindings.c.session == session, bindings.c.number == 0)
        await self.database.write(lambda c: c.execute(half))

    async def half_forks(self) -> list[str]:
        """The sessions that were to be a copy of another, and of which nothing more is kept: the
        first row of a session has the number 1."""
        table = self._rows.table
        wanted = select(table.c.session).where(table.c.number == 0, self._rows.mine)
        return list(await self.database.read(lambda c: c.execute(wanted).scalars().all()))

    async def orphans(self) -> list[str]:
        """The sessions that are deleted; a fork that is being made is none."""
        return list(await self.gone())

    async def gone(self) -> dict[str, list[str]]:
        """The same, each with what the runtime here calls it and has called it."""
        table = self._rows.table
        half = select(bindings.c.session).where(bindings.c.number == 0)
        known = select(views.c.stream).where(views.c.kind == "session")
        wanted = select(table.c.session, table.c.runtime).where(
            self._rows.mine, table.c.session.not_in(half), table.c.session.not_in(known)
        )
        found: dict[str, list[str]] = {}
        for row in await self.database.read(lambda c: c.execute(wanted).all()):
            found.setdefault(row.session, []).append(row.runtime)
        return found

    async def newest(self) -> list[BindingRow]:
        """The last of each session; those that cannot be read are left out."""
        table = self._rows.table
        wanted = (
            select(table)
            .where(table.c.number > 0, self._rows.mine)
            .order_by(table.c.session, table.c.number)
        )
        found = await self.database.read(lambda c: c.execute(wanted).all())
        rows: dict[str, BindingRow] = {}
        for one in found:
            try:
                rows[one.session] = self._row(one)
            except MalformedBinding:
                rows.pop(one.session, None)
        return list(rows.values())

    def _row(self, found: Any) -> BindingRow:
        is_elsewhere = self.database.dialect.has_places and found.place != self.place
        return replace(_row(found), is_elsewhere=is_elsewhere)


def _values(row: BindingRow) -> dict[str, Any]:
    return {
        "session": row.session,
        "number": row.number,
        "runtime": row.runtime,
        "model": row.model,
        "parts": json.dumps(dict(row.parts), sort_keys=True),
        "at": time.time_ns() // 1_000_000,
    }


def _row(found: Any) -> BindingRow:
    try:
        parts: object = json.loads(found.parts)
    except ValueError:
        parts = None
    if not isinstance(parts, dict):
        raise MalformedBinding(f"What session {found.session} is bound to cannot be read.")
    kept = {str(name): str(value) for name, value in parts.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return BindingRow(found.session, found.number, found.runtime, found.model, kept)


def runtime_names(connection: Connection, sessions: Sequence[str]) -> list[str]:
    """What the runtime calls them, and has called them."""
    names: list[str] = []
    for start in range(0, len(sessions), _AT_ONCE):
        some = sessions[start : start + _AT_ONCE]
        wanted = select(bindings.c.runtime).where(bindings.c.session.in_(some))
        names += connection.execute(wanted).scalars()
    return names


def forget(connection: Connection, sessions: Sequence[str]) -> None:
    for start in range(0, len(sessions), _AT_ONCE):
        some = sessions[start : start + _AT_ONCE]
        connection.execute(delete(bindings).where(bindings.c.session.in_(some)))
