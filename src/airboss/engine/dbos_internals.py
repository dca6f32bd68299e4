"""All that Airboss uses of DBOS without a promise: its inside, its tables, its words in the log.

The rest of the house uses DBOS's public calls alone; a test of the house says so. `RELIED_ON` lists
each thing with its reason, and `tests/engine/test_dbos_internals.py` fails when a release of DBOS
changes one. DBOS is imported inside the functions: looking into its file does not need it.
"""

import asyncio
import logging
import re
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import uuid4

if TYPE_CHECKING:
    import psycopg
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
    "dbos._dbos._get_dbos_instance": "The only way to what is launched.",
    "dbos._dbos.DBOS._sys_db": "Its tables, to look into a queue at once.",
    "dbos._utils.GlobalParams": "The names under which this process takes up workflows.",
    "dbos._core.execute_dequeued_workflow": (
        "Begins what was taken out of a queue. Without this and the three before it a run that is "
        "taken over waits for the next look at the queue, up to a second: that cannot be "
        "changed within the wait."
    ),
    "dbos._migration.sqlite_migrations": (
        "How many there are says whether a file has to be migrated. Without it every start would "
        "copy the file and migrate the copy."
    ),
    "dbos._migration.get_dbos_migrations": (
        "The same of a schema in PostgreSQL. Without it nobody could say before a start what that "
        "start would change."
    ),
    "table dbos_migrations (version)": (
        "How far a file has been migrated. Without it half a file would be opened as a whole one."
    ),
    "table workflow_status (workflow_uuid, status)": (
        "Whether a run is known or open, without loading DBOS: that takes half a second and 30 MB, "
        "and a server without jobs needs neither."
    ),
    "table workflow_status (executor_id, queue_name)": (
        "Whose name a run goes on under, and by which queue it is taken up. Without it a run whose "
        "former worker woke up for a moment could stay with that one for ever, and one that had "
        "ended a moment before its worker was lost would be kept as open."
    ),
    "table workflow_status (name)": (
        "Tells the tasks and branches of runs that an earlier version left open: those were "
        "workflows of their own. Without it each would work twice, in its run and beside it."
    ),
    "tables with workflow_uuid": (
        "What is deleted with a run. DBOS's own delete needs it launched, and asks for the ids of "
        "all below the run."
    ),
    "tables of a file and of a schema": (
        "They have the same columns, so that a file can be brought into PostgreSQL. Without it "
        "open runs could not go on there."
    ),
    "log 'task cancelled'": "Told, with a trace, for every wait that ends when a run is stopped.",
    "log 'recorded outcome'": "Told for the same, by the workflow that waited.",
}

_OPEN: Final = "status IN ('PENDING', 'ENQUEUED')"
_STATUS: Final = "workflow_status"
# What each database has of its own: how far it is migrated, which versions and queues worked on it.
OWN_TABLES: Final = ("dbos_migrations", "application_versions", "queues")


class WorkflowRows(Protocol):
    """A transaction on DBOS's tables. Values are named `:so` in a statement."""

    # How names are compared by their bytes, whatever the language of the database.
    by_bytes: str

    def execute(self, statement: str, **values: str) -> list[Any]: ...
    def has_table(self, name: str) -> bool: ...
    def tables_with(self, column: str) -> list[str]: ...


class FileRows:
    """In a file of SQLite."""

    by_bytes: str = ""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file

    def execute(self, statement: str, **values: str) -> list[Any]:
        return self._file.execute(statement, values).fetchall()

    def has_table(self, name: str) -> bool:
        found = self.execute("SELECT 1 FROM sqlite_master WHERE name = :name", name=name)
        return bool(found)

    def tables_with(self, column: str) -> list[str]:
        asked = (
            "SELECT kept.name FROM sqlite_master AS kept, pragma_table_info(kept.name) AS field "
            "WHERE kept.type = 'table' AND field.name = :column"
        )
        return [name for (name,) in self.execute(asked, column=column)]


