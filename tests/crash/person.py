"""Somebody who decides, in front of a server that is killed meanwhile."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2

from tests.crash.conftest import MakePortal
from tests.crash.witness import read_all
from tests.pauses import pauses
from tests.portal import Portal


class Person:
    """Somebody who looks into the inbox, through whatever happens to the server."""

    def __init__(self, portal: Portal) -> None:
        self.portal = portal
        self._client: httpx2.AsyncClient | None = None

    @property
    def client(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = self.portal.client()
        return self._client

    async def kill(self) -> None:
        """The server; another one comes in its place."""
        await self.close()
        await asyncio.to_thread(self.portal.kill)
        await asyncio.to_thread(self.portal.start)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def start(self, job: str) -> str:
        request = {"job": job, "cwd": str(self.portal.work)}
        answer = await self.client.post("/api/v1/runs", json=request)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def run(self, run: str) -> dict[str, Any]:
        return (await self.client.get(f"/api/v1/runs/{run}")).json()

    async def until(self, run: str, *states: str) -> dict[str, Any]:
        async with asyncio.timeout(30):
            view = await self.run(run)
            pause = pauses()
            while view["state"] not in states:
                await asyncio.sleep(next(pause))
                view = await self.run(run)
        return view

    async def items(self, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(30):
            pause = pauses()
            while True:
                items = (await self.client.get("/api/v1/inbox")).json()["items"]
                if len(items) == count:
                    return items
                await asyncio.sleep(next(pause))

    async def say(self, item: dict[str, Any]) -> None:
        """Yes to all, and blue."""
        if item["asked"]["kind"] == "question.asked":
            path, request = "answer", {"answer": "blue"}
        else:
            path, request = "decision", {"choice": "allow-once"}
        answer = await self.client.post(f"/api/v1/inbox/{item['id']}/{path}", json=request)
        assert answer.status_code == 200, answer.text

    async def events(self, stream: str, name: str) -> list[dict[str, Any]]:
        return await read_all(self.client, name, of=stream)


@contextlib.asynccontextmanager
async def person_at(
    make_portal: MakePortal, folder: Path, entry: dict[str, Any], script: str, policy: str
) -> AsyncGenerator[Person]:
    """In front of a portal with this entry and one place for agents of jobs."""
    file = folder / "airboss.json"
    file.write_text(json.dumps(entry), encoding="utf-8")
    options = ("--permissions", policy, "--max-tasks", "1", "--entry", str(file))
    portal = make_portal(*options, script=script)
    portal.start()
    person = Person(portal)
    yield person
    await person.close()
