"""(r) Turns in a cage beside turns without one, and another session's deltas beside a flood."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.group import group_version
from bench.cages import holds, until_gone
from bench.delays import Ear
from bench.figures import Delays, Pairs, spread
from bench.model import order
from bench.portal import PortalSession, portal_session
from bench.table import Line, Say
from bench.wire import calling
from bench.workshop import Server, Source, airboss, flood, rehearsal

WARM_UP = 3
TURNS_A_SESSION = 20
MOST_EMPTY, MOST_COMMAND = 2.0, 5.0
MOST_GONE = 200.0
MOST_TIMES = 2.0
# As fast as a quick model talks.
RATE = 50
_SECONDS = 4
# So often each: of one stream, the p99 is its second worst piece.
_TIMES = 3

# Enough for a flood, and not for the machine.
_SMALL: Final = {"memoryMb": 1024, "processes": 256}
# As a profile is where nobody says anything: a disk's flood does not end at the memory of the cage.
_USUAL: Final = {"processes": 256}
# Each ends by itself or by a limit of its cage, and before that does as much as it can: where no
# limit ends it, for longer than the stream beside it.
FLOODS: Final = {
    "output": "timeout 6 head -c 8G /dev/zero | tr '\\\\0' x",
    "disk": "for i in 1 2 3 4 5 6; do timeout 1 head -c 1G /dev/zero > big; rm -f big; done",
    "memory": "timeout 4 python3 -c 'x = bytearray(8 << 30); input()'",
    "descriptors": "timeout 4 python3 -c 'import os; [os.dup(0) for _ in range(100000)]'; true",
    "connections": "timeout 6 bash -c 'while :; do (echo > /dev/tcp/127.0.0.1/17101); done'; true",
    "processes": "bomb() { bomb | bomb & }; bomb; sleep 6",
}
DISK: Final = "disk"
SCRIPT: Final = """
models: [{id: bench, name: Bench, multiplier: 0}]
rules:
  - when: "^run it"
    steps: [{call: {tool: bash, arguments: {command: "true", description: "x"}}}, {say: "Yes."}]
%s
  - steps: [{say: "Yes."}]
