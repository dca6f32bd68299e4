"""A session as a client of Airboss has it: prompts over HTTP, events as server-sent events."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

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
        self._idle.clear()
        await self._caller.post(f"/api/v1/sessions/{self.name}/prompts", {"text": text})
        await asyncio.wait_for(self._idle.wait(), TURN_SECONDS)


@contextlib.asynccontextmanager
async def portal_session(
    server: Server, source: Source, heard: Heard | None = None
) -> AsyncGenerator[PortalSession]:
    address: Address = server.address
    async with calling(address) as caller:
        name = await server.open(caller, source)
        session = PortalSession(caller, name, heard)
        seq = (await caller.get(f"/api/v1/sessions/{name}"))["seq"]
        async with viewing(address, f"sessions/{name}", seq, session.on_frame):
            yield session
        await caller.post(f"/api/v1/sessions/{name}/close")
