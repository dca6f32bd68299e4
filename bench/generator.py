"""(b) The log alone: fifty streams of two hundred deltas a second, each with a follower.

`python -m bench.generator FOLDER SECONDS` measures in a process of its own and prints the figures.
"""

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import MessageDelta, MessageEnded, MessageStarted
from airboss.store.sqlite_database import SqliteDatabase
from bench.figures import Delays
from bench.model import now_us, sent_at
from bench.table import Line, Say
from bench.workshop import first_line, running

STREAMS = 50
RATE = 200
NAMES = [f"stream{number}" for number in range(STREAMS)]
# As long as an answer: then its block ends and the next begins.
DELTAS_A_BLOCK = 400
TICK_SECONDS = 0.001
# Longer than another process takes to start, on a busy machine.
DRAIN_SECONDS = 30.0


class Speaker:
    """Says the deltas of one stream, and every block's end."""

    def __init__(self, writer: Writer, first_block: int) -> None:
        self._writer = writer
        self._length = first_block
        self._block = ""
        self._said: list[str] = []
        self._offset = 0
        self._blocks = 0

    def say(self) -> None:
        if not self._block:
            self._blocks += 1
            self._block = f"block{self._blocks}"
            self._writer.say(MessageStarted(block=self._block))
        text = f"@{now_us()} "
        self._writer.say(MessageDelta(block=self._block, offset=self._offset, text=text))
        self._said.append(text)
        self._offset += len(text)
        if len(self._said) >= self._length:
            self._length = DELTAS_A_BLOCK
            self.end()

    async def settle(self) -> None:
        await self._writer.settle()

    def end(self) -> None:
        if self._block:
            self._writer.say(MessageEnded(block=self._block, text="".join(self._said)))
            self._block, self._said, self._offset = "", [], 0


async def speakers_in(log: EventLog) -> list[Speaker]:
    """Sessions do not end their answers in step."""
    return [
        Speaker(await log.writer(name), DELTAS_A_BLOCK * (place + 1) // STREAMS)
        for place, name in enumerate(NAMES)
    ]


async def follow(log: EventLog, name: str, expected: int, delays: list[float]) -> None:
    heard = 0
    async with log.follow(name, 0) as follower:
        while heard < expected:
            found = await follower.next(DRAIN_SECONDS)
            now = now_us()
            if not found:
                return
            for recorded in found:
                if '"kind":"message.delta"' in recorded.body:
                    sent = sent_at(recorded.body)
                    delays.extend((now - at) / 1000 for at in sent)
                    heard += len(sent)


async def generate(speakers: list[Speaker], seconds: int) -> float:
    """As many as are due, at each tick; answers how long it took in all."""
    began, total, said = time.monotonic(), STREAMS * RATE * seconds, 0
    while said < total:
        due = min(total, int((time.monotonic() - began) * STREAMS * RATE))
        for number in range(said, due):
            speakers[number % STREAMS].say()
        said = due
        await asyncio.sleep(TICK_SECONDS)
    taken = time.monotonic() - began
    for speaker in speakers:
        speaker.end()
    return taken


async def _measure(folder: Path, seconds: int) -> dict[str, float]:
    database = SqliteDatabase(folder / "airboss.db")
    await database.open()
    delays: list[float] = []
    async with EventLog(database, Journal(folder / "journal")).running() as log:
        speakers = await speakers_in(log)
        before, began = time.process_time(), time.monotonic()
        async with asyncio.TaskGroup() as group:
            for name in NAMES:
                group.create_task(follow(log, name, RATE * seconds, delays))
            taken = await generate(speakers, seconds)
        cpu = time.process_time() - before
        cores = cpu / (time.monotonic() - began)
    await database.close()
    late = Delays.of(delays)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "rate": STREAMS * RATE * seconds / taken,
        "heard": len(delays),
        "expected": STREAMS * RATE * seconds,
        "p50": late.p50,
        "p99": late.p99,
        "cores": cores,
        "cpu": cpu,
        "peak_mb": peak,
    }


async def in_one_process(folder: Path, seconds: int) -> dict[str, float]:
    """Written and followed there, on SQLite."""
    module = ("-m", "bench.generator", str(folder / "log"), str(seconds))
    async with running(sys.executable, *module, log=folder / "generator.log") as process:
        return json.loads(await first_line(process))


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    found = await in_one_process(folder, 4 if quick else 12)
    words = (
        f"{found['rate']:.0f} deltas/s, {found['p50']:.1f} / {found['p99']:.1f} ms, "
        f"{found['cores']:.2f} of a core; {found['heard']} of {found['expected']} heard"
    )
    say(f"the log alone: {words}")
    met = (
        found["rate"] >= 0.99 * STREAMS * RATE
        and found["heard"] == found["expected"]
        and found["p50"] <= 5
        and found["p99"] <= 50
        and found["cores"] <= 1
    )
    what = f"the log alone, {STREAMS} streams of {RATE} deltas/s: rate, p50 / p99, cores"
    return [Line("b", what, words, "10,000/s, ≤ 5 / 50 ms, ≤ 1 core", met)]


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    print(json.dumps(asyncio.run(_measure(folder, int(sys.argv[2])))), flush=True)


if __name__ == "__main__":
    main()
