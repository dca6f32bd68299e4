"""Which of the runtime's sessions each of ours is bound to, and what that one was made with.

A row is never the only word on it: which one is in use stands in the session's own events.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from airboss.errors import StoreUnavailable
from airboss.store.database import Database
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


class MalformedBinding(StoreUnavailable):
    """What is kept cannot be read."""


@dataclass(frozen=True)
class BindingStore:
    database: Database

    async def find(self, session: str, number: int) -> BindingRow | None:
        wanted = select(bindings).where(bindings.c.session == session, bindings.c.number == number)
        found = await self.database.read(lambda c: c.execute(wanted).first())
        return None if found is None else _row(found)

    async def keep(self, row: BindingRow) -> None:
        values = {
            "session": row.session,
            "number": row.number,
            "runtime": row.runtime,
            "model": row.model,
            "parts": json.dumps(dict(row.parts), sort_keys=True),
            "at": time.time_ns() // 1_000_000,
        }
        put = insert(bindings).values(values)
        put = put.on_conflict_do_update(index_elements=["session", "number"], set_=values)
        await self.database.write(lambda c: c.execute(put))

    async def forget(self, sessions: Sequence[str]) -> None:
        await self.database.write(lambda c: forget(c, sessions))

    async def forget_half(self, session: str) -> None:
        """It has become whole."""
        half = delete(bindings).where(bindings.c.session == session, bindings.c.number == 0)
        await self.database.write(lambda c: c.execute(half))

    async def half_forks(self) -> list[str]:
        """The sessions that were to be a copy of another, and of which nothing more is kept: the
        first row of a session has the number 1."""
        wanted = select(bindings.c.session).where(bindings.c.number == 0)
        return list(await self.database.read(lambda c: c.execute(wanted).scalars().all()))

    async def orphans(self) -> list[str]:
        """The sessions that are deleted; a fork that is being made is none."""
        half = select(bindings.c.session).where(bindings.c.number == 0)
        known = select(views.c.stream).where(views.c.kind == "session")
        wanted = (
            select(bindings.c.session)
            .where(bindings.c.session.not_in(half), bindings.c.session.not_in(known))
            .distinct()
        )
        return list(await self.database.read(lambda c: c.execute(wanted).scalars().all()))

    async def newest(self) -> list[BindingRow]:
        """The last of each session; those that cannot be read are left out."""
        wanted = (
            select(bindings)
            .where(bindings.c.number > 0)
            .order_by(bindings.c.session, bindings.c.number)
        )
        found = await self.database.read(lambda c: c.execute(wanted).all())
        rows: dict[str, BindingRow] = {}
        for one in found:
            try:
                rows[one.session] = _row(one)
            except MalformedBinding:
                rows.pop(one.session, None)
        return list(rows.values())


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
