"""What is asked of the owner of a stream by another process on the same database: a row each, from
the question to the answer. PostgreSQL only; its clock says how long one may be taken."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, TextClause, text

from airboss.store.database import Database

State = Literal["new", "taken", "done", "failed"]

_NOW: Final = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
_OWNER: Final = text(
    """
    SELECT workers.id FROM workers LEFT JOIN streams ON streams.owner = workers.id
        AND streams.stream = :target
    WHERE workers.state IN ('alive', 'draining')
        AND (streams.stream = :target OR workers.id = :target)
    """
)
_ADD: Final = text(
    f"""
    INSERT INTO commands (id, target, verb, body, who, state, expires_at)
    VALUES (:id, :target, :verb, :body, :who, 'new', {_NOW} + :milliseconds)
    ON CONFLICT (id) DO UPDATE SET
        expires_at = excluded.expires_at,
        state = CASE commands.state WHEN 'failed' THEN 'new' ELSE commands.state END,
        body = CASE commands.state WHEN 'failed' THEN excluded.body ELSE commands.body END
    WHERE commands.state <> 'done'
    """  # noqa: S608 - words of ours
)
_LOOK: Final = text("SELECT state, answer FROM commands WHERE id = :id")
# Also what a worker took that is lost now: whoever owns the stream by now does it.
FOR_ME: Final = f"""
    FROM commands AS asked
    LEFT JOIN streams ON streams.stream = asked.target
    LEFT JOIN workers AS taker ON taker.id = asked.taken_by
        AND taker.state IN ('alive', 'draining')
    WHERE (streams.owner = :me OR asked.target = :me) AND asked.expires_at > {_NOW}
        AND (asked.state = 'new' OR (asked.state = 'taken' AND taker.id IS NULL))
"""
_TAKE: Final = text(
    f"""
    UPDATE commands SET state = 'taken', taken_by = :me WHERE id IN (
        SELECT asked.id {FOR_ME} FOR UPDATE OF asked SKIP LOCKED
    ) RETURNING id, target, verb, body
    """  # noqa: S608
)
# What was asked is not kept longer than it takes: it is in the stream.
_FINISH: Final = text(
    "UPDATE commands SET state = :state, answer = :answer, body = '' "
    "WHERE id = :id AND taken_by = :me AND state = 'taken'"
)
_WITHDRAW: Final = text("DELETE FROM commands WHERE id = :id AND state = 'new' RETURNING id")
_CLEAN: Final = text(
    f"DELETE FROM commands WHERE expires_at < {_NOW} - :milliseconds"  # noqa: S608
)
_SAID: Final = text("SELECT seq FROM origins WHERE stream = :stream AND origin = :origin")


@dataclass(frozen=True)
class OwnerCommand:
    """To be done, once. `target` is a stream, or a worker."""

    id: str
    target: str
    verb: str
    body: str

    @property
    def origin(self) -> str:
        """Of what is said for it, in the stream that it is about."""
        return origin_of(self.id)


def origin_of(name: str) -> str:
    return f"cmd/{name}"


@dataclass(frozen=True)
class CommandStore:
    """In the name of one worker."""

    database: Database
    worker: str
    # So long after whoever asked has given up, the next owner does what a lost one had begun.
    takeover_seconds: float = 0

    async def owner_of(self, target: str) -> str | None:
        """The living worker that has this stream; None where nobody has it."""
        return await self.database.read(
            lambda c: c.execute(_OWNER, {"target": target}).scalars().first()
        )

    async def add(self, command: OwnerCommand, who: str, seconds: float) -> None:
        """Twice is as good as once. What was refused is tried again."""
        lasts = seconds + self.takeover_seconds
        given = {**vars(command), "who": who, "milliseconds": int(lasts * 1000)}
        await self.database.write(lambda c: _do(c, _ADD, given))

    async def look(self, name: str) -> tuple[State, str | None] | None:
        found = await self.database.read(lambda c: c.execute(_LOOK, {"id": name}).first())
        return None if found is None else (found.state, found.answer)

    async def take(self) -> list[OwnerCommand]:
        """Those for this worker, and for streams that it owns."""

        def work(connection: Connection) -> list[OwnerCommand]:
            return [OwnerCommand(*row) for row in connection.execute(_TAKE, {"me": self.worker})]

        return await self.database.write(work)

    async def finish(self, name: str, state: State, answer: str) -> None:
        given = {"id": name, "state": state, "answer": answer, "me": self.worker}
        await self.database.write(lambda c: _do(c, _FINISH, given))

    async def withdraw(self, name: str) -> bool:
        """Whether nobody had taken it: then nobody does."""
        gone = await self.database.write(
            lambda c: c.execute(_WITHDRAW, {"id": name}).scalars().first()
        )
        return gone is not None

    async def clean(self, seconds: float) -> None:
        """What is over for so long."""
        await self.database.write(lambda c: _do(c, _CLEAN, {"milliseconds": int(seconds * 1000)}))

    async def seq_said(self, command: OwnerCommand) -> int | None:
        """Where something was said for it in its stream, by whoever had that."""
        given = {"stream": command.target, "origin": command.origin}
        return await self.database.read(lambda c: c.execute(_SAID, given).scalars().first())


def _do(connection: Connection, statement: TextClause, given: dict[str, Any]) -> None:
    connection.execute(statement, given)
