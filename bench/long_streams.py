"""Streams as they lie on the disk after a long life: a session, and a run of a wide job."""

import contextlib
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import Writer
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
from airboss.model.ids import RunId, TaskRunId, TurnId, new_prompt_id, new_session_id
from airboss.model.run_events import (
    RunEnded,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.store.database import Database
from airboss.store.folder import DataFolder

_AT_ONCE = 1_000
_EVENTS_A_TURN = 8


async def fill_session(data: Path, work: Path, events: int) -> str:
    """Turns of eight events each, with a tool and an answer."""
    name = new_session_id()
    async with _log(data) as log:
        writer = log.new_writer(name)
        await writer.commit(
            SessionOpened(model="bench", cwd=str(work), policy="deny-all", who="bench"),
            SessionReady(),
        )
        await _say(writer, _turns(events // _EVENTS_A_TURN))
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


async def fill_run(data: Path, run: str, tasks: list[str], events: int) -> None:
    """The run goes on where it was stopped: each task waits for a slot many times over."""
    waits = max(1, (events // len(tasks) - 2) // 2)
    async with _log(data) as log:
        writer = await log.writer(RunId(run))
        await _say(writer, _works(tasks, waits))
        await writer.commit(RunEnded(outcome="succeeded", reason="All of it is done."))


def _works(tasks: list[str], waits: int) -> Iterator[Event]:
    for number, task in enumerate(tasks):
        path, task_run = f"bench/{number}", TaskRunId(f"tsk_bench{number}")
        yield WorkStarted(work=number, path=path, task=task, task_run=task_run)
        for _ in range(waits):
            yield WorkWaiting(path=path, reason="a task slot")
            yield WorkGoing(path=path)
        yield WorkStopped(work=number, path=path, task_run=task_run, succeeded=number % 50 != 49)


@contextlib.asynccontextmanager
async def _log(data: Path) -> AsyncGenerator[EventLog]:
    """The event log of a data folder whose server is down."""
    folder = DataFolder(data)
    database = Database(folder.database)
    await database.open()
    async with EventLog(database, Journal(folder.journal)).running() as log:
        yield log
    await database.close()


async def _say(writer: Writer, events: Iterator[Event]) -> None:
    """In portions: all at once would be held in memory."""
    portion: list[Event] = []
    for event in events:
        portion.append(event)
        if len(portion) == _AT_ONCE:
            await writer.commit(*portion)
            portion.clear()
    if portion:
        await writer.commit(*portion)
