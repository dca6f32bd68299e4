"""When two calls of tools are the same, and when two results are. Pure.

Of a result only what says something counts: the number of a shell or the name of a temporary file
is another one each time, and an agent that got nothing else has got nothing new.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, cast

from airboss.harness.builtin_tools import is_send
from airboss.runtime.hooks import ToolOutcome

_DEEPEST: Final = 60
# The runtime's own words around a command's output, and where it puts what is too long.
_SHELL = re.compile(r"(<[^<>\n]*\bshellId: )[^\s<>]+")
# Looked for at the beginnings of words only: a long line without spaces would take for ever.
_SAVED = re.compile(r"(?<!\S)\S*copilot-tool-output-\S+")
_VOLATILE = re.compile(r"(?i:\A(?:id|ids|timestamp|time|date|nonce)\Z)|(?:Id|Ids|At|_id|_at|_ts)\Z")


def signature(tool: str, arguments: Mapping[str, Any]) -> str:
    """The tool's name, and its arguments in any order."""
    return f"{tool}:{_hash(arguments)}"


def outcome_hash(tool: str, arguments: Mapping[str, Any], outcome: ToolOutcome) -> str:
    """What came of a call, as it was made: an error by its message, else details and text."""
    if outcome.error is not None:
        return _hash(["error", signature(tool, arguments), _steady(outcome.error)])
    texts = _steady(outcome.details or ""), _steady(outcome.text)
    said = [_without_volatile(_parsed(text)) for text in texts] if is_send(tool) else texts
    return _hash(["done", signature(tool, arguments), *said])


def _steady(text: str) -> str:
    if "shellId: " in text:
        text = _SHELL.sub(r"\1", text)
    return _SAVED.sub("", text) if "copilot-tool-output-" in text else text


def _is_volatile(name: str) -> bool:
    return bool(_VOLATILE.search(name))


def _parsed(text: str) -> object:
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else text
    except (ValueError, RecursionError):
        return text


def _without_volatile(value: object, depth: int = 0) -> object:
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        parts = cast("Mapping[Any, object]", value).items()
        kept = ((str(name), part) for name, part in parts if not _is_volatile(str(name)))
        return {name: _without_volatile(part, depth + 1) for name, part in kept}
    if isinstance(value, list | tuple):
        parts = cast("list[object]", value)
        return [_without_volatile(part, depth + 1) for part in parts]
    return value


def _hash(value: object) -> str:
    try:
        text = json.dumps(value, sort_keys=True, default=_named)
    except (ValueError, TypeError, RecursionError):  # it holds itself, or has odd keys
        text = json.dumps(_plain(value, 0, ()), sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named(value: object) -> str:
    """What JSON has no word for; where it lies in memory is not what it is."""
    return f"<{type(value).__name__}>"


def _plain(value: object, depth: int, around: tuple[int, ...]) -> object:
    if id(value) in around or depth > _DEEPEST:
        return "…"
    inside = (*around, id(value))
    match value:
        case Mapping():
            parts = cast("Mapping[Any, object]", value).items()
            return {str(name): _plain(part, depth + 1, inside) for name, part in parts}
        case list() | tuple():
            return [_plain(part, depth + 1, inside) for part in cast("list[object]", value)]
        case str() | int() | float() | bool() | None:
            return value
        case _:
            return _named(value)
