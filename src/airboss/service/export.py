"""Sessions, tasks and runs to take away: written piece by piece, in one of three forms."""

import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from airboss.engine.run_story import story_of_run
from airboss.log.log import EventLog
from airboss.model.runs import RunView, WorkRecord
from airboss.model.task_events import TaskSessionStarted
from airboss.model.task_runs import TaskRunView
from airboss.model.views import SessionView, View
from airboss.service.export_pages import ExportPage, Facts, Html, Markdown, moment
from airboss.service.transcript import passages

Format: TypeAlias = Literal["markdown", "jsonl", "html"]

ENDINGS: Final = {"markdown": "md", "jsonl": "jsonl", "html": "html"}
MEDIA_TYPES: Final = {
    "markdown": "text/markdown; charset=utf-8",
    "jsonl": "text/x-ndjson; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
Exported: TypeAlias = SessionView | TaskRunView | RunView
_LONGEST_NAME: Final = 60
_PAGE: Final = 200
_SESSIONS: Final = ("task.session.started",)


def file_name(view: Exported, form: Format) -> str:
    """From what a person knows it by; safe on every system and in every header."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", _name(view))[:_LONGEST_NAME].strip("-").lower()
    return f"{plain}-{view.id}.{ENDINGS[form]}" if plain else f"{view.id}.{ENDINGS[form]}"


@dataclass(frozen=True)
class Exports:
    log: EventLog

    def write(self, view: Exported, form: Format) -> AsyncGenerator[str]:
        """As of now: what is said later is not in it."""
        if form == "jsonl":
            return self._lines(view)
        return self._pages(view, Markdown() if form == "markdown" else Html())

    async def _lines(self, view: Exported) -> AsyncGenerator[str]:
        """A line with the view of each stream, then its events without deltas."""
        yield _head(view)
        async for line in self._events(view.id):
            yield line
        for stream in await self._below(view):
            if (shown := await self.log.view(stream)) is not None:
                yield _head(shown)
                async for line in self._events(stream):
                    yield line

    async def _below(self, view: Exported) -> list[str]:
        """The streams of what it did: its tasks and their sessions."""
        if isinstance(view, SessionView):
            return []
        if isinstance(view, TaskRunView):
            return await self._sessions_of(view.id)
        tasks = [work.task_run for work in await self._works(view)]
        return [one for task in tasks for one in (task, *await self._sessions_of(task))]

    async def _events(self, stream: str) -> AsyncGenerator[str]:
        after = 0
        while found := await self.log.transcript(stream, after, _PAGE):
            after = found[-1].seq
            for recorded in found:
                yield f'{{"stream":{json.dumps(stream)},{recorded.json[1:]}\n'

    async def _pages(self, view: Exported, page: ExportPage) -> AsyncGenerator[str]:
        yield page.begin(_name(view) or view.id, _facts(view))
        if not isinstance(view, RunView):
            async for piece in self._passages(view.id, page):
                yield piece
        if isinstance(view, TaskRunView):
            async for piece in self._sessions(view.id, page):
                yield piece
        if isinstance(view, RunView):
            for work in await self._works(view):
                took = [("state", work.state), ("task run", work.task_run)]
                yield page.heading(2, f"{work.path} {work.task}", took)
                async for piece in self._passages(work.task_run, page):
                    yield piece
                async for piece in self._sessions(work.task_run, page):
                    yield piece
        yield page.end()

    async def _sessions(self, task_run: str, page: ExportPage) -> AsyncGenerator[str]:
        for session in await self._sessions_of(task_run):
            view = await self.log.view(session)
            if isinstance(view, SessionView):
                yield page.heading(3, f"Session on {view.model}", [("session", view.id)])
                async for piece in self._passages(session, page):
                    yield piece

    async def _passages(self, stream: str, page: ExportPage) -> AsyncGenerator[str]:
        async for passage in passages(self.log, stream):
            yield page.passage(passage)

    async def _works(self, view: RunView) -> tuple[WorkRecord, ...]:
        return (await story_of_run(self.log, view)).works

    async def _sessions_of(self, task_run: str) -> list[str]:
        found = await self.log.transcript(task_run, 0, _PAGE, _SESSIONS)
        events = [recorded.event for recorded in found]
        return [event.session for event in events if isinstance(event, TaskSessionStarted)]


def _head(view: View) -> str:
    return f'{{"{view.stream_kind}":{view.model_dump_json()}}}\n'


def _name(view: Exported) -> str:
    """What a person knows it by."""
    if isinstance(view, SessionView):
        return view.title
    return view.task if isinstance(view, TaskRunView) else view.job


def _facts(view: Exported) -> Facts:
    facts = [("id", str(view.id)), ("state", str(view.state)), ("folder", view.cwd)]
    if not isinstance(view, RunView):
        facts.append(("model", view.model))
    if not isinstance(view, SessionView) and view.reason:
        facts.append(("reason", view.reason))
    usage = view.usage
    facts += [("by", view.who), ("begun", moment(view.created_at))]
    facts.append(("used", f"{usage.whole_requests} requests, {usage.tokens} tokens"))
    return facts
