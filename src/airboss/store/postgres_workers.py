"""Who works on a shared database: registers a worker, beats for it, and marks others as lost.

PostgreSQL only. A worker's line is one connection of its own, used by one thread at a time.
"""

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.errors import InvalidSchemaName, UndefinedTable
from psycopg.rows import dict_row

from airboss.errors import StoreUnavailable
from airboss.store.postgres_connection import NO_TABLES, Watchdog, connect, sentence
from airboss.store.postgres_notices import FREED
from airboss.store.worker_rows import AllWorkers, all_workers
from airboss.wall_clock import local_ms

_LIVES: Final = "state IN ('alive', 'draining')"
_NOW_MS: Final = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

# A round trip that takes longer was held up somewhere.
_QUICK_MS: Final = 500

_REGISTER: Final = f"""
INSERT INTO workers
    (id, place, name, host, pid, version, walks, labels, roots, shared_roots, root_names, slots,
     pages, lease_ms, state, seen_at, began_at)
VALUES
    (%(id)s, %(place)s, %(name)s, %(host)s, %(pid)s, %(version)s, %(walks)s, %(labels)s, %(roots)s,
     %(shared_roots)s, %(root_names)s, %(slots)s, %(pages)s, %(lease_ms)s, 'alive',
     {_NOW_MS}, {_NOW_MS})
ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - all of it is ours
_PREDECESSORS: Final = f"SELECT id FROM workers WHERE place = %s AND id <> %s AND {_LIVES}"  # noqa: S608
_ELSEWHERE: Final = f"""
SELECT id, host, name, beat, lease_ms FROM workers
WHERE place = %s AND id <> %s AND host <> %s AND {_LIVES}
"""  # noqa: S608
# One round trip: one more for this worker, and what all others have.
_BEAT: Final = f"""
WITH mine AS (
    UPDATE workers SET beat = beat + 1, seen_at = {_NOW_MS}, offset_ms = %(known)s
    WHERE id = %(me)s AND {_LIVES}
    RETURNING id, %(clock)s - {_NOW_MS} AS offset_ms
)
SELECT mine.id, mine.offset_ms, other.id, other.beat, other.lease_ms
FROM workers AS other LEFT JOIN mine ON true WHERE other.{_LIVES}
"""  # noqa: S608
# A beat that moved meanwhile is one that lives.
_TAKE: Final = f"SELECT 1 FROM workers WHERE id = %s AND {_LIVES} AND beat = %s FOR UPDATE"  # noqa: S608
_TAKE_ANYHOW: Final = f"SELECT 1 FROM workers WHERE id = %s AND {_LIVES} FOR UPDATE"  # noqa: S608
# Who is stopped while it sends a transaction holds its locks: its session waits for the rest, where
# no timeout of PostgreSQL's counts.
_END_HELD_UP: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN pg_locks USING (pid)
WHERE relation = 'workers'::regclass AND mode = 'RowShareLock' AND usename = current_user
    AND wait_event_type = 'Client' AND query_start < clock_timestamp() - interval '3 s'
"""
_LIVE_MYSELF: Final = f"SELECT 1 FROM workers WHERE id = %s AND {_LIVES} FOR KEY SHARE"  # noqa: S608
_STATE: Final = "SELECT state FROM workers WHERE id = %s"
_END: Final = f"""
UPDATE workers SET state = %(state)s, ended_at = {_NOW_MS}, runs_left = (
    SELECT count(*) FROM work JOIN streams ON streams.stream = work.run
    WHERE streams.owner = workers.id
) WHERE id = %(worker)s
"""  # noqa: S608
_LET_GO: Final = (
    # Whoever goes on with a run says who had it.
    "UPDATE work SET held_for = streams.owner FROM streams "
    "WHERE streams.stream = work.run AND streams.owner = %s",
    # What has ended stays: there is much of it, and one that is gone owns nothing.
    "UPDATE streams SET owner = NULL WHERE owner = %s AND NOT EXISTS ("
    "SELECT 1 FROM views WHERE views.stream = streams.stream "
    "AND (views.ended_at IS NOT NULL OR views.state = 'closed'))",
    "UPDATE duties SET owner = NULL WHERE owner = %s",
)


@dataclass(frozen=True)
class Worker:
    """One process that works, from its start to its end. `place` is its data folder's name."""

    id: str
    place: str
    name: str
    host: str
    pid: int
    version: str
    walks: Sequence[str] = ()
    labels: Sequence[str] = ()
    roots: Sequence[Path] = ()
    shared_roots: Sequence[Path] = ()
    # The marks of those, with their paths.
    root_names: Sequence[str] = ()
    # 0: it does not work.
    slots: int = 0
    pages: bool = False
    # What it was told itself; 0: as whoever watches it.
    lease_seconds: float = 0

    @property
    def row(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "place": self.place,
            "name": self.name,
            "host": self.host,
            "pid": self.pid,
            "version": self.version,
            "walks": "\n".join(self.walks),
            "labels": json.dumps(list(self.labels)),
            "roots": json.dumps([str(root) for root in self.roots]),
            "shared_roots": json.dumps([str(root) for root in self.shared_roots]),
            "root_names": json.dumps(list(self.root_names)),
            "slots": self.slots,
            "pages": self.pages,
            "lease_ms": round(self.lease_seconds * 1000),
        }


