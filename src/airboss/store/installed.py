"""The entry that a call has installed, for all servers of a database. PostgreSQL only."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import select, text

from airboss.store.database import Database
from airboss.store.machine_tables import installed

# There is one.
_NAME: Final = "entry"
_FORGET: Final = text(
    """
    DELETE FROM installed WHERE NOT EXISTS (
        SELECT 1 FROM workers WHERE id <> :me AND state IN ('alive', 'draining')
    )
    """
)


@dataclass(frozen=True)
class InstalledStore:
    """In the name of one worker."""

    database: Database
    worker: str

    async def begin(self) -> None:
        """It lasts as long as somebody lives who has it."""
        await self.database.write(lambda c: c.execute(_FORGET, {"me": self.worker}) and None)

    async def keep(self, digest: str, who: str, at: int) -> None:
        values = {"name": _NAME, "digest": digest, "who": who, "at": at}
        put = self.database.dialect.put(installed, ["name"], values)
        await self.database.write(lambda c: c.execute(put) and None)

    async def digest(self) -> str | None:
        wanted = select(installed.c.digest).where(installed.c.name == _NAME)
        return await self.database.read(lambda c: c.execute(wanted).scalar())
