"""Who asks, and whether they are still there."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from airboss.errors import AccessEnded
from airboss.http.stays import Stay

Answer = TypeVar("Answer")


async def caller(request: Request) -> str:
    """The name of the token that came in, as the perimeter found it. As a coroutine it costs no
    thread."""
    return request.scope["airboss.who"]


async def unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """Do `work` as long as the caller waits for it; None for one who has left. Whoever is out by
    then, since their token or their sign-in is gone, gets nothing of it."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    is_out = asyncio.Event()
    stay: Stay | None = request.scope.get("airboss.stay")

    def show_out() -> None:
        is_out.set()
        leaving.cancel()

    try:
        with stay.watched(show_out) if stay else contextlib.nullcontext():
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if is_out.is_set():
            raise AccessEnded("The token or the sign-in of this request is no longer accepted.")
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
