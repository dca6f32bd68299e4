"""Seed 001's API, to the letter: a thin adapter over the services. Answers are 200 with JSON."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.background import BackgroundTask

from airboss.errors import (
    Conflict,
    Invalid,
    ModelIdNotFound,
    NotFound,
    WorkingDirectoryMissing,
    WorkingDirectoryNotAbsolute,
    WorkingDirectoryNotAllowed,
)
from airboss.http.services import Use, Who
from airboss.service.live import Live, NeverUsed, Offer, ParallelCall, StreamEnded

router = APIRouter(prefix="/api", include_in_schema=False)

_BOTH = ["GET", "POST"]


async def body_text(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("The body must be text in UTF-8.") from None


@router.api_route("/test", methods=_BOTH)
async def test() -> dict[str, str]:
    return {"message": "Hello, world!"}


@router.api_route("/config", methods=_BOTH)
async def config(use: Use) -> dict[str, str]:
    return {"repoRoot": str(use.folders.repo_root)}


@router.api_route("/stop", methods=_BOTH)
async def stop(use: Use) -> Response:
    """Answers first; what ends, ends behind the answer."""
    return JSONResponse({}, background=BackgroundTask(use.stop))


@router.api_route("/copilot/models", methods=_BOTH)
async def models(use: Use) -> dict[str, Any]:
    offers = await use.catalog.offers()
    return {"models": [{"name": o.name, "id": o.id, "multiplier": o.multiplier} for o in offers]}


@router.api_route("/copilot/session/start/{model_id:path}", methods=_BOTH)
async def start_session(model_id: str, request: Request, use: Use, who: Who) -> dict[str, str]:
    folder = await body_text(request)
    try:
        view = await use.sessions.start(model_id, folder, who)
    except ModelIdNotFound:
        return {"error": "ModelIdNotFound"}
    except WorkingDirectoryNotAbsolute:
        return {"error": "WorkingDirectoryNotAbsolutePath"}
    except WorkingDirectoryMissing:
        return {"error": "WorkingDirectoryNotExists"}
    except WorkingDirectoryNotAllowed as error:
        return {"error": "WorkingDirectoryNotAllowed", "message": str(error)}
    return {"sessionId": view.id}


@router.api_route("/copilot/session/{session_id}/stop", methods=_BOTH)
async def stop_session(session_id: str, use: Use, who: Who) -> dict[str, str]:
    if not use.sessions.is_open(session_id):
        return {"error": "SessionNotFound"}
    await use.sessions.close(session_id, who)
    return {"result": "Closed"}


@router.api_route("/copilot/session/{session_id}/query", methods=_BOTH)
async def query_session(session_id: str, request: Request, use: Use, who: Who) -> dict[str, str]:
    text = await body_text(request)
    try:
        await use.sessions.prompt(session_id, text, who)
    except (NotFound, Conflict):
        return {"error": "SessionNotFound"}
    return {}


@router.api_route("/copilot/session/{session_id}/live", methods=_BOTH)
async def live_session(session_id: str, request: Request, use: Use) -> Response:
    return await _live(use.live, session_id, "Session", request)


async def _live(live: Live, stream: str, what: str, request: Request) -> Response:
    """One response. A caller that went away meanwhile has not been given it."""
    try:
        offer = await _unless_gone(request, lambda: live.take(stream))
    except ParallelCall:
        return JSONResponse({"error": "ParallelCallNotSupported"})
    except StreamEnded:
        return JSONResponse({"error": f"{what}Closed"})
    except NeverUsed:
        return JSONResponse({"error": f"{what}NotFound"})
    if offer is None:
        return JSONResponse({"error": "HttpRequestTimeout"})
    await live.give(stream, offer)
    return JSONResponse(offer.body)


async def _unless_gone(
    request: Request, work: Callable[[], Awaitable[Offer | None]]
) -> Offer | None:
    """Wait for `work` as long as the caller does; a caller who left is answered to nobody."""
    taking = asyncio.ensure_future(work())
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({taking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            return None
        return await taking
    finally:
        for task in (taking, leaving):
            task.cancel()
        await asyncio.wait({taking, leaving})


async def _gone(request: Request) -> None:
    await request.body()  # what is left of it; after that only the end of the connection comes
    while (await request.receive())["type"] != "http.disconnect":
        pass
