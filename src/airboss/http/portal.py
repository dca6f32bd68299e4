"""Seed 001's API, to the letter: a thin adapter over the services. Answers are 200 with JSON."""

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.background import BackgroundTask

from airboss.errors import (
    AirbossError,
    Conflict,
    Invalid,
    InvalidAnswer,
    ModelIdNotFound,
    NotFound,
    WorkingDirectoryMissing,
    WorkingDirectoryNotAbsolute,
    WorkingDirectoryNotAllowed,
)
from airboss.http.callers import unless_gone
from airboss.http.roles import Router, UseAsker
from airboss.http.services import Use, Who, end_server
from airboss.service.live import Live, NeverUsed, ParallelCall
from airboss.service.session_plan import NewChat

router = Router(prefix="/api", include_in_schema=False)

BOTH = ["GET", "POST"]
# The seed's names for what it foresaw. What it did not foresee says more, in a message.
_CLOSED = {"Session": "SessionClosed", "Task": "TaskClosed", "Job": "JobsClosed"}
_NAMES: dict[type[AirbossError], str] = {
    ModelIdNotFound: "ModelIdNotFound",
    WorkingDirectoryNotAbsolute: "WorkingDirectoryNotAbsolutePath",
    WorkingDirectoryMissing: "WorkingDirectoryNotExists",
    NotFound: "SessionNotFound",
    Conflict: "SessionNotFound",
}
_NAMES_BESIDE: dict[type[AirbossError], str] = {
    WorkingDirectoryNotAllowed: "WorkingDirectoryNotAllowed",
    Invalid: "InvalidQuery",
    InvalidAnswer: "InvalidAnswer",
}
# How the ids of each begin.
_PREFIXES = {"Session": "ses_", "Task": "tsk_", "Job": "run_"}
FORESEEN = (*_NAMES, *_NAMES_BESIDE)
# The seed has no call for a decision: a script that nobody watches must not hang for ever.
_SCRIPT_WAITS_SECONDS = 120.0


def in_the_seeds_words(error: AirbossError) -> dict[str, str]:
    kind = type(error)
    if kind in _NAMES:
        return {"error": _NAMES[kind]}
    return {"error": _NAMES_BESIDE[kind], "message": str(error)}


async def body_text(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("The body must be UTF-8 text.") from None


@router.api_route("/test", methods=BOTH)
async def test() -> dict[str, str]:
    return {"message": "Hello, world!"}


@router.api_route("/config", methods=BOTH)
async def config(use: Use) -> dict[str, str]:
    return {"repoRoot": str(use.folders.repo_root)}


@router.api_route("/stop", methods=BOTH)
async def stop(use: Use) -> Response:
    """Answers first; what ends, ends behind the answer."""
    return JSONResponse({}, background=BackgroundTask(end_server, use))


@router.api_route("/copilot/models", methods=BOTH)
async def models(use: Use) -> dict[str, Any]:
    offers = await use.catalog.offers()
    return {"models": [{"name": o.name, "id": o.id, "multiplier": o.multiplier} for o in offers]}


@router.api_route("/copilot/session/start/{model_id:path}", methods=BOTH)
async def start_session(model_id: str, request: Request, use: Use, who: Who) -> dict[str, str]:
    folder = await body_text(request)
    try:
        chat = NewChat(model_id, folder, who, approval_seconds=_SCRIPT_WAITS_SECONDS)
        view = await use.sessions.start_chat(chat)
    except FORESEEN as error:
        return in_the_seeds_words(error)
    if await request.is_disconnected():
        await use.sessions.close(view.id, who)  # nobody has learnt its id
    return {"sessionId": view.id}


@router.api_route("/copilot/session/{session_id}/stop", methods=BOTH)
async def stop_session(session_id: str, use: Use, who: Who) -> dict[str, str]:
    if not use.sessions.is_open(session_id):
        return {"error": "SessionNotFound"}
    await use.sessions.close(session_id, who)
    return {"result": "Closed"}


@router.api_route("/copilot/session/{session_id}/query", methods=BOTH)
async def query_session(
    session_id: str, request: Request, use: Use, asker: UseAsker
) -> dict[str, str]:
    """Where the agent waits for an answer, this is it: the seed has no other call for one."""
    text, who = await body_text(request), asker.name
    try:
        if await use.decisions.has_question(session_id):
            asker.must_have("decide", "it answers the agent's question")
            if await use.decisions.answer_next(session_id, text, who):
                return {}
        await use.sessions.prompt(session_id, text, who)
    except FORESEEN as error:
        return in_the_seeds_words(error)
    return {}


@router.api_route("/copilot/session/{session_id}/live", methods=BOTH)
async def live_session(session_id: str, request: Request, use: Use) -> dict[str, Any]:
    return await live_response(use.live, session_id, "Session", request)


async def live_response(live: Live, stream: str, what: str, request: Request) -> dict[str, Any]:
    """One response. A caller that went away meanwhile has not been given it."""
    if not stream.startswith(_PREFIXES[what]):  # another's stream is not read from here
        return {"error": f"{what}NotFound"}
    try:
        async with live.reader(stream) as reader:
            offer = await unless_gone(request, reader.next())
            if offer is None:
                return {"error": "HttpRequestTimeout"}
            await reader.give(offer)
            return offer.body or {"error": _CLOSED[what]}
    except ParallelCall:
        return {"error": "ParallelCallNotSupported"}
    except NeverUsed:
        return {"error": f"{what}NotFound"}
