"""How a database of any age becomes today's: a numbered list, each step run once, in order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from airboss.errors import StoreUnavailable

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, works_from INTEGER)
"""


@dataclass(frozen=True)
class Migration:
    """One step. `works_from` is the number of the oldest schema whose Airboss can still use the
    database behind this step: machines are not all renewed in one moment. A step that only adds
    something works from an earlier one; one that takes something away works from itself."""

    step: Callable[[Connection], None]
    works_from: int


@dataclass(frozen=True)
class SchemaState:
    """How far a database has come, and how far this Airboss knows the way. 0: nothing is there."""

    number: int
    latest: int
    # The oldest schema whose Airboss can use what is there.
    works_from: int

    @property
    def is_too_new(self) -> bool:
        return self.works_from > self.latest

    @property
    def missing(self) -> list[int]:
        return list(range(self.number + 1, self.latest + 1)) if self.number else [self.latest]


def schema_state(connection: Connection, known: Mapping[int, Migration]) -> SchemaState:
    """Of a database that has the table of migrations."""
    found = connection.execute(text("SELECT number, works_from FROM migrations")).all()
    done, latest = max((row.number for row in found), default=0), max(known)
    # One that does not say so works with nobody but its own.
    needed = (
        row.number if row.works_from is None else row.works_from
        for row in found
        if row.number > latest
    )
    return SchemaState(done, latest, max(needed, default=0))


def run_migrations(connection: Connection, known: Mapping[int, Migration], place: str) -> None:
    """Bring the database up to date, or refuse one that a newer Airboss has written."""
    connection.execute(text(_TABLE))
    state = schema_state(connection, known)
    if state.is_too_new:
        raise StoreUnavailable(
            f"This {place} was written by a newer Airboss (schema {state.number}, this one knows "
            f"{state.latest}). Install that version again, or choose another {_OTHER[place]}."
        )
    for number in sorted(known):
        if number > state.number:
            known[number].step(connection)
            connection.execute(
                text("INSERT INTO migrations (number, works_from) VALUES (:number, :works_from)"),
                {"number": number, "works_from": known[number].works_from},
            )


DATA_FOLDER = "data folder"
DATABASE = "database"
_OTHER = {DATA_FOLDER: "folder with --data", DATABASE: "database with AIRBOSS_DATABASE"}
