"""Who asks, and whether they are still there."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from airboss.background import Background, ignore_failure
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
    is_out = asyncio.Event()
    stay: Stay | None = request.scope.get("airboss.stay")
    async with Background("request") as beside:
        working, leaving = beside.call(work), beside.call(_gone(request))
        for task in (working, leaving):
            task.add_done_callback(ignore_failure)

        def show_out() -> None:
            is_out.set()
            leaving.cancel()

        with stay.watched(show_out) if stay else contextlib.nullcontext():
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        beside.cancel()
        if is_out.is_set():
            raise AccessEnded("The token or sign-in of this request is no longer valid.")
        return None if leaving.done() else working.result()


async def _gone(request: Request) -> None:
    await request.body()  # what is left of it; after that only the end of the connection comes
    while (await request.receive())["type"] != "http.disconnect":
        pass
