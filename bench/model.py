"""A model that talks as fast as it is told to: each piece of its text says when it was sent.

`python -m bench.model` serves it on loopback and prints its address. A prompt “flood 100 at 50”
makes it say a hundred pieces, fifty a second; “at 0” as fast as it can.
"""

import asyncio
import contextlib
import json
import re
import sys
import time

ORDER = re.compile(rb"flood (\d+) at (\d+(?:\.\d+)?)")
STAMP = re.compile(r"@(\d+) ")
BURST = 16

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_DONE = b"data: [DONE]\n\n"


def now_us() -> int:
    """The machine's own clock, the same in every process."""
    return time.monotonic_ns() // 1000


def order(pieces: int, rate: float) -> str:
    return f"flood {pieces} at {rate:g}"


def sent_at(text: str) -> list[int]:
    """When each piece of this text was sent, in microseconds of `now_us`."""
    return [int(found) for found in STAMP.findall(text)]


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "flood"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode()


_BEFORE, _AFTER = _event({"content": "\0"}).split(b"\\u0000")


def _piece() -> bytes:
    return _BEFORE + b"@%d " % now_us() + _AFTER


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


async def _talk(writer: asyncio.StreamWriter, pieces: int, rate: float) -> None:
    """Never waits for the other side: what piles up is part of the delay."""
    writer.write(_HEAD + _chunk(_event({"role": "assistant"})))
    began = time.monotonic()
    for number in range(pieces):
        due = began + number / rate if rate else 0.0
        wait = due - time.monotonic()
        if rate and wait > 0:
            await asyncio.sleep(wait)
        elif number % BURST == 0:
            await asyncio.sleep(0)
            if not rate:
                await writer.drain()
        writer.write(_chunk(_piece()))
    writer.write(_chunk(_event({}, "stop")) + _chunk(_DONE) + b"0\r\n\r\n")
    await writer.drain()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            orders = ORDER.findall(body)
            pieces, rate = orders[-1] if orders else (b"1", b"0")
            await _talk(writer, int(pieces), float(rate))
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 24)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"base_url": f"http://127.0.0.1:{port}/v1", "key": "none"}), flush=True)
    # It ends with whoever started it: then its input does.
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
