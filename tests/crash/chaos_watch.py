"""Somebody outside who follows a run with its tasks and their sessions, across all restarts."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from tests.portal import Portal

Json = dict[str, Any]

RUN, TASK, SESSION = "runs", "task-runs", "sessions"
# By these a run shows that it goes on: an agent was asked, or nobody need be.
PROGRESS: Final = ("task.mission.sent", "run.ended")
_AGAIN_SECONDS: Final = 0.05


@dataclass
class Followed:
    """One stream, as it was told."""

    kind: str
    name: str
    seen: list[Json] = field(default_factory=list[Json])
    is_over: bool = False

    @property
    def last(self) -> int:
        return self.seen[-1]["seq"] if self.seen else 0


@dataclass
class Watch:
    """Follows from the run's first event on, and whatever it hears of."""

    portal: Portal
    streams: dict[str, Followed] = field(default_factory=dict[str, Followed])
    _client: httpx2.AsyncClient | None = None
    _following: "set[asyncio.Task[None]]" = field(default_factory=set["asyncio.Task[None]"])
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def client(self) -> httpx2.AsyncClient:
        assert self._client is not None
        return self._client

    async def meet(self) -> None:
        """A new server is there."""
        await self.part()
        limits = httpx2.Limits(max_connections=None)
        self._client = self.portal.client(limits=limits, verify=False)

    async def part(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def follow(self, kind: str, name: str) -> None:
        if name not in self.streams:
            self.streams[name] = Followed(kind, name)
            task = asyncio.create_task(self._follow(self.streams[name]))
            self._following.add(task)
            task.add_done_callback(self._following.discard)

    def of(self, kind: str) -> list[Followed]:
        return [stream for stream in self.streams.values() if stream.kind == kind]

    @property
    def is_over(self) -> bool:
        return all(stream.is_over for stream in self.of(RUN))

    async def over(self, seconds: float) -> bool:
        """Whether the run has ended, at the latest after so long."""
        return await self._until(lambda: self.is_over, seconds)

    async def progress(self, since: int, seconds: float) -> int | None:
        """When something went on behind `since`, both in ms."""

        def first() -> int | None:
            return min(
                (
                    said["at"]
                    for stream in (*self.of(RUN), *self.of(TASK))
                    for said in stream.seen
                    if said["at"] >= since and said["event"]["kind"] in PROGRESS
                ),
                default=None,
            )

        await self._until(lambda: first() is not None, seconds)
        return first()

    async def sent(self, count: int, seconds: float = 20) -> bool:
        """Whether so many missions were put to agents by then."""

        def found() -> int:
            return sum(
                said["event"]["kind"] == "task.mission.sent"
                for stream in self.of(TASK)
                for said in stream.seen
            )

        return await self._until(lambda: found() >= count, seconds)

    async def heard(self, kind: str, count: int = 1, seconds: float = 20) -> bool:
        """Whether so many events of this kind were told by then."""

        def found() -> int:
            streams = self.streams.values()
            return sum(said["event"]["kind"] == kind for s in streams for said in s.seen)

        return await self._until(lambda: found() >= count, seconds)

    async def _until(self, holds: Any, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not holds():
                    self._grown.clear()
                    await self._grown.wait()
        return bool(holds())

    async def all_over(self, seconds: float) -> bool:
        """Whether every stream came to its end."""
        following = set(self._following)
        return not following or not (await asyncio.wait(following, timeout=seconds))[1]

    async def close(self) -> None:
        for task in self._following:
            task.cancel()
        if self._following:
            await asyncio.wait(self._following)
        await self.part()

    async def _follow(self, stream: Followed) -> None:
        while not stream.is_over:
            if self._client is not None:
                # Killed, or about to be met anew: what was seen is where to go on.
                with contextlib.suppress(httpx2.HTTPError, RuntimeError):
                    async for said in self._told(self._client, stream):
                        stream.seen.append(said)
                        self._hear(said["event"])
                        self._grown.set()
            await asyncio.sleep(0 if stream.is_over else _AGAIN_SECONDS)
        self._grown.set()

    def _hear(self, event: Json) -> None:
        match event["kind"]:
            case "run.work.started":
                self.follow(TASK, event["task_run"])
            case "task.session.started":
                self.follow(SESSION, event["session"])
            case _:
                pass

    async def _told(self, client: httpx2.AsyncClient, stream: Followed) -> AsyncGenerator[Json]:
        path = f"/api/v1/{stream.kind}/{stream.name}/stream"
        async with client.stream("GET", path, params={"after": stream.last}) as answer:
            if answer.status_code != 200:
                return
            name = ""
            async for line in answer.aiter_lines():
                word, _, value = line.partition(": ")
                if not line:
                    name = ""
                elif word == "event":
                    name = value
                    stream.is_over = stream.is_over or name == "end"
                elif word == "data" and not name:
                    yield json.loads(value)


async def read_all(client: httpx2.AsyncClient, kind: str, name: str) -> list[Json]:
    """What is stored, page by page to the end."""
    found: list[Json] = []
    after, more = 0, True
    while more:
        path, query = f"/api/v1/{kind}/{name}/events", {"after": after, "limit": 500}
        answer = await client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        after, more = page["next_after"], page["more"]
    return found


async def all_sessions(client: httpx2.AsyncClient) -> list[Json]:
    found: list[Json] = []
    cursor: str | None = None
    while True:
        query = {"limit": 200, **({"cursor": cursor} if cursor else {})}
        page = (await client.get("/api/v1/sessions", params=query)).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
