"""Settings that were changed while a server ran. What they mean is not known here."""

import json
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, select

from airboss.store.database import Database
from airboss.store.tables import settings

# Between the name of a list and that of one of its items, which is no name of a setting.
_OF: Final = ":"


def item_name(kind: str, name: str) -> str:
    """Under which an item of a list is kept: a provider, an account."""
    return f"{kind}{_OF}{name}"


def is_of_a_list(name: str, kind: str = "") -> bool:
    return _OF in name and name.startswith(f"{kind}{_OF}" if kind else "")


@dataclass(frozen=True)
class KeptSetting:
    """One change, with who made it and when."""

    name: str
    value: Any
    who: str
    at: int


@dataclass(frozen=True)
class SettingStore:
    database: Database

    async def all(self) -> list[KeptSetting]:
        def work(connection: Connection) -> list[KeptSetting]:
            found = connection.execute(select(settings).order_by(settings.c.name))
            return [KeptSetting(row.name, json.loads(row.value), row.who, row.at) for row in found]

        return await self.database.read(work)

    async def put(self, kept: KeptSetting) -> None:
        values = {
            "name": kept.name,
            "value": json.dumps(kept.value),
            "who": kept.who,
            "at": kept.at,
        }

        def work(connection: Connection) -> None:
            connection.execute(delete(settings).where(settings.c.name == kept.name))
            connection.execute(settings.insert().values(values))

        await self.database.write(work)

    async def remove(self, name: str) -> None:
        await self.database.write(
            lambda connection: connection.execute(delete(settings).where(settings.c.name == name))
        )
