"""Calls of an extension's tools that are under way in its process."""

import asyncio
import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, cast

from airboss.runtime.tools import OutsideCall, ToolImage, ToolPictures, ToolRefusal, ToolSaid

MOST_RESULT: Final = 1 << 20
_MOST_IMAGES: Final = 3 << 20
_MIME: Final = re.compile(r"image/[a-z0-9.+-]{1,40}")
_NO_IMAGES: Final = (
    "The tool gave binary results that are not images: each has data in base64 and a mimeType, and "
    f"all of them have at most {_MOST_IMAGES >> 20} MiB."
)
RESULT_TYPES: Final = ("success", "failure", "rejected", "denied")


class CallCut(Exception):
    """The process ended, or was ended, before it answered."""


def requested(session: str, request: str, call: OutsideCall) -> dict[str, Any]:
    """The event by which a tool is called."""
    return event_of(
        "external_tool.requested",
        request,
        {
            "requestId": request,
            "sessionId": session,
            "toolCallId": call.call or call.request_id,
            "toolName": call.tool,
            "arguments": dict(call.arguments),
        },
    )


def withdrawn(request: str) -> dict[str, Any]:
    return event_of("external_tool.completed", f"{request} over", {"requestId": request})


def event_of(kind: str, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": kind, "id": name, "timestamp": now, "parentId": None, "data": data}


@dataclass
class Calls:
    """Each is answered once; what comes later is not heard."""

    _number: int = 0
    _open: dict[str, "asyncio.Future[ToolSaid]"] = field(
        default_factory=dict[str, "asyncio.Future[ToolSaid]"]
    )

    def begin(self) -> tuple[str, "asyncio.Future[ToolSaid]"]:
        self._number += 1
        request = f"call-{self._number}"
        answer = self._open[request] = asyncio.get_running_loop().create_future()
        return request, answer

    def end(self, request: str) -> None:
        self._open.pop(request, None)

    def answer(self, params: Mapping[str, Any]) -> bool:
        """Whether somebody waited for it."""
        answer = self._open.pop(str(params.get("requestId")), None)
        if answer is None or answer.done():
            return False
        answer.set_result(_read(params))
        return True

    def cut(self, reason: str) -> None:
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(CallCut(reason))
        self._open.clear()


def _read(params: Mapping[str, Any]) -> ToolSaid:
    if "result" not in params:
        return _bounded(ToolRefusal(str(params.get("error") or "The tool failed.")))
    result: object = params["result"]
    if not isinstance(result, dict):
        return _bounded("" if result is None else str(result))
    said = cast("dict[str, Any]", result)
    text, kind = said.get("textResultForLlm"), said.get("resultType", "success")
    if not isinstance(text, str) or kind not in RESULT_TYPES:
        return ToolRefusal("The tool gave a result that is none.")
    if kind != "success":
        return _bounded(ToolRefusal(text, kind))
    bounded, images = _bounded(text), _images(said.get("binaryResultsForLlm") or ())
    if images is None:
        return ToolRefusal(_NO_IMAGES)
    return ToolPictures(text, images) if images and bounded == text else bounded


def _images(given: object) -> tuple[ToolImage, ...] | None:
    """None where they are too large, or none."""
    found: list[ToolImage] = []
    for one in cast("list[object]", given) if isinstance(given, list | tuple) else (None,):
        image = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        mime, data = image.get("mimeType"), image.get("data")
        if not (isinstance(mime, str) and isinstance(data, str) and _MIME.fullmatch(mime)):
            return None
        found.append(ToolImage(mime, data))
        try:
            base64.b64decode(data, validate=True)
        except ValueError:
            return None
    return tuple(found) if sum(len(one.data) for one in found) <= _MOST_IMAGES else None


def _bounded(said: str | ToolRefusal) -> str | ToolRefusal:
    text = said.reason if isinstance(said, ToolRefusal) else said
    if len(text) * 4 > MOST_RESULT and len(text.encode("utf-8", "replace")) > MOST_RESULT:
        return ToolRefusal(
            f"The tool's result has more than {MOST_RESULT >> 20} MiB, so it was left out."
        )
    return said
