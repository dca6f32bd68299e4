"""What an agent asks permission for, and the answer. A kind we do not know is still a request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from airboss.runtime.frames import has_gap
from airboss.runtime.hooks import ASKED_BY_THE_GATE


@dataclass(frozen=True, slots=True)
class PermissionRequest:
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
    # What of `raw` was too long to be read whole.
    gaps: frozenset[str] = frozenset()
    # Whether the server itself does it, outside of any cage.
    on_host: bool = False


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """Yes, or no with a reason that the model is told."""

    allowed: bool
    reason: str


Decide: TypeAlias = Callable[[PermissionRequest], Awaitable[PermissionAnswer]]

# What was asked before a restart comes back in the words of the question, not of the request.
_KINDS = {"commands": "shell"}
_PATHS = ("path", "fileName", "paths", "possiblePaths")
_ABOUT = ("fullCommandText", "url", "path", "fileName", "toolName", "extensionName", "intention")


def permission_request(data: Mapping[str, Any], server: str | None = None) -> PermissionRequest:
    """Read the data of a `permission.requested` event; what is missing or odd stays empty. `server`
    is the MCP server whose tool is called, where the request does not name it."""
    asked = data.get("permissionRequest")
    request: Mapping[str, Any] = cast("Any", asked) if isinstance(asked, Mapping) else {}
    if is_asked_by_the_gate(request):
        request = _of_a_server(request, server)
    kind = str(request.get("kind") or "unknown")
    return PermissionRequest(
        request_id=str(data.get("requestId") or ""),
        call=_text(request, "toolCallId"),
        kind=_KINDS.get(kind, kind),
        tool=_text(request, "toolName"),
        paths=tuple(path for name in _PATHS for path in _texts(request.get(name))),
        command=_text(request, "fullCommandText"),
        url=_text(request, "url"),
        about=next((text for name in _ABOUT if (text := _text(request, name))), ""),
        raw=request,
        gaps=frozenset(name for name, value in request.items() if has_gap(value)),
    )


def is_asked_by_the_gate(request: Mapping[str, Any]) -> bool:
    """Whether the runtime asks this only because our gate wants it asked."""
    return request.get("kind") == "hook" and request.get("hookMessage") == ASKED_BY_THE_GATE


def _of_a_server(request: Mapping[str, Any], server: str | None) -> Mapping[str, Any]:
    """In the words in which the runtime asks for a tool of an MCP server by itself, so that the
    same rules fit. It does so no more for this call."""
    named = {} if server is None else {"serverName": server}
    kept = {name: request[name] for name in ("toolCallId", "toolName") if name in request}
    return {"kind": "mcp", **kept, **named, "args": request.get("toolArgs")}


def _text(request: Mapping[str, Any], name: str) -> str | None:
    value = request.get(name)
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(part for part in cast("list[object]", value) if isinstance(part, str))
    return ()
