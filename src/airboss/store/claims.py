"""What nobody owns, and who takes it: streams of workers that are lost or have left.

PostgreSQL only. A claim proves that its worker lives, as every append does.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, text

from airboss.model.runs import OPEN_RUNS, LoneRunView, RunView
from airboss.model.views import OPEN_STATES, SessionView
from airboss.store.database import Database
from airboss.store.ownership import LIVING

# Open streams of a kind that nobody has and that no open run goes on with.
LEFT_OPEN: Final = """
    FROM views JOIN streams USING (stream)
    WHERE views.kind = :kind AND views.state = ANY(:states) AND streams.owner IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM views AS task JOIN views AS run
                ON run.stream = coalesce(task.own_run, task.run)
            WHERE task.stream = coalesce(views.task, views.stream) AND task.kind = 'task'
                AND run.state = ANY(:open)
        )
"""
_FREE: Final = text(
    f"SELECT views.stream {LEFT_OPEN} ORDER BY views.created_at, views.stream LIMIT :most"
)
# Runs that wait, and that a worker can take.
FITTING: Final = """
    FROM work JOIN streams ON streams.stream = work.run JOIN views ON views.stream = work.run
    WHERE streams.owner IS NULL AND views.state = ANY(:states)
        AND (work.place = :place OR work.root = ANY(:roots))
        AND work.walk = ANY(:walks)
        AND CAST(work.labels AS jsonb) <@ CAST(:labels AS jsonb)
        AND (work.given_to IS NULL OR work.given_to = :me OR NOT EXISTS (
            SELECT 1 FROM workers WHERE id = work.given_to AND state = 'alive'
        ))
"""
# What this worker is, and whether anything waits that it could take.
_LOOK: Final = text(
    f"""
    SELECT state, EXISTS (SELECT 1 {FITTING}), EXISTS (SELECT 1 {FITTING} AND given_to = :me)
    FROM workers WHERE id = :me
    """  # noqa: S608 - words of ours
)
# The oldest runs that wait and fit, and before them those that were given to this worker. Who is
# taking one of them just now has it: this one goes on to the next.
_TAKE: Final = text(
    f"""
    WITH fitting AS (
        SELECT streams.stream, work.held_for, work.given_by {FITTING}
        ORDER BY work.given_to IS NULL, work.key
        LIMIT greatest(:most, (SELECT count(*) FROM work WHERE given_to = :me))
        FOR UPDATE OF streams SKIP LOCKED
    ), taken AS (
        UPDATE streams SET owner = :me, epoch = epoch + 1 FROM fitting
        WHERE streams.stream = fitting.stream
        RETURNING streams.stream, streams.epoch, fitting.held_for, fitting.given_by
    ), accepted AS (
        UPDATE work SET given_to = NULL, given_by = NULL FROM taken
        WHERE work.run = taken.stream AND work.given_to IS NOT NULL
    )
    SELECT taken.stream, taken.epoch, coalesce(holder.name, ''), coalesce(holder.state, ''),
        coalesce(taken.given_by, '')
    FROM taken LEFT JOIN workers AS holder ON holder.id = taken.held_for
    ORDER BY taken.stream
    """  # noqa: S608
)
# Released by this worker, for anybody or for one that somebody chose.
_HAND_BACK: Final = text(
    """
    UPDATE work SET held_for = :me, given_to = :to, given_by = :who,
        place = coalesce(:place, place), root = CASE WHEN :place IS NULL THEN root ELSE :root END
    WHERE run = :run
    """
)
# Of a run that waits: nobody has it at this moment, or nothing is changed.
_GIVE: Final = text(
    """
    UPDATE work SET given_to = :to, given_by = :who, place = :place, root = :root
    FROM (SELECT stream FROM streams WHERE stream = :run AND owner IS NULL FOR UPDATE) AS free
    WHERE work.run = free.stream RETURNING work.run
    """
)
_HELD: Final = text(
    """
    SELECT work.place, work.root, work.labels, work.walk, last.name
    FROM work JOIN streams ON streams.stream = work.run
    LEFT JOIN LATERAL (
        SELECT name FROM workers WHERE workers.place = work.place ORDER BY seen_at DESC LIMIT 1
    ) AS last ON true
    WHERE work.run = :run AND streams.owner IS NULL
    """
)
_MINE: Final = text(
    """
    SELECT views.kind, views.stream, streams.epoch FROM views JOIN streams USING (stream)
    WHERE streams.owner = :me AND (views.kind = :chat AND views.state = ANY(:chats)
        OR views.kind = ANY(:kinds) AND views.state = ANY(:open))
    """
)
_DRAIN: Final = text(
    "UPDATE workers SET state = :to WHERE id = :worker AND state = :before RETURNING id"
)
_LIVES: Final = text("SELECT state FROM workers WHERE id = :me FOR KEY SHARE")
_CLAIM: Final = text(
    """
    UPDATE streams SET owner = :me, epoch = epoch + 1
    WHERE stream IN (
        SELECT stream FROM streams WHERE stream = ANY(:names) AND owner IS NULL
        FOR UPDATE SKIP LOCKED
    ) RETURNING stream, epoch
    """
)
_RELEASE: Final = text("UPDATE streams SET owner = NULL WHERE owner = :me AND stream = ANY(:names)")
_OTHERS: Final = text(
    """
    SELECT streams.stream FROM streams JOIN workers ON workers.id = streams.owner
    WHERE streams.stream = ANY(:names) AND workers.id <> :me
        AND workers.state IN ('alive', 'draining')
    """
)
_OFFER: Final = text(
    """
    INSERT INTO work (run, key, labels, root, place, walk)
    VALUES (:run, :key, :labels, :root, :place, :walk)
    ON CONFLICT (run) DO UPDATE SET held_for = NULL
    """
)
_MOST: Final = 100


@dataclass(frozen=True)
class TakenRun:
    """One that is this worker's from now on, in this epoch."""

    run: str
    epoch: int
    # Who had it last, and what became of that one; empty where nobody had.
    held_by: str
    fate: str
    # Who gave it to this worker.
    given_by: str = ""


