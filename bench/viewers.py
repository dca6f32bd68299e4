"""(c) Five hundred viewers of one stream: whether all get everything, and how fast.

`python -m bench.viewers PORT SESSION SEQ COUNT`, with the token on its input, is all of them in one
process; it says when they are there, and after the session is idle what they got.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from bench.figures import Delays, is_rising
from bench.model import order, sent_at
from bench.portal import portal_session
from bench.table import Line, Say
from bench.wire import Address, Failed, calling, event_of, viewing
from bench.workshop import Server, Source, airboss, first_line, flood, running

VIEWERS = 500
LIMIT_SECONDS = 60.0
# Opened so many at a time: a crowd at a door, not a wall.
DOOR = 25


class Watcher:
    """Keeps what came, to be looked at when time no longer matters."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.times: list[int] = []
        self.idle = asyncio.Event()

    def hear(self, frame: bytes, now: int) -> None:
        self.frames.append(frame)
        self.times.append(now)
        if b'"kind":"session.idle"' in frame:
            self.idle.set()


class Account:
    """What one viewer has: in order, once, and every character of the message."""

    def __init__(self, watcher: Watcher) -> None:
        self.seqs: list[int] = []
        self.delays: list[float] = []
        self.text, self.whole = "", ""
        self.last = 0
        for frame, now in zip(watcher.frames, watcher.times, strict=True):
            event = event_of(frame)
            if event is None:
                continue
            self.seqs.append(event["seq"])
            self.last = now
            match event["event"]["kind"]:
                case "message.delta":
                    self.text += event["event"]["text"]
                    sent = sent_at(event["event"]["text"])
                    self.delays.extend((now - at) / 1000 for at in sent)
                case "message.ended":
                    self.whole = event["event"]["text"]
                case _:
                    pass

    @property
    def is_complete(self) -> bool:
        return bool(self.whole) and self.text == self.whole and is_rising(self.seqs)


async def _watch(address: Address, session: str, seq: int, count: int) -> None:
    watchers = [Watcher() for _ in range(count)]
    async with AsyncExitStack() as stack:
        for start in range(0, count, DOOR):
            for watcher in watchers[start : start + DOOR]:
                await stack.enter_async_context(
                    viewing(address, f"sessions/{session}", seq, watcher.hear)
                )
        print("ready", flush=True)
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                for watcher in watchers:
                    await watcher.idle.wait()
        except TimeoutError:
            print("too late", file=sys.stderr)
    print(json.dumps(_account(watchers)), flush=True)


def _account(watchers: list[Watcher]) -> dict[str, float]:
    accounts = [Account(watcher) for watcher in watchers]
    delays = [delay for account in accounts for delay in account.delays]
    began = min(sent for account in accounts for sent in sent_at(account.whole))
    seconds = (max(account.last for account in accounts) - began) / 1e6
    heard = Delays.of(delays)
    return {
        "complete": sum(account.is_complete for account in accounts),
        "deltas": len(delays),
        "seconds": seconds,
        "p50": heard.p50,
        "p99": heard.p99,
    }


async def _show(server: Server, source: Source, count: int, text: str) -> dict[str, float]:
    async with portal_session(server, source) as session:
        await session.turn(order(1, 0))
        async with calling(server.address) as caller:
            seq = (await caller.get(f"/api/v1/sessions/{session.name}"))["seq"]
        module = ("-m", "bench.viewers", str(server.address.port), session.name, str(seq))
        async with running(sys.executable, *module, str(count)) as process:
            if process.stdin is None:
                raise Failed("A process without an input.")
            process.stdin.write(f"{server.address.token}\n".encode())
            await first_line(process)
            await session.turn(text)
            return json.loads(await first_line(process))


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    lines: list[Line] = []
    paces = (("at 50 deltas/s", 300, 50), ("a flood", 2000, 0))
    async with flood() as source, airboss(folder, source) as server:
        for name, pieces, rate in paces:
            found = await _show(server, source, VIEWERS, order(pieces // (3 if quick else 1), rate))
            words = (
                f"{found['complete']} of {VIEWERS} got everything; "
                f"{found['deltas'] / found['seconds']:,.0f} deltas/s in all, "
                f"{found['deltas'] / VIEWERS / found['seconds']:.0f} each; "
                f"p50 / p99 {found['p50']:.0f} / {found['p99']:.0f} ms"
            )
            met = found["complete"] == VIEWERS
            lines.append(
                Line("c", f"{VIEWERS} viewers of one stream, {name}", words, "500 of 500", met)
            )
            say(f"{name}: {words}")
    return lines


if __name__ == "__main__":
    there = Address(int(sys.argv[1]), sys.stdin.readline().strip())
    asyncio.run(_watch(there, sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