@dataclass(frozen=True)
class Predecessor:
    """As it was when it was looked at."""

    id: str
    host: str
    name: str
    beat: int
    lease_ms: int


@dataclass
class WorkerLine:
    """A worker's own line to the database. Each call ends within its seconds."""

    url: str
    worker: str
    # How far this machine's clock was ahead of the database's at the last beat.
    offset_ms: int = 0
    # In seconds, of those that live and say it.
    leases: Mapping[str, float] = field(default_factory=dict[str, float])
    _watchdog: Watchdog = field(default_factory=Watchdog)
    _connection: "psycopg.Connection[Any] | None" = None

    def register(self, worker: Worker, seconds: float) -> list[str]:
        """From now on it lives. Whoever lived at the same place before is dead: its data folder's
        lock says so. Answers those. Repeated, it does no harm."""

        def work(connection: "psycopg.Connection[Any]") -> list[str]:
            with connection.transaction():
                before = connection.execute(_PREDECESSORS, (worker.place, worker.id))
                gone = [one for (one,) in before.fetchall() if _end(connection, one, "lost")]
                connection.execute(_REGISTER, worker.row)
                return gone

        return self._call(work, seconds)

    def predecessors(self, worker: Worker, seconds: float) -> list[Predecessor]:
        """Who counts as living at the same place, on another machine."""

        def work(connection: "psycopg.Connection[Any]") -> list[Predecessor]:
            found = connection.execute(_ELSEWHERE, (worker.place, worker.id, worker.host))
            return [Predecessor(*row) for row in found.fetchall()]

        return self._call(work, seconds)

    def beat(self, seconds: float) -> Mapping[str, int] | None:
        """One more, and the beats of all others that live. None: this worker counts as lost."""

        def work(connection: "psycopg.Connection[Any]") -> Mapping[str, int] | None:
            given = {"me": self.worker, "clock": local_ms(), "known": self.offset_ms}
            sent = time.monotonic()
            rows = connection.execute(_BEAT, given).fetchall()
            took = (time.monotonic() - sent) * 1000
            if not rows or rows[0][0] is None:
                return None
            # A beat that was held up says nothing of the clocks; any other was half of it there.
            if took <= _QUICK_MS:
                self.offset_ms = rows[0][1] + round(took / 2)
            self.leases = {worker: ms / 1000 for _, _, worker, _, ms in rows if ms}
            return {worker: beat for _, _, worker, beat, _ in rows if worker != self.worker}

        return self._call(work, seconds)

    def mark_lost(self, worker: str, beat: int | None, seconds: float) -> bool:
        """Unless its beat has moved meanwhile; whether it was done by this call. Who watches beats
        has to live itself: of two that find each other lost, one stays. Without a beat it is
        somebody's word."""

        def work(connection: "psycopg.Connection[Any]") -> bool:
            connection.execute(_END_HELD_UP)
            with connection.transaction():
                is_done = _end(connection, worker, "lost", beat)
                is_watched = beat is not None and worker != self.worker
                if is_done and is_watched and not self._lives(connection):
                    raise psycopg.Rollback
                return is_done
            return False

        return self._call(work, seconds)

    def state_of(self, worker: str, seconds: float) -> str | None:
        """None of one that never was."""

        def work(connection: "psycopg.Connection[Any]") -> str | None:
            found = connection.execute(_STATE, (worker,)).fetchone()
            return found and found[0]

        return self._call(work, seconds)

    def _lives(self, connection: "psycopg.Connection[Any]") -> bool:
        return connection.execute(_LIVE_MYSELF, (self.worker,)).fetchone() is not None

    def leave(self, seconds: float) -> bool:
        """In order: what it had is free for others."""

        def work(connection: "psycopg.Connection[Any]") -> bool:
            with connection.transaction():
                return _end(connection, self.worker, "left")

        return self._call(work, seconds)

    def all(self, seconds: float) -> AllWorkers:
        """Every worker that is known, those that live first, and what each has."""

        def work(connection: "psycopg.Connection[Any]") -> AllWorkers:
            with connection.cursor(row_factory=dict_row) as cursor:
                return all_workers(lambda asked: cursor.execute(asked.encode()).fetchall())

        return self._call(work, seconds)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()

    def _call(self, work: Any, seconds: float) -> Any:
        try:
            if self._connection is None or self._connection.closed:
                timeout = max(2, round(seconds))
                self._connection = connect(self.url, autocommit=True, connect_timeout=timeout)
            with self._watchdog.guard(self._connection, seconds):
                return work(self._connection)
        except psycopg.Error as error:
            self.close()
            if isinstance(error, UndefinedTable | InvalidSchemaName):
                raise StoreUnavailable(NO_TABLES) from error
            raise StoreUnavailable(f"The database cannot be used: {sentence(error)}") from error


def _end(
    connection: "psycopg.Connection[Any]", worker: str, state: str, beat: int | None = None
) -> bool:
    """Who holds the row for an append is waited for; who comes later finds it ended."""
    taken = (
        connection.execute(_TAKE_ANYHOW, (worker,))
        if beat is None
        else connection.execute(_TAKE, (worker, beat))
    )
    if taken.fetchone() is None:
        return False
    connection.execute(_END, {"state": state, "worker": worker})
    for statement in _LET_GO:
        connection.execute(statement, (worker,))
    connection.execute("SELECT pg_notify(%s, %s)", (FREED, worker))
    return True