@dataclass(frozen=True)
class GivenTo:
    """A worker that somebody chose, and how it has the folder of the run."""

    worker: str
    place: str
    root: str | None


@dataclass(frozen=True)
class UnownedRun:
    """What an open run needs that nobody has, and who was last at its place."""

    place: str
    root: str | None
    labels: tuple[str, ...]
    walk: str
    last_there: str | None


@dataclass(frozen=True)
class Claims:
    """In the name of one worker, which has these abilities."""

    database: Database
    worker: str
    place: str
    roots: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    walks: tuple[str, ...] = ()

    async def free(self, kind: str, states: Sequence[str]) -> list[str]:
        """Open streams that nobody has and that no open run goes on with, the oldest first."""
        given = {"kind": kind, "states": list(states), "most": _MOST, "open": list(OPEN_RUNS)}
        return await self.database.read(lambda c: list(c.execute(_FREE, given).scalars()))

    def given(self, states: Sequence[str]) -> dict[str, Any]:
        """What `FITTING` asks for."""
        return {
            "me": self.worker,
            "states": list(states),
            "place": self.place,
            "roots": list(self.roots),
            "walks": list(self.walks),
            "labels": json.dumps(self.labels),
        }

    async def mine(self) -> tuple[list[TakenRun], list[str]]:
        """The open runs that this worker has, and its open sessions."""
        kinds = [RunView.stream_kind, LoneRunView.stream_kind]
        given = {"me": self.worker, "kinds": kinds, "open": list(OPEN_RUNS)}
        given |= {"chat": SessionView.stream_kind, "chats": list(OPEN_STATES)}

        def work(connection: Connection) -> tuple[list[TakenRun], list[str]]:
            found = connection.execute(_MINE, given).all()
            chats = [row.stream for row in found if row.kind == SessionView.stream_kind]
            runs = [TakenRun(row.stream, row.epoch, "", "") for row in found if row.kind in kinds]
            return runs, chats

        return await self.database.read(work)

    async def look(self, states: Sequence[str]) -> tuple[str, bool, bool]:
        """The state of this worker, whether something waits that it could take, and whether it was
        given some of that."""
        given = self.given(states)

        def work(connection: Connection) -> tuple[str, bool, bool]:
            found = connection.execute(_LOOK, given).first()
            return ("lost", False, False) if found is None else (found[0], found[1], found[2])

        return await self.database.read(work)

    async def take(self, states: Sequence[str], most: int) -> list[TakenRun]:
        """The oldest open runs that nobody has and that fit, at most so many; and all that were
        given to this worker."""
        given = {**self.given(states), "most": most}

        def work(connection: Connection) -> list[TakenRun]:
            if connection.execute(_LIVES, {"me": self.worker}).scalar() != "alive":
                return []
            return [TakenRun(*row) for row in connection.execute(_TAKE, given)]

        return await self.database.write(work)

    async def claim(self, names: Sequence[str]) -> dict[str, int]:
        """The epoch of each that is this worker's from now on; others were faster at the rest."""

        def work(connection: Connection) -> dict[str, int]:
            if connection.execute(_LIVES, {"me": self.worker}).scalar() not in LIVING:
                return {}
            taken = connection.execute(_CLAIM, {"me": self.worker, "names": list(names)})
            return {row.stream: row.epoch for row in taken}

        return await self.database.write(work)

    async def others(self, names: Sequence[str]) -> frozenset[str]:
        """Those of these that another worker has."""
        given = {"me": self.worker, "names": list(names)}

        def work(connection: Connection) -> frozenset[str]:
            return frozenset(connection.execute(_OTHERS, given).scalars())

        return await self.database.read(work)

    async def release(self, names: Sequence[str]) -> None:
        """All is said in them, and whoever needs one next may have it."""
        given = {"me": self.worker, "names": list(names)}
        await self.database.write(lambda connection: _do(connection, _RELEASE, given))

    async def hand_back(
        self, run: str, names: Sequence[str], to: GivenTo | None = None, who: str | None = None
    ) -> None:
        """A run of this worker, with what is below it, is another one's to take."""
        given = {"me": self.worker, "run": run, "who": who, "to": to and to.worker}
        given |= {"place": to and to.place, "root": to and to.root}

        def work(connection: Connection) -> None:
            connection.execute(_HAND_BACK, given)
            connection.execute(_RELEASE, {"me": self.worker, "names": [run, *names]})

        await self.database.write(work)

    async def give(self, run: str, to: GivenTo, who: str) -> bool:
        """A run that nobody has; False where somebody has it."""
        given = {"run": run, "who": who, "to": to.worker, "place": to.place, "root": to.root}
        return await self.database.write(
            lambda connection: connection.execute(_GIVE, given).first() is not None
        )

    async def waiting(self, run: str) -> UnownedRun | None:
        """None of a run that somebody has."""

        def work(connection: Connection) -> UnownedRun | None:
            row = connection.execute(_HELD, {"run": run}).first()
            if row is None:
                return None
            labels = tuple(json.loads(row.labels))
            return UnownedRun(row.place, row.root, labels, row.walk, row.name)

        return await self.database.read(work)

    async def drain(self, worker: str, *, undo: bool = False) -> bool:
        """It takes nothing new from now on, or does again; whether that is another state."""
        before, to = ("draining", "alive") if undo else ("alive", "draining")
        given = {"worker": worker, "before": before, "to": to}
        return await self.database.write(
            lambda connection: connection.execute(_DRAIN, given).first() is not None
        )

    async def offer(
        self, run: str, root: str | None, place: str, walk: str, labels: Sequence[str]
    ) -> None:
        """A run is open, and this is what it takes to work on it."""
        # The time in its id, whatever stands before that.
        key, wanted = run.rpartition("_")[2], json.dumps(list(labels))
        given = {"run": run, "key": key, "labels": wanted, "root": root}
        given |= {"place": place, "walk": walk}
        await self.database.write(lambda connection: _do(connection, _OFFER, given))


def _do(connection: Connection, statement: Any, given: dict[str, Any]) -> None:
    connection.execute(statement, given)
