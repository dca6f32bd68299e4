"""How we say no over HTTP: a problem under v1, `{"error": …}` for seed 001, else plain text."""

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any, Literal, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match

from airboss import errors
from airboss.fault_words import fault_place, fault_words, told_faults
from airboss.model.redaction import Redactor
from airboss.service.entry_editor import EntryFile, EntryFileChanged

# Set by the perimeter for as long as it answers a request.
request_id: ContextVar[str] = ContextVar("request_id", default="")

# From the special to the general: the first that fits counts.
_STATUS: tuple[tuple[type[errors.AirbossError], int], ...] = (
    (errors.AccessEnded, 401),
    (errors.RoleNeeded, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.SessionGone, 410),
    (errors.TooLarge, 413),
    (errors.Invalid, 422),
    (errors.TooMuch, 429),
    (errors.SignInFailed, 424),
    (errors.StoreUnavailable, 503),
    (errors.RuntimeMissing, 503),
    (errors.RuntimeUnavailable, 503),
    (errors.NotSignedIn, 503),
    (errors.DataFolderTaken, 503),
)
# Secrets by their looks alone: the values are not known here.
_SHAPES = Redactor()
_RETRYABLE = frozenset({408, 429, 503})
_RETRY_SECONDS = "1"
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
_PROBLEM_PLACES = ("/metrics", "/readyz", "/healthz")
# Where the standard phrase leaves one alone.
_WORDS = {
    404: "Nothing was found at this address.",
    405: "This address does not support this method.",
    500: "Internal server error. For details, search the server's log for this request id.",
}


class Problem(BaseModel):
    """RFC 9457, with a code for programs and whether trying again may help."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["about:blank"] = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    retryable: bool
    # What was probably meant, where the request has a slip of the pen; else left out.
    suggestion: str | None = None
    # Of a file that was changed elsewhere what is on the disk, for whoever wanted to save it; else
    # left out. A file that is gone has no digest and no time.
    digest: str | None = None
    modified_at: int | None = None
    text: str | None = None


def status_of(error: errors.AirbossError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    retryable: bool | None = None,
    headers: Mapping[str, str] | None = None,
    suggestion: str | None = None,
    changed: EntryFile | None = None,
) -> Response:
    said = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        request_id=request_id.get(),
        retryable=status in _RETRYABLE if retryable is None else retryable,
        suggestion=suggestion,
        digest=changed and changed.digest,
        modified_at=changed and changed.modified_at,
        text=changed and changed.text,
    )
    body = said.model_dump_json(exclude_none=True)
    return Response(body, status, headers, "application/problem+json")


def answer(
    path: str,
    status: int,
    code: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    suggestion: str | None = None,
    changed: EntryFile | None = None,
) -> Response:
    """The refusal in the form that callers of this path expect. Never HTML."""
    given = {"Cache-Control": "no-store", **(headers or {})}
    if status in _RETRYABLE:
        given.setdefault("Retry-After", _RETRY_SECONDS)
    if _is_v1(path) or path in _PROBLEM_PLACES:
        return problem(status, code, detail, headers=given, suggestion=suggestion, changed=changed)
    if path == "/api" or path.startswith("/api/"):
        return Response(json.dumps({"error": detail}), status, given, "application/json")
    return Response(f"{detail}\n", status, given, "text/plain")


def stopping(path: str) -> Response:
    return answer(path, 503, errors.RuntimeUnavailable.code, "The server is stopping.")


def internal_error(path: str) -> Response:
    """Where it happened and why is in our log only."""
    return answer(path, 500, "internal_error", _WORDS[500])


def install(app: FastAPI) -> None:
    """Every error of the app's routes is answered here; the perimeter logs the unforeseen."""
    app.add_exception_handler(errors.AirbossError, _foreseen)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _of_the_framework)
    app.add_exception_handler(Exception, _unforeseen)
    # An address with one slash too many is unknown, not moved.
    app.router.redirect_slashes = False


async def _foreseen(request: Request, error: Exception) -> Response:
    refusal = cast("errors.AirbossError", error)
    meant = refusal.suggestion if isinstance(refusal, errors.WorkingDirectoryMissing) else None
    changed = refusal.found if isinstance(refusal, EntryFileChanged) else None
    said = (status_of(refusal), refusal.code, str(refusal))
    return answer(_path(request), *said, suggestion=meant, changed=changed)


async def _not_valid(request: Request, error: Exception) -> Response:
    """Says what is wrong and where, and never repeats what was sent: it may hold a secret. Only the
    name of a field that we do not know is told, and that may be one too."""
    if _is_of_another_kind(request):
        detail = "The body must be JSON, with `Content-Type: application/json`."
        return answer(_path(request), 415, "unsupported_media_type", detail)
    faults = told_faults(cast("RequestValidationError", error).errors())
    detail = _SHAPES.text("; ".join(map(_told, faults)))
    return answer(_path(request), 422, "invalid", f"{detail}.")


def _told(fault: Mapping[str, Any]) -> str:
    return f"{_place(tuple(fault_place(fault)))}: {fault_words(fault).rstrip('.')}"


def _place(steps: tuple[str | int, ...]) -> str:
    """As all who refuse a field of the body name it."""
    if steps[0] == "body" and len(steps) > 1:
        steps = steps[1:]
    named = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(named).removeprefix(".")


async def _of_the_framework(request: Request, error: Exception) -> Response:
    refusal = cast("HTTPException", error)
    path, status = _path(request), refusal.status_code
    phrase = HTTPStatus(status).phrase
    detail = str(refusal.detail)
    if detail == phrase:
        detail = _WORDS.get(status, phrase)
    if status == 404 and path.startswith("/api") and not _is_v1(path):
        detail = "Unknown API endpoint"
    code = phrase.lower().replace(" ", "_").replace("-", "_")
    headers = {"Allow": _allowed(request)} if status == 405 else refusal.headers
    return answer(path, status, code, detail, headers)


def _allowed(request: Request) -> str:
    """Every method that this address answers to; the framework names those of one route."""
    allowed: set[str] = set()
    for method in _METHODS:
        matches = (
            route.matches({**request.scope, "method": method})[0] for route in _routes(request)
        )
        if any(match is Match.FULL for match in matches):
            allowed.add(method)
    if "GET" in allowed:
        allowed.add("HEAD")
    return ", ".join(sorted(allowed))


def _routes(request: Request) -> Sequence[BaseRoute]:
    return request.app.routes


def _is_of_another_kind(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return bool(kind) and kind != "application/json" and not kind.endswith("+json")


async def _unforeseen(request: Request, error: Exception) -> Response:
    return internal_error(_path(request))


def _path(request: Request) -> str:
    return request.scope["path"]


def _is_v1(path: str) -> bool:
    return path.startswith("/api/v1/")