"""


def _script() -> str:
    rules = "".join(
        f'  - when: "^flood {name}"\n    steps: [{{call: {{tool: bash, arguments: '
        f'{{command: "{command}", description: "x"}}}}}}, {{say: "Done."}}]\n'
        for name, command in FLOODS.items()
    )
    return SCRIPT % rules


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    if not holds():
        say(f"not measured: {ability().why}")
        return []
    async with (
        rehearsal(folder, _script()) as source,
        flood() as talker,
        airboss(folder, source, talker, options=("--permissions", "approve-all")) as server,
    ):
        return [
            *await _turns(server, source, 20 if quick else 120, say),
            *await _floods(server, source, talker, quick, say),
            await _server_killed(server, source, say),
        ]


async def _turns(server: Server, source: Source, count: int, say: Say) -> list[Line]:
    lines: list[Line] = []
    kinds = (
        ("an empty turn", "say yes", MOST_EMPTY),
        ("a turn with a command", "run it", MOST_COMMAND),
    )
    for what, text, most in kinds:
        pairs = Pairs()
        while len(pairs.bare) < count:
            async with (
                portal_session(server, source) as free,
                portal_session(server, source, permissions="caged") as caged,
            ):
                for number in range(-WARM_UP, TURNS_A_SESSION):
                    sides = (("bare", free), ("portal", caged))
                    for side, session in sides if number % 2 else reversed(sides):
                        took = await _timed(session, text)
                        if number >= 0:
                            getattr(pairs, side).append(took)
        added = spread(pairs.differences)
        say(f"{what}: {added.words(' ms')} added")
        words = (
            f"{added.words(' ms')} added; {median(pairs.bare):.1f} ms without, "
            f"{median(pairs.portal):.1f} ms in a cage; {len(pairs.bare)} pairs"
        )
        goal = f"≤ {most:.0f} ms added"
        lines.append(Line("r", f"{what}, in a cage", words, goal, added.middle <= most))
    return lines


async def _timed(session: PortalSession, text: str) -> float:
    began = time.perf_counter()
    await session.turn(text)
    return 1000 * (time.perf_counter() - began)


async def _floods(
    server: Server, source: Source, talker: Source, quick: bool, say: Say
) -> list[Line]:
    """The same stream of another session, undisturbed and beside each flood, by turns."""
    names = [name for name in FLOODS if name != "processes" or group_version() is not None]
    cages = [(name, _USUAL if name == DISK else _SMALL) for name in names]
    cages = cages[:2] if quick else [*cages, (DISK, _SMALL)]
    # What befalls this machine once in a while is not the flood's: of each the middle of its pairs
    # counts, as in row a.
    pairs: list[list[tuple[float, float]]] = [[] for _ in cages]
    for _ in range(1 if quick else _TIMES):
        for (name, terms), found in zip(cages, pairs, strict=True):
            calm = Delays.of(await _streamed(server, talker))
            async with _flooding(server, source, name, terms):
                beside = Delays.of(await _streamed(server, talker))
            found.append((calm.p99, beside.p99))
            say(f"beside {name}: {beside.words()}, {calm.words()} before")
    calm = median(before for found in pairs for before, _ in found)
    p99 = [median(beside for _, beside in found) for found in pairs]
    times = [median(beside / before for before, beside in found) for found in pairs]
    words = ", ".join(
        f"{name} {one:.1f} ms ({many:.1f})"
        for name, one, many in zip(names, p99, times, strict=False)
    )
    most = max(times[: len(names)])
    what = "p99 of another session's deltas while a cage floods (times as much as before)"
    found = f"{words}; undisturbed {calm:.1f} ms; {len(pairs[0])} pairs of {RATE * _SECONDS} pieces"
    lines = [Line("r", what, found, f"≤ {MOST_TIMES:.0f} times", most <= MOST_TIMES)]
    if len(cages) > len(names):
        what = "the same while a flood of the disk goes past the memory of its cage, 1 GB"
        lines.append(Line("r", what, f"{p99[-1]:.1f} ms; {times[-1]:.1f} times"))
    return lines


async def _streamed(server: Server, talker: Source) -> list[float]:
    ear = Ear()
    async with portal_session(server, talker, ear.hear) as session:
        await session.turn(order(1, 0))
        ear.delays = []
        await session.turn(order(RATE * _SECONDS, RATE))
    return ear.delays


@contextlib.asynccontextmanager
async def _flooding(
    server: Server, source: Source, name: str, terms: Mapping[str, int]
) -> AsyncGenerator[None]:
    """A caged session that floods meanwhile. Its cage may end, and then the turn does not."""
    async with calling(server.address) as caller:
        session = await server.open(caller, source, permissions="caged", cage=terms)
        await caller.post(f"/api/v1/sessions/{session}/prompts", {"text": f"flood {name}"})
        await asyncio.sleep(0.5)
        yield
        await caller.post(f"/api/v1/sessions/{session}/close")
    # Else the kernel would write it to the disk beside whatever is measured next.
    (server.work / "big").unlink(missing_ok=True)


async def _server_killed(server: Server, source: Source, say: Say) -> Line:
    """The last thing that this server does."""
    async with calling(server.address) as caller:
        for _ in range(3):
            await server.open(caller, source, permissions="caged")
        family = psutil.Process(server.pid).children(recursive=True)
        caged = [one for one in family if one.name() in ("bwrap", "copilot-runtime")]
        began = time.perf_counter()
        psutil.Process(server.pid).kill()
        await asyncio.to_thread(until_gone, caged)
        took = 1000 * (time.perf_counter() - began)
    say(f"gone {took:.0f} ms behind the server")
    what = "the server is killed, until all of its cages are gone"
    words = f"{took:.0f} ms; {len(caged)} processes"
    return Line("r", what, words, f"≤ {MOST_GONE:.0f} ms", took <= MOST_GONE)
