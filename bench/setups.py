"""(p) What a full setup adds to the opening of a session, and (q) what runtimes in the pool cost.

A session's servers start beside it: whoever opens it does not wait for them.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.model.events import Event
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import RuntimePlan
from airboss.runtime.locate import locate
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import Signal, TurnIdle
from bench.bare import TURN_SECONDS, BareSession
from bench.figures import Pairs, spread
from bench.table import Line, Say
from bench.wire import Caller, calling
from bench.workshop import Server, Source, airboss, environment, rehearsal

RUNTIMES = 8
WARM_UP = 3
MOST_ADDED = 20.0
# A runtime of ours has somebody beside it who ends it with us, and little else.
MOST_TIMES = 1.15
_SERVER = Path(__file__).parents[1] / "tests" / "runtime" / "mcp_server.py"
_SKILL = "---\nname: owl\ndescription: All about owls\n---\nThe owl has three eyes.\n"


def _full(work: Path) -> dict[str, Any]:
    """All that a session can be given, beside its model."""
    server = {"command": [sys.executable, str(_SERVER), str(work / "notes")]}
    agent = {"description": "Looks for mistakes.", "prompt": "You review.", "tools": ["view"]}
    return {
        "systemMessage": {"append": "Be short."},
        "instructions": "off",
        "tools": {"allow": ["@read", "@run", "one/*", "two/*"], "deny": ["web_fetch"]},
        "mcpServers": {"one": server, "two": server},
        "agents": {"reviewer": agent, "writer": {**agent, "description": "Writes."}},
        "skills": [str(work / "skills")],
        "hooks": {"preToolUse": [{"tool": "bash", "command": ["/bin/true"]}]},
        "directories": [str(work / "beside")],
        "context": {"infinite": True, "compactAt": 0.8},
        "commands": {"deploy": {"description": "Deploys.", "prompt": "Deploy it."}},
    }


async def _opened(caller: Caller, server: Server, source: Source, keys: dict[str, Any]) -> float:
    request = {"model": f"{source.name}/{source.model}", "cwd": str(server.work), **keys}
    began = time.perf_counter()
    view = await caller.post("/api/v1/sessions", request)
    took = 1000 * (time.perf_counter() - began)
    await caller.post(f"/api/v1/sessions/{view['id']}/close")
    return took


async def measure_setup(folder: Path, quick: bool, say: Say) -> list[Line]:
    pairs = Pairs()
    async with rehearsal(folder) as source, airboss(folder, source) as server:
        (server.work / "skills" / "owl").mkdir(parents=True)
        (server.work / "skills" / "owl" / "SKILL.md").write_text(_SKILL, encoding="utf-8")
        (server.work / "beside").mkdir()
        ways: dict[str, dict[str, Any]] = {"bare": {}, "portal": _full(server.work)}
        async with calling(server.address) as caller:
            for number in range(-WARM_UP, 10 if quick else 40):
                for side in ways if number % 2 else reversed(ways):
                    took = await _opened(caller, server, source, ways[side])
                    if number >= 0:
                        getattr(pairs, side).append(took)
    added = spread(pairs.differences)
    say(f"{added.middle:.1f} ms added by a full setup")
    return [
        Line(
            "p",
            "a session with a full setup, from the request until it is open",
            f"{added.words(' ms')} added; {median(pairs.bare):.1f} ms bare, "
            f"{median(pairs.portal):.1f} ms with two MCP servers, two agents, a skill, a hook and "
            f"all else; {len(pairs.bare)} pairs",
            f"≤ {MOST_ADDED:.0f} ms added",
            added.middle <= MOST_ADDED,
        )
    ]


async def measure_pool(folder: Path, quick: bool, say: Say) -> list[Line]:
    """Each with a session that has had a turn. One after the other: eight beside eight would be
    sixteen."""
    times, sizes = Pairs(), Pairs()
    async with rehearsal(folder) as source:
        before = _megabytes()
        for number in range(-1, 4 if quick else 10):
            ways = {"bare": _bare(folder, source), "portal": _pooled(folder, source)}
            for side in ways if number % 2 else reversed(ways):
                began = time.perf_counter()
                async with ways[side]:
                    took, size = 1000 * (time.perf_counter() - began), _megabytes() - before
                if number >= 0:
                    getattr(times, side).append(took)
                    getattr(sizes, side).append(size)
    size_share, time_share = spread(sizes.ratios), spread(times.ratios)
    say(f"{size_share.middle:.2f} times the memory, {time_share.middle:.2f} times the time")
    what, goal = (
        f"{RUNTIMES} runtimes in the pool and {RUNTIMES} bare ones",
        f"≤ {MOST_TIMES} times",
    )
    return [
        Line(
            "q",
            f"{what}: memory with a session on each",
            f"{size_share.words(' times', 2)}; {median(sizes.bare):.0f} MB bare, "
            f"{median(sizes.portal):.0f} MB in the pool; {len(sizes.bare)} pairs",
            goal,
            size_share.middle <= MOST_TIMES,
        ),
        Line(
            "q",
            f"{what}: from the start of all until each had a turn",
            f"{time_share.words(' times', 2)}; {median(times.bare):.0f} ms bare, "
            f"{median(times.portal):.0f} ms in the pool",
            goal,
            time_share.middle <= MOST_TIMES,
        ),
    ]


@contextlib.asynccontextmanager
async def _pooled(folder: Path, source: Source) -> AsyncGenerator[None]:
    plan = RuntimePlan(folder / "home", f"bench-{os.getpid()}", environ=environment(()))
    keys = [PoolKey(f"i{one}", folder / f"home-{one}", "byok") for one in range(RUNTIMES)]
    pool = Pool(plan, keys[0], RUNTIMES)

    async def turn(key: PoolKey) -> None:
        idle = asyncio.Event()

        def hear(said: Event | Signal) -> None:
            if isinstance(said, TurnIdle):
                idle.set()

        session = await pool.open(
            SessionRequest(
                id=new_session_id(),
                cwd=folder,
                model=source.model,
                hear=hear,
                decide=_no,
                redactor=Redactor(),
                provider=source.provider(),
                tools=JOB_TOOL_OFFERS,
                place=key,
            )
        )
        await session.send("say yes")
        await asyncio.wait_for(idle.wait(), TURN_SECONDS)

    try:
        async with asyncio.TaskGroup() as tasks:
            for key in keys:
                tasks.create_task(turn(key))
        yield
    finally:
        await pool.stop()


async def _no(_: PermissionRequest) -> PermissionAnswer:
    return PermissionAnswer(allowed=False, reason="Nothing here needs it.")


@contextlib.asynccontextmanager
async def _bare(folder: Path, source: Source) -> AsyncGenerator[None]:
    from copilot import CopilotClient, RuntimeConnection

    clients = [
        CopilotClient(
            connection=RuntimeConnection.for_stdio(path=str(locate().path)),
            base_directory=str(folder / f"bare-{one}"),
            env=environment(()),
            use_logged_in_user=False,
            log_level="error",
        )
        for one in range(RUNTIMES)
    ]

    async def turn(client: CopilotClient) -> None:
        await client.start()
        session = BareSession()
        await session.open(client, source, folder)
        await session.turn("say yes")

    try:
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(turn(client))
        yield
    finally:
        for client in clients:
            await client.force_stop()


def _megabytes() -> float:
    """Of all that runs below us; what several share is counted once."""
    found = psutil.Process().children(recursive=True)
    return sum(one.memory_full_info().pss for one in found) / 2**20
