"""How often the rules were changed, and who has seen it. PostgreSQL only: the server of a file
knows its own changes."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from airboss.store.database import Database

# The count stands among the duties: nobody has this one.
_COUNT: Final = text(
    """
    INSERT INTO duties (name, owner, epoch) VALUES ('rules', NULL, 1)
    ON CONFLICT (name) DO UPDATE SET epoch = duties.epoch + 1
    """
)
_CURRENT: Final = text("SELECT epoch FROM duties WHERE name = 'rules'")
_SEEN: Final = text("UPDATE workers SET rules_seen = :version WHERE id = :me")
_BEHIND: Final = text(
    "SELECT name FROM workers WHERE state IN ('alive', 'draining') AND rules_seen < :version"
)


def count_change(connection: Connection) -> None:
    """In the transaction that changes them."""
    connection.execute(_COUNT)


@dataclass(frozen=True)
class RuleVersions:
    """In the name of one worker."""

    database: Database
    worker: str

    async def current(self) -> int:
        return await self.database.read(lambda c: c.execute(_CURRENT).scalar() or 0)

    async def note_seen(self, version: int) -> None:
        given = {"version": version, "me": self.worker}
        await self.database.write(lambda c: c.execute(_SEEN, given) and None)

    async def behind(self, version: int) -> list[str]:
        """Those that live and have not seen it."""
        return await self.database.read(
            lambda c: list(c.execute(_BEHIND, {"version": version}).scalars())
        )
