"""(j) What the tool gate costs a call: by itself, and as the runtime's turns see it."""

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from airboss.engine.budgets import Budgets
from airboss.harness.gate import Gate
from airboss.harness.loops import Loops
from airboss.harness.session_state import SessionState
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.events import Event, ToolEnded, ToolStarted
from airboss.model.ids import new_session_id
from airboss.model.inbox_events import INBOX
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.hooks import Pass, ToolUse
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.session import RuntimeSession, open_session
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import Signal, TurnIdle
from airboss.store.sqlite_database import SqliteDatabase
from bench.bare import TURN_SECONDS
from bench.figures import Pairs, Spread, spread
from bench.table import Line, Say
from bench.wire import Failed
from bench.workshop import Source, environment, rehearsal

CALLS = 20
WARM_UP = 3
ASKED = "report often"
_ARGUMENTS = {"command": "ls -l " + "some/path/of/a/file " * 20, "description": "list files"}


def _script() -> str:
    """One turn with many calls of a tool that does nothing; none of them is a repetition."""
    tool = "job_boolean_true"
    steps: list[dict[str, Any]] = [
        {"call": {"tool": tool, "arguments": {"argument": f"{number}: " + "it holds " * 50}}}
        for number in range(CALLS)
    ]
    rule = {"when": ASKED, "steps": [*steps, {"say": "Yes."}]}
    return json.dumps({"models": [{"id": "bench"}], "rules": [rule]})


def _gate(session: str) -> Gate:
    log = EventLog(SqliteDatabase(Path("nowhere")), Journal(Path("nowhere")))  # it says nothing
    state = SessionState(log.new_writer(session), log.new_writer(INBOX), Redactor(), Budgets(log))
    return Gate(state, Loops(), _nothing, _nothing)


def _nothing(*_: object) -> None: ...


async def _alone(count: int) -> list[float]:
    """Milliseconds of each call, before and after it, with a history that is full."""
    gate, found = _gate("ses_bench"), list[float]()
    for number in range(count):
        use, block = ToolUse("bash", {**_ARGUMENTS, "number": number}), f"call_{number}"
        started = ToolStarted(block=block, name="bash", arguments=json.dumps(dict(use.arguments)))
        end = ToolEnded(block=block, text="a line of output\n" * 100)
        began = time.perf_counter()
        gate.hear(started)
        if await gate.before(use) != Pass():
            raise Failed("The gate refused what is no loop.")
        gate.hear(end)
        found.append((time.perf_counter() - began) * 1000)
    return found


@dataclass
class _Side:
    """One session, with a gate or without."""

    session: RuntimeSession | None = None
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, runtime: Runtime, source: Source, work: Path, gated: bool) -> None:
        name = new_session_id()
        request = SessionRequest(
            id=name,
            cwd=work,
            model=source.model,
            hear=self._hear,
            decide=_no,
            redactor=Redactor(),
            provider=source.provider(),
            tools=JOB_TOOL_OFFERS,
            gate=_gate(name) if gated else None,
        )
        self.session = await open_session(runtime, request)

    def _hear(self, said: Event | Signal) -> None:
        if isinstance(said, TurnIdle):
            self.idle.set()

    async def turn(self) -> tuple[float, float]:
        """How long it took, and how much of that our process computed; in milliseconds."""
        if self.session is None:
            raise Failed("The session is not open.")
        self.idle.clear()
        began, computed = time.perf_counter(), time.process_time()
        await self.session.send(ASKED)
        await asyncio.wait_for(self.idle.wait(), TURN_SECONDS)
        computed = time.process_time() - computed
        return (time.perf_counter() - began) * 1000, computed * 1000


async def _no(_: PermissionRequest) -> PermissionAnswer:
    return PermissionAnswer(allowed=False, reason="Nothing here needs it.")


async def _pairs(folder: Path, count: int, say: Say) -> tuple[Pairs, Pairs]:
    """Wall time and CPU time, in fresh sessions: what one has said before slows its next turn."""
    work, wall, cpu = folder / "work", Pairs(), Pairs()
    work.mkdir()
    plan = RuntimePlan(folder / "home", f"bench-{os.getpid()}", environ=environment(()))
    runtime = Runtime(plan)
    try:
        async with rehearsal(folder, _script()) as source:
            for number in range(-WARM_UP, count):
                order = (False, True) if number % 2 else (True, False)
                took = {gated: await _once(runtime, source, work, gated) for gated in order}
                for found, place in ((wall, 0), (cpu, 1)) if number >= 0 else ():
                    found.bare.append(took[False][place])
                    found.portal.append(took[True][place])
    finally:
        await runtime.stop()
    say(f"{count} pairs: {median(wall.bare):.1f} ms without, {median(wall.portal):.1f} ms with")
    return wall, cpu


async def _once(runtime: Runtime, source: Source, work: Path, gated: bool) -> tuple[float, float]:
    side = _Side()
    await side.open(runtime, source, work, gated)
    try:
        return await side.turn()
    finally:
        if side.session is not None:
            await side.session.close()


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    alone = spread(await _alone(500 if quick else 5000))
    wall, cpu = await _pairs(folder, 10 if quick else 60, say)
    computed, waited = _each(cpu), _each(wall)
    words = (
        f"{computed.words(' ms', 2)} of CPU and {waited.words(' ms', 2)} of time added; turns of "
        f"{CALLS} calls: {spread(wall.bare).words(' ms')} without, "
        f"{spread(wall.portal).words(' ms')} with; {len(wall.bare)} pairs"
    )
    by_itself, in_a_turn = "the gate at a call, by itself", "the gate at a call, in a turn"
    return [
        Line("j", by_itself, alone.words(" ms", 3), "< 1 ms", alone.middle < 1),
        Line("j", in_a_turn, words, "< 1 ms of CPU added", computed.middle < 1),
    ]


def _each(pairs: Pairs) -> Spread:
    return spread([difference / CALLS for difference in pairs.differences])
