"""Somebody who uses a portal over HTTP: seed 001's calls, and v1's."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx2

from tests.pauses import pauses
from tests.portal import Portal

Told = dict[str, Any]
JSON = {"Content-Type": "application/json"}


@dataclass
class Frame:
    """One server-sent event."""

    id: int | None
    name: str
    data: Told

    @property
    def kind(self) -> str:
        return self.data["event"]["kind"]

    @property
    def recorded(self) -> Told:
        """The event as a stream's own pages have it, whatever else the frame says."""
        return {name: self.data[name] for name in ("seq", "at", "event")}


@dataclass
class Guest:
    """Speaks for one person with the token."""

    http: httpx2.AsyncClient
    portal: Portal

    @classmethod
    @asynccontextmanager
    async def of(cls, portal: Portal) -> AsyncGenerator[Self]:
        async with portal.client() as client:
            yield cls(client, portal)

    # Seed 001.

    async def seed(self, path: str, body: str | bytes | None = None, method: str = "POST") -> Told:
        answer = await self.http.request(method, f"/api/{path}", content=body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    async def start(self, model: str = "rehearsal", folder: str = "") -> str:
        said = await self.seed(f"copilot/session/start/{model}", folder)
        assert list(said) == ["sessionId"], said
        return said["sessionId"]

    async def query(self, session: str, text: str) -> None:
        assert await self.seed(f"copilot/session/{session}/query", text) == {}

    async def live(self, session: str) -> Told:
        return await self.seed(f"copilot/session/{session}/live", method="GET")

    async def stop(self, session: str) -> Told:
        return await self.seed(f"copilot/session/{session}/stop")

    async def hear(self, session: str, last: str = "onIdle") -> list[Told]:
        """All responses up to the first `last`, a callback's name or an error's."""
        heard: list[Told] = []
        async with asyncio.timeout(40):
            while True:
                said = await self.live(session)
                if said == {"error": "HttpRequestTimeout"}:
                    continue
                heard.append(said)
                if last == (said.get("callback") or said.get("error")):
                    return heard
                assert list(said) != ["error"], heard

    # v1.

    async def open(self, **asked: str) -> str:
        answer = await self.http.post("/api/v1/sessions", json=asked)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def prompt(self, session: str, text: str) -> Told:
        path, body = f"/api/v1/sessions/{session}/prompts", json.dumps({"text": text})
        answer = await self.http.post(path, content=body, headers=JSON)
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def do(self, session: str, verb: str) -> Told:
        answer = await self.http.post(f"/api/v1/sessions/{session}/{verb}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def show(self, session: str) -> Told:
        answer = await self.http.get(f"/api/v1/sessions/{session}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def digest(self, path: str, seq: int, have: str | None = None) -> Told:
        """Whether the server comes to the same as of that event."""
        query: dict[str, str | int] = {"seq": seq} if have is None else {"seq": seq, "have": have}
        answer = await self.http.get(f"/api/v1/{path}/digest", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def page(self, session: str, after: int = 0, limit: int = 200) -> Told:
        path = f"/api/v1/sessions/{session}/events"
        answer = await self.http.get(path, params={"after": after, "limit": limit})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def events(self, session: str, after: int = 0, limit: int = 200) -> list[Told]:
        """Everything behind `after`, page by page."""
        found: list[Told] = []
        more = True
        while more:
            page = await self.page(session, after, limit)
            found += page["items"]
            after, more = page["next_after"], page["more"]
        return found

    async def until(self, session: str, *states: str, seconds: float = 20) -> Told:
        async with asyncio.timeout(seconds):
            view = await self.show(session)
            pause = pauses()
            while view["state"] not in states or view["queue"]:
                await asyncio.sleep(next(pause))
                view = await self.show(session)
        return view

    async def turn(self, session: str, text: str) -> list[Told]:
        """One request to its end; the events that it made."""
        receipt = await self.prompt(session, text)
        return await self.follow_to(session, "session.idle", receipt["seq"])

    async def frames(
        self, session: str, after: int | None = None, last_id: str | None = None
    ) -> AsyncGenerator[Frame]:
        """Every server-sent event, heartbeats too, until the server ends the stream."""
        async with self.http.stream(
            "GET",
            f"/api/v1/sessions/{session}/stream",
            params={} if after is None else {"after": after},
            headers={} if last_id is None else {"Last-Event-ID": last_id},
        ) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            async for frame in frames_of(answer.aiter_lines()):
                yield frame

    async def take(
        self,
        session: str,
        last: Callable[[Frame], bool],
        after: int = 0,
        last_id: str | None = None,
    ) -> list[Told]:
        """The session's events on one connection, which is left behind the `last` of them."""
        found: list[Told] = []
        async with asyncio.timeout(30), aclosing(self.frames(session, after, last_id)) as frames:
            async for frame in frames:
                if frame.name != "message":
                    continue
                found.append(frame.data)
                if last(frame):
                    break
        return found

    async def follow_to(self, session: str, kind: str, after: int = 0) -> list[Told]:
        return await self.take(session, lambda frame: frame.kind == kind, after)

    async def follow_all(self, session: str, after: int = 0) -> list[Told]:
        """Until the server ends the stream."""
        return await self.take(session, lambda frame: False, after)


async def frames_of(lines: AsyncIterator[str]) -> AsyncIterator[Frame]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            number = int(fields["id"]) if "id" in fields else None
            yield Frame(number, fields.get("event", "message"), json.loads(fields["data"]))
        fields = {}


def kinds(events: Iterable[Told]) -> list[str]:
    return [told["event"]["kind"] for told in events]


def only(kind: str, events: Iterable[Told]) -> list[Told]:
    return [told["event"] for told in events if told["event"]["kind"] == kind]
