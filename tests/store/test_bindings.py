"""What a session is bound to is kept, in the place of what it was bound to before."""

import asyncio
from dataclasses import dataclass, field

from airboss.harness.binding import Bindings
from airboss.store.bindings import BindingRow, BindingStore
from airboss.store.database import Database
from airboss.store.tables import bindings

COLUMNS = ("session", "number", "runtime", "model", "parts", "at")


async def test_a_row_takes_the_place_of_the_one_with_the_same_number(database: Database) -> None:
    store = BindingStore(database)
    for runtime, model in (("one", "first"), ("two", "second")):
        await store.keep(BindingRow("ses_1", 1, runtime, model, {"home": model}))
    await store.keep(BindingRow("ses_1", 2, "three", "third", {}))
    assert await store.find("ses_1", 1) == BindingRow(
        "ses_1", 1, "two", "second", {"home": "second"}
    )
    assert [row.runtime for row in await store.newest()] == ["three"]


async def test_its_statement_is_built_once(database: Database) -> None:
    keys = ["session", "number"]
    put = database.dialect.putting(bindings, keys, dict.fromkeys(COLUMNS))
    assert put is database.dialect.putting(bindings, list(keys), COLUMNS)
    assert put is not database.dialect.putting(bindings, keys, COLUMNS[:-1])


@dataclass(frozen=True)
class CountingStore(BindingStore):
    """How many rows each of its transactions had."""

    counts: list[int] = field(default_factory=list[int])

    async def keep(self, *rows: BindingRow) -> None:
        self.counts.append(len(rows))
        await super().keep(*rows)


async def test_what_many_sessions_are_bound_to_is_written_together(database: Database) -> None:
    store = CountingStore(database)
    bindings = Bindings(store)
    rows = [BindingRow(f"ses_{number}", 1, "runtime", "model", {}) for number in range(20)]
    async with asyncio.TaskGroup() as group:
        for row in rows:
            group.create_task(bindings.keep(row))
    assert sorted(row.session for row in await store.newest()) == sorted(r.session for r in rows)
    assert store.counts == [1, 19]


async def test_who_is_called_away_while_it_writes_takes_nothing_from_others(
    database: Database,
) -> None:
    store = BindingStore(database)
    bindings = Bindings(store)
    rows = [BindingRow(f"ses_{number}", 1, "runtime", "model", {}) for number in range(3)]
    keeping = [asyncio.create_task(bindings.keep(row)) for row in rows]
    await asyncio.wait(keeping[:1])  # the second writes with the third just now
    keeping[1].cancel()
    await asyncio.wait(keeping)
    await bindings.keep(BindingRow("ses_last", 1, "runtime", "model", {}))
    assert len(await store.newest()) == len(rows) + 1
