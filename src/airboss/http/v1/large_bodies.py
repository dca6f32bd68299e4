"""Requests and answers that may have megabytes: read and written off the event loop."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from airboss.service.entry_reader import in_thread

Body = TypeVar("Body", bound=BaseModel)
# What is smaller takes so little time that nobody notices.
PARSED_AT_ONCE: Final = 64 * 1024


def read_by_hand(kind: type[BaseModel]) -> dict[str, Any]:
    """The description of a route that reads its body itself."""
    content = {"application/json": {"schema": kind.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


async def body_of(request: Request, kind: type[Body]) -> Body:
    body = await request.body()
    if len(body) <= PARSED_AT_ONCE:
        return parsed(request, body, kind)
    return await in_thread(lambda: parsed(request, body, kind))


def parsed(request: Request, body: bytes, kind: type[Body]) -> Body:
    if "json" not in request.headers.get("content-type", ""):
        raise RequestValidationError([{"loc": ("body",), "msg": "Send JSON, and say so"}])
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in wrong]
        ) from None


async def as_json(build: Callable[[], BaseModel]) -> Response:
    """An entry may have thousands of tasks."""
    body = await in_thread(lambda: build().model_dump_json())
    return Response(body, media_type="application/json")
