"""Browsers that are signed in, by the hashes of what they show. Who may be is not known here."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, select, update

from airboss.model.ids import SignInId
from airboss.store.database import Database
from airboss.store.tables import sign_ins


@dataclass(frozen=True)
class KeptSignIn:
    """Enough to recognise both parts of a sign-in, not enough to use them."""

    id: SignInId
    # Hashes of what the browser and its page keep.
    cookie: str
    key: str
    name: str
    # Stands for the token that it came from.
    token: str
    address: str
    device: str
    since: int
    until: int
    used_at: int


@dataclass(frozen=True)
class SignInStore:
    database: Database

    async def all(self) -> list[KeptSignIn]:
        def work(connection: Connection) -> list[KeptSignIn]:
            found = connection.execute(select(sign_ins)).mappings()
            return [KeptSignIn(**row) for row in found]

        return await self.database.read(work)

    async def add(self, kept: KeptSignIn, instead_of: Sequence[SignInId] = ()) -> None:
        """On disk when this answers, and the others gone."""

        def work(connection: Connection) -> None:
            connection.execute(delete(sign_ins).where(sign_ins.c.id.in_(instead_of)))
            connection.execute(sign_ins.insert().values(asdict(kept)))

        await self.database.write(work)

    async def remove(self, ids: Sequence[SignInId]) -> frozenset[str]:
        """Answers those that were there."""

        def work(connection: Connection) -> frozenset[str]:
            these = sign_ins.c.id.in_(ids)
            there = connection.execute(select(sign_ins.c.id).where(these).with_for_update())
            found = frozenset(there.scalars())
            connection.execute(delete(sign_ins).where(these))
            return found

        return await self.database.write(work)

    async def note_used(self, used: Mapping[SignInId, int]) -> None:
        def work(connection: Connection) -> None:
            for one, at in used.items():
                mine = update(sign_ins).where(sign_ins.c.id == one)
                connection.execute(mine.values(used_at=at))

        await self.database.write(work)
