"""All that Airboss uses of DBOS without a promise: its inside, its tables, its words in the log.

The rest of the house uses DBOS's public calls alone; a test of the house says so. `RELIED_ON` lists
each thing with its reason, and `tests/engine/test_dbos_internals.py` fails when a release of DBOS
changes one. DBOS is imported inside the functions: looking into its file does not need it.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dbos import Queue

# What is used: why, and what goes wrong without it.
RELIED_ON: Final[Mapping[str, str]] = {
    "asyncio._set_running_loop": (
        "DBOS.launch() adopts the loop that it is called in, and blocks: it reads and writes its "
        "file. In a thread that names our loop as its own it does both. Without it, workflows "
        "would work in a second loop, where none of our objects may be used."
    ),
    "dbos._dbos._get_or_create_dbos_registry": (
        "The only way to the internal queue before DBOS is launched."
    ),
    "dbos._dbos.DBOSRegistry._register_internal_queue": (
        "Open workflows are taken up through the internal queue, at one look a second. Without it "
        "each level of a run's tree would wait a second after a restart."
    ),
    "dbos._utils.INTERNAL_QUEUE_NAME": "The name of that queue.",
    "dbos._queue.Queue._polling_interval_sec": (
        "Taken back to a second when all is taken up: twenty looks a second cost 5 % of a core. "
        "The public setter writes a row, which an internal queue has not."
    ),
    "dbos._migration.sqlite_migrations": (
        "How many there are says whether a file has to be migrated. Without it every start would "
        "copy the file and migrate the copy."
    ),
    "table dbos_migrations (version)": (
        "How far a file has been migrated. Without it half a file would be opened as a whole one."
    ),
    "table workflow_status (workflow_uuid, status)": (
        "Whether a run is known or open, without loading DBOS: that takes half a second and 30 MB, "
        "and a server without jobs needs neither."
    ),
    "table workflow_status (name)": (
        "Tells the tasks and branches of runs that an earlier version left open: those were "
        "workflows of their own. Without it each would work twice, in its run and beside it."
    ),
    "tables with workflow_uuid": (
        "What is deleted with a run. DBOS's own delete needs it launched, and asks for the ids of "
        "all below the run."
    ),
    "log 'task cancelled'": "Told, with a trace, for every wait that ends when a run is stopped.",
    "log 'recorded outcome'": "Told for the same, by the workflow that waited.",
}

_OPEN: Final = "status IN ('PENDING', 'ENQUEUED')"
# From `run.` and `run~` to the characters behind these.
_OF_RUN: Final = (
    "workflow_uuid = :run OR workflow_uuid >= :run || '.' AND workflow_uuid < :run || '/' "
    "OR workflow_uuid >= :run || '~' AND workflow_uuid < :run || char(127)"
)
_TABLES_OF_RUNS: Final = (
    "SELECT kept.name FROM sqlite_master AS kept, pragma_table_info(kept.name) AS field "
    "WHERE kept.type = 'table' AND field.name = 'workflow_uuid'"
)


@contextmanager
def inside_of(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """In a thread of its own: who asks there for the running loop is given `loop`."""
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)


def recovery_queue(seconds: float) -> "Queue":
    """The queue by which DBOS takes up what is open, with so long between two looks. Before the
    launch, which would make it by itself."""
    from dbos._dbos import _get_or_create_dbos_registry  # pyright: ignore[reportPrivateUsage]
    from dbos._utils import INTERNAL_QUEUE_NAME

    registry = _get_or_create_dbos_registry()
    return registry._register_internal_queue(  # pyright: ignore[reportPrivateUsage]
        INTERNAL_QUEUE_NAME, polling_interval_sec=seconds
    )


def look_every(queue: "Queue", seconds: float) -> None:
    queue._polling_interval_sec = seconds  # pyright: ignore[reportPrivateUsage]


def latest_schema() -> int:
    """The number of the last migration that this release of DBOS has."""
    from dbos._migration import sqlite_migrations

    return len(sqlite_migrations)


def schema_of(file: sqlite3.Connection) -> int:
    """The number of the last migration in a file; 0 where none is noted, whatever tables it has."""
    if not _has_table(file, "dbos_migrations"):
        return 0
    found = file.execute("SELECT version FROM dbos_migrations").fetchone()
    return found[0] if found else 0


def has_workflow(file: sqlite3.Connection, workflow: str) -> bool:
    return _has_row(file, "workflow_uuid = ?", workflow)


def has_open_workflow(file: sqlite3.Connection, workflow: str | None = None) -> bool:
    if workflow is None:
        return _has_row(file, _OPEN)
    return _has_row(file, f"workflow_uuid = ? AND {_OPEN}", workflow)


def has_queued_workflow(file: sqlite3.Connection) -> bool:
    """Whether one is still to be taken up."""
    return _has_row(file, "status = 'ENQUEUED'")


def delete_workflows_of(file: sqlite3.Connection, run: str) -> None:
    """All rows of a run, of each time that it was tried, with all that it started: those are named
    by the run's name and a path."""
    # DBOS has no foreign keys between these; a table that it adds is found as well.
    for (table,) in file.execute(_TABLES_OF_RUNS).fetchall():
        ours = f'DELETE FROM "{table}" WHERE {_OF_RUN}'  # noqa: S608 - the file's own names
        file.execute(ours, {"run": run})


def delete_open_parts(file: sqlite3.Connection) -> None:
    """The tasks and branches of runs that an earlier version left open. They are part of their
    run's own workflow now, and what they came to is in the log."""
    if _has_table(file, "workflow_status"):
        file.execute(f"DELETE FROM workflow_status WHERE name IN ('task', 'branch') AND {_OPEN}")  # noqa: S608


def _has_row(file: sqlite3.Connection, condition: str, *values: str) -> bool:
    if not _has_table(file, "workflow_status"):
        return False
    row = f"SELECT 1 FROM workflow_status WHERE {condition} LIMIT 1"  # noqa: S608
    return file.execute(row, values).fetchone() is not None


def _has_table(file: sqlite3.Connection, name: str) -> bool:
    found: Any = file.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return found is not None


class _NoCancelled(logging.Filter):
    """Whoever stops a run knows; DBOS tells it once more for every wait that ends, with a trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        from dbos import error

        raised = record.exc_info[1] if record.exc_info else None
        if isinstance(raised, error.DBOSAwaitedWorkflowCancelledError):
            return False
        words = record.getMessage()
        return "task cancelled" not in words and "recorded outcome" not in words


def quiet_log() -> None:
    """A handler keeps DBOS from adding its own: what it says goes where all else goes."""
    log = logging.getLogger("dbos")
    if not any(isinstance(known, _NoCancelled) for known in log.filters):
        log.addHandler(logging.NullHandler())
        log.addFilter(_NoCancelled())
