"""(s) What extensions cost: a session that has none, and a call that a hook is asked about."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from statistics import median
from typing import Any

from airboss.app import opened_services
from airboss.http.services import Services
from airboss.service.access import Access
from airboss.settings import Settings
from airboss.store.folder import DataFolder
from bench.bare import TURN_SECONDS
from bench.figures import Pairs, spread
from bench.table import Line, Say

CALLS = 20
WARM_UP = 3
_WHO = "bench"
_HELLO, _OFTEN = "hello", "report often"
_TOOL = "job_boolean_true"
_HOOK = f'''
from airboss.extension import ToolUse, hook


@hook.pre_tool_use(tools=["{_TOOL}"])
def look(use: ToolUse) -> None:
    """Is asked, and has nothing to say."""
'''


def _script() -> str:
    steps: list[dict[str, Any]] = [
        {"call": {"tool": _TOOL, "arguments": {"argument": f"{number}: it holds"}}}
        for number in range(CALLS)
    ]
    rules = [
        {"when": _OFTEN, "steps": [*steps, {"say": "Yes."}]},
        {"when": _HELLO, "steps": [{"say": "Hello."}]},
    ]
    return json.dumps({"models": [{"id": "bench"}], "rules": rules})


@contextlib.asynccontextmanager
async def _served(folder: Path) -> AsyncGenerator[Services]:
    data, script = DataFolder(folder / "data"), folder / "script.yaml"
    data.create()
    script.write_text(_script(), encoding="utf-8")
    settings = Settings(data=data.path, roots=(folder,), rehearsal=script, permissions="read-only")
    access = Access(data)
    async with opened_services(settings, data, access, "http://localhost", _nothing) as services:
        try:
            yield services
        finally:
            await services.sessions.stop()


def _nothing() -> None: ...


async def _turn(services: Services, session: str, text: str) -> float:
    """Milliseconds until it is idle again."""
    sessions = services.sessions
    view = await sessions.show(session)
    began = time.perf_counter()
    await sessions.prompt(session, text, _WHO)
    async with asyncio.timeout(TURN_SECONDS), sessions.follow(session, view.seq) as follower:
        while not any(said.event.kind == "session.idle" for said in await follower.next(5)):
            pass
    return (time.perf_counter() - began) * 1000


async def _session(services: Services, work: Path) -> tuple[float, float]:
    """A whole session: opened, asked once, closed. How long it took, and how much of that our
    process computed; in milliseconds."""
    began, computed = time.perf_counter(), time.process_time()
    view = await services.sessions.start("bench", str(work), _WHO)
    await _turn(services, view.id, _HELLO)
    await services.sessions.close(view.id, _WHO)
    computed = time.process_time() - computed
    return (time.perf_counter() - began) * 1000, computed * 1000


async def _without(services: Services, work: Path, count: int) -> tuple[Pairs, Pairs]:
    """The same session on a server that hosts extensions, and on one that does not: wall time and
    CPU time."""
    wall, cpu, room = Pairs(), Pairs(), services.sessions.extensions
    for number in range(-WARM_UP, count):
        took: dict[bool, tuple[float, float]] = {}
        for hosts in (False, True) if number % 2 else (True, False):
            services.sessions.extensions = room if hosts else None
            took[hosts] = await _session(services, work)
        for found, place in ((wall, 0), (cpu, 1)) if number >= 0 else ():
            found.bare.append(took[False][place])
            found.portal.append(took[True][place])
    services.sessions.extensions = room
    return wall, cpu


async def _hooked(services: Services, plain: Path, hooked: Path, count: int) -> Pairs:
    """A turn of many calls: nobody is asked about them, or a hook about each. In fresh sessions:
    what one has said before slows its next turn."""
    found = Pairs()
    for number in range(-WARM_UP, count):
        took: dict[Path, float] = {}
        for work in (plain, hooked) if number % 2 else (hooked, plain):
            view = await services.sessions.start("bench", str(work), _WHO)
            await _turn(services, view.id, _HELLO)  # all have joined by then
            took[work] = await _turn(services, view.id, _OFTEN)
            await services.sessions.close(view.id, _WHO)
        if number >= 0:
            found.bare.append(took[plain])
            found.portal.append(took[hooked])
    return found


async def _with_hook(services: Services, folder: Path) -> Path:
    work = folder / "hooked"
    place = work / ".github" / "extensions" / "look"
    place.mkdir(parents=True)
    (work / ".git").mkdir()
    (place / "extension.py").write_text(_HOOK, encoding="utf-8")
    trust = services.entries.files.trust
    seen = await trust.look(str(place))
    await trust.add(str(place), seen.digest, _WHO)
    return work


def _share(pairs: Pairs) -> float:
    return (median(pairs.ratios) - 1) * 100


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    plain = folder / "plain"
    (plain / ".git").mkdir(parents=True)
    async with _served(folder) as services:
        sessions, cpu = await _without(services, plain, 10 if quick else 60)
        say(f"{len(sessions.bare)} pairs of sessions without extensions")
        hooked = await _with_hook(services, folder)
        calls = await _hooked(services, plain, hooked, 6 if quick else 30)
    share, computed = (_share(pairs) for pairs in (sessions, cpu))
    each = spread([difference / CALLS for difference in calls.differences])
    whole = (
        f"{share:+.1f} % of time, {computed:+.1f} % of CPU: "
        f"{spread(sessions.bare).words(' ms')} on a server that hosts none, "
        f"{spread(sessions.portal).words(' ms')} on one that does; {len(sessions.bare)} pairs"
    )
    asked = (
        f"{each.words(' ms', 2)} added; turns of {CALLS} calls: "
        f"{spread(calls.bare).words(' ms')} without, {spread(calls.portal).words(' ms')} with; "
        f"{len(calls.bare)} pairs"
    )
    return [
        Line("s", "a session without extensions", whole, "± 2 %", abs(share) <= 2),
        Line("s", "a call that a hook is asked about", asked, "+ 1 ms", each.middle <= 1),
    ]
