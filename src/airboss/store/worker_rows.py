"""All workers of a shared database, and the open runs that each has: read by servers for people,
and by commands without a server. PostgreSQL only."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from airboss.model.run_events import ON_ALL_MACHINES
from airboss.model.runs import LoneRunView, RunView

if TYPE_CHECKING:
    from sqlalchemy import Connection

WorkerState = Literal["alive", "draining", "left", "lost"]
Ask = Callable[[str], Iterable[Mapping[str, Any]]]

_WORKERS: Final = """
SELECT id, place, name, host, pid, version, labels, roots, shared_roots, slots, state, beat,
    seen_at, offset_ms, pages, began_at, ended_at, runs_left
FROM workers ORDER BY state IN ('alive', 'draining') DESC, seen_at DESC, id LIMIT 200
"""
_VERSION: Final = "SELECT current_setting('server_version') AS version"
_RUNS: Final = """
SELECT streams.owner, views.kind, CAST(views.body AS text) AS body, work.root,
    holder.name AS held_by
FROM views JOIN streams USING (stream)
LEFT JOIN work ON work.run = views.stream
LEFT JOIN workers AS holder ON holder.id = work.held_for
WHERE views.kind IN ('run', 'lone')
    AND views.state IN ('waiting', 'running', 'waiting-for-person')
ORDER BY views.created_at, views.stream LIMIT 1000
"""


@dataclass(frozen=True)
class WorkerRow:
    """What a worker says of itself, and what others say of it."""

    id: str
    place: str
    name: str
    host: str
    pid: int
    version: str
    labels: Sequence[str]
    roots: Sequence[str]
    shared_roots: Sequence[str]
    slots: int
    state: WorkerState
    beat: int
    seen_at: int
    offset_ms: int
    pages: bool
    began_at: int
    ended_at: int | None
    runs_left: int


@dataclass(frozen=True)
class OpenRun:
    """A run that has not ended, and who has it."""

    view: RunView
    owner: str | None
    # Whether its folder is one that several machines share.
    can_move: bool
    # The name of the one that had it last.
    held_by: str | None


@dataclass(frozen=True)
class AllWorkers:
    """Those that live first; runs by their age; and the version of the database's server."""

    workers: Sequence[WorkerRow]
    runs: Sequence[OpenRun]
    version: str

    def runs_of(self, worker: str) -> list[OpenRun]:
        return [run for run in self.runs if run.owner == worker]

    def slots_used(self, worker: str) -> int:
        """Tasks that are at work: who waits, for a person or a slot, has none."""
        views = (run.view for run in self.runs_of(worker))
        return sum(work.waits_for is None for view in views for work in view.running)

    @property
    def tasks_waiting(self) -> int:
        """Those that wait until there is room on all machines together."""
        works = (work for run in self.runs for work in run.view.running)
        return sum((work.waits_for or "").endswith(ON_ALL_MACHINES) for work in works)


def read_workers(connection: "Connection") -> AllWorkers:
    return all_workers(lambda asked: _rows(connection, asked))


def _rows(connection: "Connection", asked: str) -> list[dict[str, Any]]:
    return [{**row} for row in connection.exec_driver_sql(asked).mappings()]


def all_workers(ask: Ask) -> AllWorkers:
    workers = [_worker(row) for row in ask(_WORKERS)]
    runs = [_run(row) for row in ask(_RUNS)]
    (said,) = ask(_VERSION)
    return AllWorkers(workers, runs, str(said["version"]).split()[0])


def _worker(row: Mapping[str, Any]) -> WorkerRow:
    said = dict(row)
    for name in ("labels", "roots", "shared_roots"):
        said[name] = tuple(json.loads(row[name]))
    return WorkerRow(**said)


def _run(row: Mapping[str, Any]) -> OpenRun:
    kind = LoneRunView if row["kind"] == LoneRunView.stream_kind else RunView
    view = kind.model_validate_json(row["body"], extra="ignore")
    return OpenRun(view, row["owner"], row["root"] is not None, row["held_by"])
