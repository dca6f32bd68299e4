"""The entry that a call has installed: that of all servers, as long as one of them lives."""

from sqlalchemy import text

from airboss.store.database import Database
from airboss.store.installed import InstalledStore
from airboss.store.postgres_database import PostgresDatabase
from tests.databases import on_postgres
from tests.log.neighbours import register


@on_postgres
async def test_it_lasts_as_long_as_somebody_lives_who_has_it(database: Database) -> None:
    assert isinstance(database, PostgresDatabase)
    one, two, three = (InstalledStore(database, name) for name in ("one", "two", "three"))
    await register(database, "one")
    await one.begin()
    assert await one.digest() is None
    await one.keep("a" * 64, "somebody", 1)
    await register(database, "two")
    await two.begin()
    assert await two.digest() == "a" * 64
    await two.keep("b" * 64, "somebody", 2)
    assert await one.digest() == "b" * 64
    await database.write(lambda c: c.execute(text("UPDATE workers SET state = 'left'")) and None)
    await register(database, "three")
    await three.begin()
    assert await three.digest() is None
