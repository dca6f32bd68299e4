"""(m) What one command that prints without end costs the server."""

import asyncio
import time
from pathlib import Path

import psutil

from bench.table import Line, Say
from bench.wire import Caller, calling
from bench.workshop import Server, Source, airboss, rehearsal

SECONDS = 150.0
# Else the runtime waits 30 s for a command.
SCRIPT = """
models: [{id: bench, name: Bench, multiplier: 0}]
rules:
  - when: "one line"
    steps:
      - call:
          tool: bash
          arguments: {command: "head -c SIZE /dev/zero | tr '\\\\0' x", ASKED}
      - say: "Printed."
  - when: "many lines"
    steps:
      - call:
          tool: bash
          arguments: {command: "yes | head -c SIZE", ASKED}
      - say: "Printed."
"""
ASKED = "description: print, initial_wait: 120"


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    size = 100_000_000 if quick else 1_000_000_000
    script = SCRIPT.replace("ASKED", ASKED).replace("SIZE", str(size))
    lines: list[Line] = []
    policy = ("--permissions", "approve-all")
    async with rehearsal(folder, script) as source:
        for what in ("one line", "many lines"):
            place = folder / what.replace(" ", "-")
            async with airboss(place, source, options=policy) as server:
                line = await _printed(server, source, what, size, place / "data")
                say(line.found)
                lines.append(line)
    return lines


async def _printed(server: Server, source: Source, what: str, size: int, data: Path) -> Line:
    answers, sizes = list[float](), list[float]()
    async with calling(server.address) as caller:
        session = await server.open(caller, source)
        watching = asyncio.create_task(_watch(server, answers, sizes))
        await caller.post(f"/api/v1/sessions/{session}/prompts", {"text": what})
        async with asyncio.timeout(SECONDS):
            while await _works(caller, session):  # noqa: ASYNC110  # over HTTP there is no event
                await asyncio.sleep(0.1)
        watching.cancel()
    most, slowest = max(sizes), max(answers) * 1000
    stored = await asyncio.to_thread(_stored, data)
    found = (
        f"{most:.0f} MB at most (before: {sizes[0]:.0f}), the slowest of {len(answers)} answers "
        f"{slowest:.0f} ms, {stored:.1f} MB on disk"
    )
    met = most <= 150 and slowest < 100
    words = f"the server while a command prints {size / 1e6:,.0f} MB: {what}"
    return Line("m", words, found, "≤ 150 MB, < 100 ms", met)


async def _works(caller: Caller, session: str) -> bool:
    view = await caller.get(f"/api/v1/sessions/{session}")
    return view["turns"] == 0 or view["state"] != "idle"


def _stored(data: Path) -> float:
    return sum(file.stat().st_size for file in data.glob("airboss.sqlite*")) / 1e6


async def _watch(server: Server, answers: list[float], sizes: list[float]) -> None:
    process = psutil.Process(server.pid)
    async with calling(server.address) as caller:
        while True:
            began = time.perf_counter()
            await caller.get("/readyz")
            answers.append(time.perf_counter() - began)
            sizes.append(process.memory_info().rss / 1e6)
            await asyncio.sleep(0.01)
