"""Chats whose agents were not told what a person had decided when their worker was lost. PostgreSQL
only: a file has one server, whose next start finds them itself."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, text

from airboss.store.database import Database
from airboss.store.machine_tables import decided_chats

# What another worker has meanwhile, is that one's.
DECIDED: Final = """
    FROM decided_chats JOIN streams ON streams.stream = decided_chats.session
    WHERE place = :place AND (streams.owner IS NULL OR streams.owner = :me)
"""
_OF_PLACE: Final = text(f"SELECT session, who {DECIDED}")


@dataclass(frozen=True)
class DecidedChat:
    session: str
    # Who decided.
    who: str


@dataclass(frozen=True)
class DecidedChats:
    """As one worker sees them, which is at `place`."""

    database: Database
    worker: str
    place: str

    async def add(self, chat: DecidedChat, place: str) -> None:
        """The machine at this place has its history."""
        values = {"session": chat.session, "place": place, "who": chat.who}
        put = self.database.dialect.put(decided_chats, ["session"], values)
        await self.database.write(lambda c: c.execute(put) and None)

    async def own(self) -> list[DecidedChat]:
        given = {"place": self.place, "me": self.worker}

        def work(connection: Connection) -> list[DecidedChat]:
            return [DecidedChat(*row) for row in connection.execute(_OF_PLACE, given)]

        return await self.database.read(work)

    async def forget(self, session: str) -> None:
        gone = delete(decided_chats).where(decided_chats.c.session == session)
        await self.database.write(lambda c: c.execute(gone) and None)
