"""What a session is bound to is kept, in the place of what it was bound to before."""

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
