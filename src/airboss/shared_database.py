"""A database that several machines share, cared for without a server: both of its schemas, that of
the store and that of the engine."""

import asyncio
from dataclasses import dataclass

from airboss.engine.shared_schema import SCHEMA as ENGINE_SCHEMA
from airboss.engine.shared_schema import EngineSchema, migrate_engine
from airboss.errors import StoreUnavailable
from airboss.store.postgres_connection import SCHEMA
from airboss.store.postgres_database import PostgresDatabase
from airboss.store.postgres_facts import DatabaseFacts, facts_of
from airboss.store.postgres_poolers import REFUSED


@dataclass(frozen=True)
class Examined:
    """What was found. Nothing is judged yet, and nothing was changed."""

    facts: DatabaseFacts
    # None where its tables cannot be asked.
    engine: EngineSchema | None


@dataclass(frozen=True)
class Move:
    """Of one schema: from which number to which. The same where there is nothing to do."""

    schema: str
    before: int
    after: int


def examine(url: str) -> Examined:
    """Raises `StoreUnavailable` where it cannot be reached."""
    facts = facts_of(url)
    try:
        return Examined(facts, EngineSchema.at(url))
    except StoreUnavailable:
        return Examined(facts, None)


def moves_to_make(url: str) -> list[Move]:
    """Refuses a database that cannot be migrated, before anything is changed."""
    facts = facts_of(url)
    if facts.pooler == "unfit":
        raise StoreUnavailable(REFUSED)
    state = facts.schema
    if state is None:
        raise StoreUnavailable(
            "Its tables cannot be read. `airboss database check` says what is missing."
        )
    if state.is_too_new:
        raise StoreUnavailable(
            f"This database was written by a newer Airboss (schema {state.number}, this one knows "
            f"{state.latest}). Install that version on this machine."
        )
    engine = EngineSchema.at(url)
    return [
        Move(SCHEMA, state.number, max(state.number, state.latest)),
        Move(ENGINE_SCHEMA, engine.number, max(engine.number, engine.latest)),
    ]


def migrate(url: str) -> None:
    """Blocks. Ours first: it refuses what a newer Airboss has written."""
    asyncio.run(_migrate_ours(url))
    migrate_engine(url)


async def _migrate_ours(url: str) -> None:
    database = PostgresDatabase(url)
    await database.open()
    await database.close()
