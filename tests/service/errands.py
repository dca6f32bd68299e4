"""Tasks without HTTP, on the real runtime and scripted models: run one, and hear its story."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from airboss.model.events import Event
from airboss.model.ids import SessionId
from airboss.model.task_events import (
    MissionSent,
    TaskDecided,
    TaskSessionStarted,
    TaskSessionStopped,
)
from airboss.model.task_runs import Attempt, FieldCheck, TaskRunView
from airboss.model.views import SessionView
from airboss.service.tasks import NewTaskRun, TaskRuns
from tests.service.house import ME, House, house_in

SCRIPT = Path(__file__).with_name("errands.yaml").read_text(encoding="utf-8")
AGAIN = "The session crashed, please redo and here is the last request:\n"
TRUE, FALSE = "job_boolean_true", "job_boolean_false"
DOCUMENT, PREREQUISITE = "job_prepare_document", "job_prerequisite_failed"
SAY_SO = f"Say so with {TRUE} or {FALSE}."
BOTH_DENIED = f"Neither {TRUE} nor {FALSE} was called."
E = TypeVar("E", bound=Event)


def asks(question: str) -> list[str]:
    """A condition."""
    return [question, SAY_SO]


def task(prompt: str, **more: Any) -> dict[str, Any]:
    return {"prompt": [prompt], "requireUserInput": "$user-input" in prompt, **more}


def criteria(*tools: str, retries: int = 0, more: str | None = None, **rest: Any) -> dict[str, Any]:
    action: dict[str, Any] = {"retryTimes": retries}
    if more is not None:
        action["additionalPrompt"] = [more]
    named = {"toolExecuted": list(tools)} if tools else {}
    return {**named, "failureAction": action, **rest}


def entry(tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Driven by `driver`; coding is done by `coder`."""
    return {
        "models": {"driving": "driver", "coding": "coder"},
        "promptVariables": {},
        "tasks": tasks,
        "jobs": {},
        "grid": [],
        **more,
    }


@dataclass(frozen=True)
class Story:
    """A task run that has ended."""

    view: TaskRunView
    events: list[Event]
    checks: tuple[FieldCheck, ...]
    attempts: tuple[Attempt, ...]
    # Those that it opened, as they are now.
    sessions: list[SessionView]

    def only(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def said(self) -> list[str]:
        """The decisions, with the sessions' ids as S1, S2 …"""
        recorded = [event.text for event in self.only(TaskDecided)]
        for number, session in enumerate(self.sessions, 1):
            recorded = [text.replace(session.id, f"S{number}") for text in recorded]
        return recorded

    @property
    def texts(self) -> list[str]:
        """All that was sent."""
        return [sent.text for sent in self.only(MissionSent)]

    @property
    def prompts(self) -> list[str]:
        return [sent.text for sent in self.only(MissionSent) if sent.mission.kind == "prompt"]

    @property
    def missions(self) -> list[str]:
        """What was sent where, as `prompt 0.1 coder`."""
        models = {session.id: session.model for session in self.sessions}
        return [
            f"{sent.mission.kind} {sent.mission.round}.{sent.mission.attempt} "
            f"{models.get(sent.session, 'borrowed')}"
            for sent in self.only(MissionSent)
        ]

    @property
    def places(self) -> list[str]:
        """How its sessions came and went, as `coder task open`, `coder task closed well`."""
        names: dict[SessionId, str] = {}
        said: list[str] = []
        for event in self.events:
            if isinstance(event, TaskSessionStarted):
                kind = "driving" if event.is_driving else "task"
                names[event.session] = f"{event.model} {kind}"
                said.append(f"{names[event.session]} open")
            elif isinstance(event, TaskSessionStopped):
                how = "well" if event.succeeded else "badly"
                said.append(f"{names.pop(event.session)} closed {how}")
        assert not names, "each that came went"
        return said


@dataclass
class TaskHouse(House):
    """A house whose entry is the test's own."""

    folder: Path = field(default_factory=Path)

    @property
    def tasks(self) -> TaskRuns:
        return self.services.tasks

    async def install(self, tasks: dict[str, Any], **more: Any) -> None:
        file = self.folder / "entry.json"
        await asyncio.to_thread(file.write_text, json.dumps(entry(tasks, **more)), "utf-8")
        entries = self.services.entries
        reading = await entries.files.read(file)
        assert reading.entry is not None, reading.trouble
        await entries.install(reading, "api")

    async def begin(self, name: str = "it", text: str = "", **request: Any) -> TaskRunView:
        if "session" not in request:
            request.setdefault("cwd", str(self.work))
        return await self.tasks.start(NewTaskRun(name, text, ME, **request))

    async def perform(self, task: dict[str, Any], text: str = "", **more: Any) -> Story:
        """One task to its end; what is no field of the request belongs to the entry."""
        known = NewTaskRun.__dataclass_fields__
        await self.install({"it": task}, **{k: v for k, v in more.items() if k not in known})
        request = {name: value for name, value in more.items() if name in known}
        return await self.ended((await self.begin("it", text, **request)).id)

    async def ended(self, run: str, seconds: float = 20) -> Story:
        """Its story, once it has ended; nothing that it opened is open then."""
        async with asyncio.timeout(seconds), self.services.log.follow(run, 0) as follower:
            while (view := await self.tasks.show(run)).is_open:
                await follower.next(1)
            await asyncio.sleep(0)  # it is let go right behind its last word
        said = await self.tasks.story(run, view.seq)
        page = await self.tasks.events(run, 0, 1000)
        events = [recorded.event for recorded in page.items]
        assert view.sessions == ()
        sessions = await self.opened_by(run)
        assert {session.state for session in sessions} <= {"closed"}
        return Story(view, events, said.checks, said.attempts, sessions)

    async def opened_by(self, run: str) -> list[SessionView]:
        """In the order in which they were opened."""
        page = await self.sessions.page((), None, 200)
        found = [view for view in page.items if view.who == f"task {run}"]
        return sorted(found, key=lambda view: view.id)

    async def hears(self, run: str, kind: type[E], count: int = 1) -> E:
        """The n-th event of this kind, as soon as it comes."""
        async with asyncio.timeout(20), self.services.log.follow(run, 0) as follower:
            while True:
                for recorded in await follower.next(5):
                    if isinstance(event := recorded.event, kind):
                        count -= 1
                        if not count:
                            return event

    async def under_way(self, run: str, count: int = 1) -> MissionSent:
        """The n-th mission, once the model has begun to talk about it."""
        sent = await self.hears(run, MissionSent, count)
        async with asyncio.timeout(20), self.sessions.follow(sent.session, 0) as follower:
            begun = False
            while True:
                for recorded in await follower.next(5):
                    event = recorded.event
                    begun = begun or getattr(event, "prompt", None) == sent.prompt
                    if begun and event.kind == "message.started":
                        return sent

    async def lend(self, model: str = "coder") -> SessionId:
        """An open session of a person's."""
        return (await self.sessions.start(model, str(self.work), ME)).id

    async def story_of(self, session: str, kind: type[E]) -> list[E]:
        return [event for event in await self.story(session) if isinstance(event, kind)]


@contextlib.asynccontextmanager
async def task_house_in(folder: Path, script: str, **settings: Any) -> AsyncGenerator[TaskHouse]:
    file = folder / "script.yaml"
    file.write_text(script, encoding="utf-8")
    async with house_in(folder, rehearsal=file, **settings) as house:
        yield TaskHouse(house.services, house.work, folder)
