"""Who asks, and whether they are still there."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

Answer = TypeVar("Answer")


async def caller(request: Request) -> str:
    """The name of the token that came in, as the perimeter found it. As a coroutine it costs no
    thread."""
    return request.scope["airboss.who"]


async def unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """Do `work` as long as the caller waits for it; None for one who has left."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return None if leaving.done() else working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        done, _ = await asyncio.wait({working, leaving})
        for task in done:
            if not task.cancelled():
                task.exception()  # asked for: one that nobody waits for is no news for the log


async def _gone(request: Request) -> None:
    await request.body()  # what is left of it; after that only the end of the connection comes
    while (await request.receive())["type"] != "http.disconnect":
        pass
