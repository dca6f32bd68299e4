"""Somebody who follows a portal's feed, and puts together what it tells."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Any

from tests.contract.guest import Frame, Guest, Told, frames_of

FEED = "/api/v1/feed"


async def feed(
    guest: Guest, *follow: str, lists: bool = False, compact: bool = True
) -> AsyncGenerator[Frame]:
    """Every server-sent event, until the server ends the connection."""
    query = {"follow": follow, "lists": lists, "compact": compact}
    async with guest.http.stream("GET", FEED, params=query) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for frame in frames_of(answer.aiter_lines()):
            yield frame


async def feed_to(
    guest: Guest,
    last: Callable[[Frame], bool],
    *follow: str,
    lists: bool = False,
    compact: bool = True,
    seconds: float = 30,
) -> list[Frame]:
    """All up to the first frame that is meant, and that one."""
    found: list[Frame] = []
    telling = feed(guest, *follow, lists=lists, compact=compact)
    async with asyncio.timeout(seconds), aclosing(telling) as frames:
        async for frame in frames:
            found.append(frame)
            if last(frame):
                return found
    raise AssertionError(f"The feed ended: {[frame.name for frame in found]}")


def named(*names: str) -> Callable[[Frame], bool]:
    return lambda frame: frame.name in names


def told_of(frames: Iterable[Frame], stream: str) -> list[Told]:
    """The events of one stream, as its own pages have them."""
    events = [frame for frame in frames if frame.name == "message"]
    return [frame.recorded for frame in events if frame.data["stream"] == stream]


def data_of(frames: Iterable[Frame], name: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if frame.name == name]
