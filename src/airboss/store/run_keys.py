"""The keys with which callers start runs, so that a request that is repeated starts one run."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from airboss.store.database import Database
from airboss.store.tables import run_keys


@dataclass(frozen=True)
class RunKeys:
    database: Database

    async def claim(self, who: str, key: str, run: str, at: int) -> str:
        """The run that this key stands for: this one, or the one that had it first."""

        def work(connection: Connection) -> str:
            values = {"who": who, "key": key, "run": run, "at": at}
            connection.execute(self.database.dialect.add(run_keys, values))
            mine = (run_keys.c.who == who) & (run_keys.c.key == key)
            return connection.execute(select(run_keys.c.run).where(mine)).scalar_one()

        return await self.database.write(work)

    async def forget(self, run: str) -> None:
        """The run is gone: its keys start another."""

        def work(connection: Connection) -> None:
            connection.execute(delete(run_keys).where(run_keys.c.run == run))

        await self.database.write(work)
