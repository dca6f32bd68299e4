"""What an agent asks leave for, and the answer. A kind we do not know is still a wish."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast


@dataclass(frozen=True, slots=True)
class PermissionWish:
    """One request of the runtime. `about` is one line for a person; `raw` is all that was said."""

    request_id: str
    call: str | None
    kind: str
    tool: str | None
    paths: tuple[str, ...]
    command: str | None
    url: str | None
    about: str
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """Yes, or no with a reason that the model is told."""

    allowed: bool
    reason: str


Decide: TypeAlias = Callable[[PermissionWish], Awaitable[PermissionAnswer]]

# What was asked before a restart comes back in the words of the question, not of the wish.
_KINDS = {"commands": "shell"}
_PATHS = ("path", "fileName", "paths", "possiblePaths")
_ABOUT = ("fullCommandText", "url", "path", "fileName", "toolName", "extensionName", "intention")


def wish(data: Mapping[str, Any]) -> PermissionWish:
    """Read the data of a `permission.requested` event; what is missing or odd stays empty."""
    asked = data.get("permissionRequest")
    request: Mapping[str, Any] = cast("Any", asked) if isinstance(asked, Mapping) else {}
    kind = str(request.get("kind") or "unknown")
    return PermissionWish(
        request_id=str(data.get("requestId") or ""),
        call=_text(request, "toolCallId"),
        kind=_KINDS.get(kind, kind),
        tool=_text(request, "toolName"),
        paths=tuple(path for name in _PATHS for path in _texts(request.get(name))),
        command=_text(request, "fullCommandText"),
        url=_text(request, "url"),
        about=next((text for name in _ABOUT if (text := _text(request, name))), ""),
        raw=request,
    )


def _text(request: Mapping[str, Any], name: str) -> str | None:
    value = request.get(name)
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(part for part in cast("list[object]", value) if isinstance(part, str))
    return ()