class SchemaRows:
    """In the schema that a connection to PostgreSQL looks into first."""

    by_bytes: str = ' COLLATE "C"'

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def execute(self, statement: str, **values: str) -> list[Any]:
        asked = _NAMED.sub(r"%(\1)s", statement)
        cursor = self._connection.execute(asked.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def has_tables(self) -> bool:
        return self.has_table(_STATUS)

    def has_table(self, name: str) -> bool:
        (found,) = self.execute("SELECT to_regclass(:name) IS NOT NULL", name=name)
        return bool(found[0])

    def tables_with(self, column: str) -> list[str]:
        asked = (
            "SELECT table_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND column_name = :column"
        )
        return [name for (name,) in self.execute(asked, column=column)]


_NAMED: Final = re.compile(r":([a-z]\w*)")


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


def take_from(queue: str) -> None:
    """What waits in this queue of a shared database begins now. Blocks. Where the queue's own look
    comes at the same moment, each is begun by one of the two."""
    from dbos._core import execute_dequeued_workflow
    from dbos._dbos import _get_dbos_instance  # pyright: ignore[reportPrivateUsage]
    from dbos._utils import GlobalParams

    dbos = _get_dbos_instance()
    tables = dbos._sys_db  # pyright: ignore[reportPrivateUsage]
    known = tables.get_queue(queue)
    if known is None:
        return
    token = str(uuid4())
    names, _ = tables.start_queued_workflows(
        known, GlobalParams.executor_id, GlobalParams.app_version, None, 0, owner_xid=token
    )
    for name in names:
        if status := tables.get_workflow_status(name):
            execute_dequeued_workflow(dbos, status, token)


def latest_schema() -> int:
    """The number of the last migration that this release of DBOS has."""
    from dbos._migration import sqlite_migrations

    return len(sqlite_migrations)


def latest_shared_schema(schema: str) -> int:
    """The same of a schema in PostgreSQL."""
    from dbos._migration import get_dbos_migrations

    return len(get_dbos_migrations(schema, True))


def schema_of(rows: WorkflowRows) -> int:
    """The number of the last migration in a file; 0 where none is noted, whatever tables it has."""
    if not rows.has_table("dbos_migrations"):
        return 0
    found = rows.execute("SELECT version FROM dbos_migrations")
    return found[0][0] if found else 0


def has_workflow(rows: WorkflowRows, workflow: str) -> bool:
    return _has_row(rows, "workflow_uuid = :workflow", workflow=workflow)


def has_open_workflow(rows: WorkflowRows, workflow: str | None = None) -> bool:
    if workflow is None:
        return _has_row(rows, _OPEN)
    return _has_row(rows, f"workflow_uuid = :workflow AND {_OPEN}", workflow=workflow)


def has_queued_workflow(rows: WorkflowRows, queue: str | None = None) -> bool:
    """Whether one is still to be taken up; by this queue, where one is named."""
    if queue is None:
        return _has_row(rows, "status = 'ENQUEUED'")
    return _has_row(rows, "status = 'ENQUEUED' AND queue_name = :queue", queue=queue)


def open_elsewhere(rows: WorkflowRows, workflows: Sequence[str], executor: str) -> list[str]:
    """Those of these that are at work under the name of another."""
    values = {f"w{number}": name for number, name in enumerate(workflows)}
    asked = (
        f"SELECT workflow_uuid FROM {_STATUS} WHERE status = 'PENDING' "  # noqa: S608
        f"AND executor_id <> :executor AND workflow_uuid IN ({', '.join(f':{w}' for w in values)})"
    )
    return [name for (name,) in rows.execute(asked, executor=executor, **values)]


def open_of_others(rows: WorkflowRows, executor: str) -> dict[str, str]:
    """What is open under another name than this, and under which."""
    asked = f"SELECT workflow_uuid, executor_id FROM {_STATUS} WHERE {_OPEN} "  # noqa: S608
    return dict(rows.execute(f"{asked} AND executor_id <> :executor", executor=executor))


def delete_workflows_of(rows: WorkflowRows, run: str) -> None:
    """All rows of a run, of each time that it was tried, with all that it started: those are named
    by the run's name and a path."""
    name = f"workflow_uuid{rows.by_bytes}"
    # From `run.` and `run~` to the characters behind these.
    ours = (
        f"workflow_uuid = :run OR {name} >= :below AND {name} < :behind "
        f"OR {name} >= :again AND {name} < :last"
    )
    values = {
        "run": run,
        "below": f"{run}.",
        "behind": f"{run}/",
        "again": f"{run}~",
        "last": f"{run}\x7f",
    }
    # A table that DBOS adds is found as well.
    for table in rows.tables_with("workflow_uuid"):
        rows.execute(f'DELETE FROM "{table}" WHERE {ours}', **values)  # noqa: S608 - its own names


def delete_open_parts(rows: WorkflowRows) -> None:
    """The tasks and branches of runs that an earlier version left open. They are part of their
    run's own workflow now, and what they came to is in the log."""
    if rows.has_table(_STATUS):
        rows.execute(f"DELETE FROM {_STATUS} WHERE name IN ('task', 'branch') AND {_OPEN}")  # noqa: S608


def let_go_of_open(rows: WorkflowRows) -> None:
    """Nobody has what is open, and no queue: who takes a run up names both."""
    if rows.has_table(_STATUS):
        rows.execute(f"UPDATE {_STATUS} SET status = 'PENDING', queue_name = NULL WHERE {_OPEN}")  # noqa: S608


def workflow_tables(names: Sequence[str]) -> list[str]:
    """Those that have rows of workflows, in an order in which they can be filled."""
    kept = [name for name in names if not name.startswith("sqlite_") and name not in OWN_TABLES]
    return sorted(kept, key=lambda name: name != _STATUS)


def _has_row(rows: WorkflowRows, condition: str, **values: str) -> bool:
    if not rows.has_table(_STATUS):
        return False
    return bool(rows.execute(f"SELECT 1 FROM {_STATUS} WHERE {condition} LIMIT 1", **values))  # noqa: S608


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
