"""The SDK alone, on the same runtime, with the same options as Airboss: what we are compared to."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.runtime.locate import locate
from airboss.runtime.tools import sdk_tools
from bench.model import now_us
from bench.workshop import Source, environment

if TYPE_CHECKING:
    from copilot import CopilotClient
    from copilot.session import CopilotSession
    from copilot.session_events import SessionEvent

TURN_SECONDS = 120.0
# A piece of text, and when it came.
Heard = Callable[[str, int], None]


class Session(Protocol):
    """What both sides can do."""

    async def turn(self, text: str) -> None: ...


class BareSession:
    """One session of the SDK: `send`, then wait for its idle."""

    def __init__(self, heard: Heard | None = None) -> None:
        self._heard = heard
        self._idle = asyncio.Event()
        self._sdk: CopilotSession | None = None

    def on_event(self, event: "SessionEvent") -> None:
        kind = str(getattr(event.type, "value", event.type))
        if kind == "assistant.message_delta":
            if self._heard is not None:
                self._heard(str(getattr(event.data, "delta_content", "")), now_us())
        elif kind == "session.idle":
            self._idle.set()

    async def turn(self, text: str) -> None:
        if self._sdk is None:
            raise RuntimeError("The session is not open.")
        self._idle.clear()
        await self._sdk.send(text)
        await asyncio.wait_for(self._idle.wait(), TURN_SECONDS)

    async def open(self, client: "CopilotClient", source: Source, work: Path) -> None:
        from copilot import PermissionHandler

        self._sdk = await client.create_session(
            model=source.model,
            provider=source.provider(),  # type: ignore[arg-type]
            working_directory=str(work),
            tools=sdk_tools(JOB_TOOL_OFFERS),
            streaming=True,
            include_sub_agent_streaming_events=False,
            on_permission_request=PermissionHandler.approve_all,
            on_event=self.on_event,
            enable_config_discovery=False,
            enable_file_hooks=False,
            request_extensions=False,
            enable_mcp_apps=False,
            enable_session_telemetry=False,
        )

    async def close(self) -> None:
        if self._sdk is not None:
            await self._sdk.disconnect()


@contextlib.asynccontextmanager
async def bare_client(folder: Path) -> AsyncGenerator["CopilotClient"]:
    from copilot import CopilotClient, RuntimeConnection

    home = folder / "bare"
    home.mkdir(parents=True, exist_ok=True)
    client = CopilotClient(
        connection=RuntimeConnection.for_stdio(path=str(locate().path)),
        base_directory=str(home),
        use_logged_in_user=True,
        env=environment(()),
    )
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


@contextlib.asynccontextmanager
async def bare_session(
    client: "CopilotClient", source: Source, work: Path, heard: Heard | None = None
) -> AsyncGenerator[BareSession]:
    session = BareSession(heard)
    await session.open(client, source, work)
    yield session
    await session.close()
