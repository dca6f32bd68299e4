"""(k) How long what an agent asks for is on its way to whoever reads the inbox."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.runtime.tools import sdk_tools
from bench.bare import TURN_SECONDS, bare_client
from bench.figures import Pairs, spread
from bench.table import Line, Say
from bench.wire import Caller, calling, viewing
from bench.workshop import Server, Source, airboss, rehearsal

if TYPE_CHECKING:
    from copilot import CopilotClient

ASKED = "write it down"
SCRIPT = """
models: [{id: bench, name: Bench, multiplier: 0}]
rules:
  - when: "write it down"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/note.txt", file_text: "noted"}}
      - say: "No."
"""
WARM_UP = 3


async def _bare(client: "CopilotClient", source: Source, work: Path) -> float:
    """From the prompt to the SDK's own handler, in milliseconds."""
    from copilot import PermissionNoResult

    asked = asyncio.Event()

    def handle(*_: object) -> PermissionNoResult:
        asked.set()
        return PermissionNoResult()

    session = await client.create_session(
        model=source.model,
        provider=source.provider(),  # type: ignore[arg-type]
        working_directory=str(work),
        tools=sdk_tools(JOB_TOOL_OFFERS),
        streaming=True,
        on_permission_request=handle,
        enable_config_discovery=False,
        enable_file_hooks=False,
        request_extensions=False,
        enable_mcp_apps=False,
        enable_session_telemetry=False,
    )
    began = time.perf_counter()
    await session.send(ASKED)
    await asyncio.wait_for(asked.wait(), TURN_SECONDS)
    took = time.perf_counter() - began
    await session.abort()
    await session.disconnect()
    return took * 1000


async def _portal(
    server: Server, caller: Caller, source: Source, arrived: "asyncio.Queue[float]"
) -> float:
    """From the prompt to a reader of the inbox, in milliseconds."""
    name = await server.open(caller, source)
    began = time.perf_counter()
    await caller.post(f"/api/v1/sessions/{name}/prompts", {"text": ASKED})
    came = await asyncio.wait_for(arrived.get(), TURN_SECONDS)
    await caller.post(f"/api/v1/sessions/{name}/close")
    return (came - began) * 1000


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    pairs, count = Pairs(), 10 if quick else 100
    arrived: asyncio.Queue[float] = asyncio.Queue()

    def on_frame(frame: bytes, _: int) -> None:
        if b'"kind":"inbox.arrived"' in frame:
            arrived.put_nowait(time.perf_counter())

    async with (
        rehearsal(folder, SCRIPT) as source,
        airboss(folder, source, options=("--permissions", "ask")) as server,
        bare_client(folder) as client,
        calling(server.address) as caller,
        viewing(server.address, "inbox", 0, on_frame),
    ):
        for number in range(-WARM_UP, count):
            if number % 2:
                ours = await _portal(server, caller, source, arrived)
                bare = await _bare(client, source, server.work)
            else:
                bare = await _bare(client, source, server.work)
                ours = await _portal(server, caller, source, arrived)
            if number >= 0:
                pairs.bare.append(bare)
                pairs.portal.append(ours)
    added = spread(pairs.differences)
    say(f"{count} pairs: {added.words(' ms')} more than to the SDK's own handler")
    found = (
        f"{added.words(' ms')} more than to the SDK's own handler, the prompt's way in included; "
        f"{spread(pairs.bare).words(' ms')} bare, {spread(pairs.portal).words(' ms')} through "
        f"Airboss; {count} pairs"
    )
    goal = "p50 < 10 ms"
    return [Line("k", "from an agent's wish to the inbox's reader", found, goal, added.middle < 10)]
