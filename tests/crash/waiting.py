"""Chats that wait for a person when their server ends, and somebody who looks after them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.contract.asking import AskedGuest
from tests.contract.guest import Told
from tests.pauses import pauses
from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^touch"
    steps:
      - call:
          tool: bash
          arguments: {command: "echo {last} >> {cwd}/done.txt", description: "touch"}
      - say: "Touched."
  - when: "colour"
    steps:
      - call: {tool: ask_user, arguments: {question: "Which colour?", choices: [red, blue]}}
      - say: "Thanks."
  - when: "hello"
    steps: [{say: "Hello."}]
"""
# So long the runtime takes to have on disk what it asked for.
KEPT_SECONDS = 1.0


def portal_in(folder: Path, *options: str, approval_seconds: float = 600) -> Portal:
    portal = Portal(folder, ("--permissions", "ask", *options), SCRIPT)
    portal.data.mkdir(parents=True, mode=0o700)
    settings = f"approval_seconds = {approval_seconds}\n"
    (portal.data / "settings.toml").write_text(settings, "utf-8")
    return portal


class Waited(AskedGuest):
    """Asks, and looks at what became of it."""

    @property
    def done(self) -> list[str]:
        file = self.portal.work / "done.txt"
        return file.read_text("utf-8").split() if file.exists() else []

    async def allow(self, item: str) -> int:
        return (await self.say(item, "decision", choice="allow-once")).status_code

    async def asks_nothing(self, session: str) -> None:
        async with asyncio.timeout(20):
            items = await self.waiting(session=session)
            pause = pauses()
            while items:
                await asyncio.sleep(next(pause))
                items = await self.waiting(session=session)

    async def ended(self, session: str, turns: int = 2) -> list[Told]:
        """The session's events, once so many turns are over and it rests."""
        async with asyncio.timeout(40):
            pause = pauses()
            while (view := await self.show(session))["turns"] < turns or view["state"] != "idle":
                assert view["state"] != "interrupted" or view["turns"] < turns, view
                await asyncio.sleep(next(pause))
        return [said["event"] for said in await self.events(session)]


@asynccontextmanager
async def restarted(portal: Portal) -> AsyncGenerator[Waited]:
    """Killed, and another server in its place."""
    await asyncio.to_thread(portal.kill)
    await asyncio.to_thread(portal.start)
    async with Waited.of(portal) as guest:
        yield guest


def of_kind(kind: str, events: list[Told]) -> list[Told]:
    return [event for event in events if event["kind"] == kind]
