"""Streams as they lie on the disk after a long life: a session, and a run of a wide job."""

import contextlib
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import Writer, commit
from airboss.model.events import (
    Event,
    MessageEnded,
    MessageStarted,
    PromptAccepted,
    SessionIdle,
    SessionOpened,
    SessionReady,
    ToolEnded,
    ToolResult,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import (
    RunId,
    SessionId,
    TaskRunId,
    TurnId,
    new_prompt_id,
    new_run_id,
    new_session_id,
)
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.task_events import TaskAccepted, TaskEnded, TaskSessionStarted
from airboss.store.folder import DataFolder
from airboss.store.sqlite_database import SqliteDatabase
from bench.wire import Failed

# What is written together has one time. Not a multiple of a turn, so that messages take time too.
_AT_ONCE = 45
_EVENTS_A_TURN = 8
LASTS_MS = 20 * 60 * 1_000


async def fill(
    data: Path, work: Path, like: str, tasks: list[str], events: int
) -> tuple[RunId, SessionId]:
    """A run of the same job as another one, whose first task's session has a fifth of its events;
    and a session by itself. All went on for twenty minutes until a moment ago."""
    began = time.time_ns() // 1_000_000 - LASTS_MS - 60_000
    of_task = await _fill_session(data, work, events // 5, began)
    run = await _fill_run(data, like, tasks, events, of_task, began)
    return run, await _fill_session(data, work, events, began)


async def _fill_session(data: Path, work: Path, events: int, began: int) -> SessionId:
    """Turns of eight events each, with a tool and an answer."""
    name = new_session_id()
    async with _log(data) as log:
        writer = log.new_writer(name)
        opened = SessionOpened(model="bench", cwd=str(work), policy="deny-all", who="bench")
        turns = _turns(events // _EVENTS_A_TURN)
        await _say(writer, chain((opened, SessionReady()), turns), events, began)
    return name


def _turns(count: int) -> Iterator[Event]:
    for number in range(count):
        prompt, turn = new_prompt_id(), TurnId(f"trn_{number}")
        yield PromptAccepted(prompt=prompt, text=f"Request {number}: look again.", who="bench")
        yield TurnStarted(turn=turn, prompt=prompt)
        tool, arguments = f"tool{number}", f'{{"path": "src/file{number}.py"}}'
        yield ToolStarted(block=tool, name="view", arguments=arguments)
        text = "\n".join(f"line {line} of file {number}" for line in range(20))
        yield ToolEnded(block=tool, text=text, result=ToolResult(content=text))
        yield MessageStarted(block=f"message{number}")
        answer = f"**Answer {number}.** It is as it was:\n\n- one\n- `two`\n"
        yield MessageEnded(block=f"message{number}", text=answer)
        yield TurnEnded(turn=turn, outcome="done", models=("bench",))
        yield SessionIdle()


def wide_entry(rows: int, columns: int) -> dict[str, object]:
    """A job of `rows` steps, each with `columns` tasks at the same time."""
    names = [f"task-{row}-{column}" for row in range(rows) for column in range(columns)]
    works = [
        {
            "kind": "Par",
            "works": [
                {"kind": "Ref", "taskId": f"task-{row}-{column}"} for column in range(columns)
            ],
        }
        for row in range(rows)
    ]
    return {
        "models": {"driving": "scripted/bench", "working": "scripted/bench"},
        "promptVariables": {},
        "tasks": {
            name: {
                "model": {"category": "working"},
                "prompt": ["Say yes."],
                "requireUserInput": False,
            }
            for name in names
        },
        "jobs": {"wide": {"work": {"kind": "Seq", "works": works}}},
        "grid": [{"keyword": "wide", "jobs": [{"name": "Wide", "jobName": "wide"}]}],
    }


async def _fill_run(
    data: Path, like: str, tasks: list[str], events: int, session: SessionId, began: int
) -> RunId:
    """Each task waits for a slot many times over; the first works as long as the run does."""
    waits = max(1, (events // len(tasks) - 2) // 2)
    run = new_run_id()
    async with _log(data) as log:
        accepted = (await log.after(like, 0, 1))[0].event
        if not isinstance(accepted, RunAccepted):
            raise Failed(f"The run {like} does not begin with its acceptance.")
        ended = RunEnded(outcome="succeeded", reason="All of it is done.")
        told = chain((accepted,), _works(tasks, waits), (ended,))
        await _say(log.new_writer(run), told, len(tasks) * (2 * waits + 2), began)
        task = log.new_writer(_task_run(0))
        begun = _begun_task(run, session, tasks[0], accepted)
        await commit(*(task.line(event) for event in begun), at=began)
        done = TaskEnded(outcome="succeeded", reason="It is done.")
        await commit(task.line(done), at=began + LASTS_MS)
    return run


def _task_run(number: int) -> TaskRunId:
    return TaskRunId(f"tsk_bench{number}")


def _works(tasks: list[str], waits: int) -> Iterator[Event]:
    for number, task in enumerate(tasks):
        path, task_run = f"bench/{number}", _task_run(number)
        yield WorkStarted(work=number, path=path, task=task, task_run=task_run)
        for _ in range(waits):
            yield WorkWaiting(path=path, reason="a task slot")
            yield WorkGoing(path=path)
        if number > 0:
            yield _stopped(number, succeeded=number % 50 != 49)
    yield _stopped(0, succeeded=True)


def _stopped(number: int, *, succeeded: bool) -> WorkStopped:
    path = f"bench/{number}"
    return WorkStopped(work=number, path=path, task_run=_task_run(number), succeeded=succeeded)


def _begun_task(
    run: RunId, session: SessionId, task: str, accepted: RunAccepted
) -> Iterator[Event]:
    yield TaskAccepted(
        task=task,
        entry=accepted.entry,
        model="bench",
        cwd=accepted.cwd,
        policy="deny-all",
        user_input="",
        who="bench",
        run=run,
        path="bench/0",
    )
    yield TaskSessionStarted(session=session, model="bench", is_driving=True)


@contextlib.asynccontextmanager
async def _log(data: Path) -> AsyncGenerator[EventLog]:
    """The event log of a data folder whose server is down."""
    folder = DataFolder(data)
    database = SqliteDatabase(folder.database)
    await database.open()
    async with EventLog(database, Journal(folder.journal)).running() as log:
        yield log
    await database.close()


async def _say(writer: Writer, events: Iterable[Event], count: int, began: int) -> None:
    """In portions, each with a time of its own."""
    said = 0
    left = iter(events)
    while portion := tuple(islice(left, _AT_ONCE)):
        at = began + LASTS_MS * min(said, count) // count
        await commit(*(writer.line(event) for event in portion), at=at)
        said += len(portion)
