"""The state of a session for tests of its parts: in a real log, or in one that nobody opened."""

from dataclasses import dataclass, field
from pathlib import Path

from airboss.harness.limits import Budget
from airboss.harness.session_state import SessionState
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.events import Event, Recorded, SessionOpened
from airboss.model.ids import TaskRunId
from airboss.model.inbox_events import INBOX
from airboss.model.limits import UsageLimits
from airboss.model.redaction import Redactor
from airboss.store.sqlite_database import SqliteDatabase

SESSION = "ses_1"
SECRET = "topsecret"
REDACTOR = Redactor((SECRET,))


@dataclass
class TaskBudgets:
    """What tasks may use."""

    budgets: dict[TaskRunId, tuple[Budget, ...]] = field(
        default_factory=dict[TaskRunId, tuple[Budget, ...]]
    )

    def of(self, task_run: TaskRunId | None) -> tuple[Budget, ...]:
        return self.budgets.get(task_run, ()) if task_run else ()


def unopened_state() -> SessionState:
    """What it says gets nowhere: for parts that only look at the turn."""
    log = EventLog(SqliteDatabase(Path("nowhere")), Journal(Path("nowhere")))
    writers = log.new_writer(SESSION), log.new_writer(INBOX)
    return SessionState(*writers, REDACTOR, TaskBudgets())


async def state_in(
    log: EventLog,
    task: TaskRunId | None = None,
    limits: UsageLimits | None = None,
    budgets: TaskBudgets | None = None,
    session: str = SESSION,
) -> SessionState:
    """A session that was opened in this log a moment ago."""
    writer, inbox = log.new_writer(session), await log.writer(INBOX)
    opened = SessionOpened(
        model="m", cwd="/work", policy="ask", who="me", task=task, limits=limits or UsageLimits()
    )
    await writer.commit(opened)
    return SessionState(writer, inbox, REDACTOR, budgets or TaskBudgets())


async def story(log: EventLog, stream: str = SESSION) -> list[Event]:
    """All that was said in a stream, when it is written."""
    await log.last_view(stream)
    found: list[Recorded] = await log.after(stream, 0)
    return [recorded.event for recorded in found]


async def kinds(log: EventLog, stream: str = SESSION) -> list[str]:
    return [event.kind for event in await story(log, stream)]
