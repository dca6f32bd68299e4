"""A session as a client of Airboss has it: prompts over HTTP, events as server-sent events."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from bench.bare import TURN_SECONDS, Heard
from bench.wire import Address, Caller, calling, event_of, viewing
from bench.workshop import Server, Source

_IDLE = b'"kind":"session.idle"'
_DELTA = b'"kind":"message.delta"'


class PortalSession:
    """A prompt is posted, and the turn is over when the viewer hears that the session is idle."""

    def __init__(self, caller: Caller, name: str, heard: Heard | None = None) -> None:
        self.name = name
        self._caller = caller
        self._heard = heard
        self._idle = asyncio.Event()

    def on_frame(self, frame: bytes, now: int) -> None:
        if _DELTA in frame:
            if self._heard is not None and (event := event_of(frame)):
                self._heard(event["event"]["text"], now)
        elif _IDLE in frame:
            self._idle.set()

    async def turn(self, text: str) -> None:
        self.expect()
        await self._caller.post(f"/api/v1/sessions/{self.name}/prompts", {"text": text})
        await self.until_idle()

    def expect(self) -> None:
        """A turn begins, here or by somebody else."""
        self._idle.clear()

    async def until_idle(self) -> None:
        await asyncio.wait_for(self._idle.wait(), TURN_SECONDS)


@contextlib.asynccontextmanager
async def portal_session(
    server: Server, source: Source, heard: Heard | None = None, **keys: Any
) -> AsyncGenerator[PortalSession]:
    """`keys` are what a request says beside model and folder."""
    address: Address = server.address
    async with calling(address) as caller:
        name = await server.open(caller, source, **keys)
        session = PortalSession(caller, name, heard)
        seq = (await caller.get(f"/api/v1/sessions/{name}"))["seq"]
        async with viewing(address, f"sessions/{name}", seq, session.on_frame):
            yield session
        await caller.post(f"/api/v1/sessions/{name}/close")
