"""A portal whose agents ask: what they play, and somebody who looks after what waits."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2

from tests.contract.guest import Frame, Guest, Told, frames_of
from tests.pauses import pauses
from tests.portal import Portal

INBOX = "/api/v1/inbox"
SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "hello"
    steps: [{say: "Hello, captain."}]
  - when: "touch it"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/made.txt", description: "make it"}}
      - say: "Done."
  - when: "reload them"
    steps:
      - call: {tool: extensions_reload, arguments: {}}
      - say: "Done."
  - when: "write it"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "hi \e[31mred"}}
      - say: "Done."
  - when: "touch more"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/more.txt", description: "make it"}}
      - say: "Done."
  - when: "which colour"
    steps:
      - call:
          tool: ask_user
          arguments: {question: "Which colour?", choices: ["Red", "Blue"], allow_freeform: false}
      - say: "Thanks."
  - when: "what name"
    steps:
      - call: {tool: ask_user, arguments: {question: "What name?"}}
      - say: "Thanks."
  - when: "fill in"
    steps:
      - call:
          tool: ask_user
          arguments:
            question: "Where to?"
            form:
              type: object
              properties:
                city: {type: string}
                days: {type: integer, minimum: 1}
                flies: {type: boolean}
                stops: {type: array, items: {type: string}}
              required: [city]
      - say: "Thanks."
"""


def asking_portal_in(folder: Path, *options: str, **environ: str) -> Portal:
    return Portal(folder, ("--permissions", "ask", *options), SCRIPT, environ)


class AskedGuest(Guest):
    """Speaks for one person with the token."""

    async def waiting(self, **query: str) -> list[Told]:
        answer = await self.http.get(INBOX, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]

    async def first(self, **query: str) -> Told:
        """The first that waits, as soon as something does."""
        async with asyncio.timeout(20):
            found = await self.waiting(**query)
            pause = pauses()
            while not found:
                await asyncio.sleep(next(pause))
                found = await self.waiting(**query)
        return found[0]

    async def ask(self, text: str) -> Told:
        """What a new session asks once it was told this."""
        session = await self.open()
        await self.prompt(session, text)
        return await self.first(session=session)

    async def say(self, item: str, verb: str, **body: Any) -> httpx2.Response:
        return await self.http.post(f"{INBOX}/{item}/{verb}", json=body)

    async def inbox_frames(
        self, after: int | None = None, last_id: str | None = None
    ) -> AsyncGenerator[Frame]:
        async with self.http.stream(
            "GET",
            f"{INBOX}/stream",
            params={} if after is None else {"after": after},
            headers={} if last_id is None else {"Last-Event-ID": last_id},
        ) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for frame in frames_of(answer.aiter_lines()):
                if frame.name == "message":
                    yield frame

    async def heard_of(self, count: int, after: int, last_id: str | None = None) -> list[Frame]:
        """The next so many events of the inbox."""
        found: list[Frame] = []
        async with asyncio.timeout(20), aclosing(self.inbox_frames(after, last_id)) as frames:
            async for frame in frames:
                found.append(frame)
                if len(found) == count:
                    break
        return found


def refusal(answer: httpx2.Response) -> tuple[int, str, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    told = json.loads(answer.text)
    return answer.status_code, told["code"], told["detail"]
