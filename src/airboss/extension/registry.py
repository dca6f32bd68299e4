"""What an extension offers: its tools and hooks, registered while its file is read."""

import inspect
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from airboss.extension.parameters import (
    KEY,
    KEYS,
    Parameters,
    Schema,
    call_parameter,
    parameters_of,
)

MOST_TOOLS = 64
MOST_SCHEMA = 32 << 10
MOST_DESCRIPTION = 4_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# By the names that the hooks have in Python; the host knows the others.
HOOKS: Mapping[str, str] = {
    "user_prompt_submitted": "userPromptSubmitted",
    "pre_tool_use": "preToolUse",
    "post_tool_use": "postToolUse",
    "post_tool_use_failure": "postToolUseFailure",
    "session_start": "sessionStart",
    "session_end": "sessionEnd",
    "error_occurred": "errorOccurred",
}


@dataclass(frozen=True)
class OfferedTool:
    """One tool. Without `takes`, it has brought its own schema."""

    name: str
    description: str
    schema: Schema
    seconds: float
    repeatable: bool
    function: Callable[..., Any]
    takes: Parameters | None
    call: str | None

    def declared(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.schema,
            "seconds": self.seconds,
            "repeatable": self.repeatable,
        }


@dataclass(frozen=True)
class Listener:
    """A function that is asked at a moment. Without `tools`, about every tool."""

    kind: str
    function: Callable[[Any], Any]
    tools: frozenset[str] | None = None


@dataclass
class Registry:
    tools: dict[str, OfferedTool] = field(default_factory=dict[str, OfferedTool])
    listeners: list[Listener] = field(default_factory=list[Listener])
    # Once the host has been told, nothing is added.
    is_told: bool = False

    def offer(self, made: OfferedTool) -> None:
        self._open()
        if made.name in self.tools:
            raise ValueError(f"tool {made.name}: there are two of this name")
        if len(self.tools) == MOST_TOOLS:
            raise ValueError(f"tool {made.name}: an extension has at most {MOST_TOOLS} tools")
        self.tools[made.name] = made

    def listen(self, listener: Listener) -> None:
        self._open()
        self.listeners.append(listener)

    def _open(self) -> None:
        if self.is_told:
            raise RuntimeError(
                "Tools and hooks are registered while the file is read: put them at its top level"
            )

    def listening(self, kind: str, tool: str | None) -> list[Listener]:
        return [
            one
            for one in self.listeners
            if one.kind == kind and (one.tools is None or tool in one.tools)
        ]

    def hook_kinds(self) -> dict[str, list[str] | None]:
        """What the host asks about: each hook, and for which tools (None: for all)."""
        kinds: dict[str, list[str] | None] = {}
        for one in self.listeners:
            known = kinds.get(one.kind, [])
            is_for_all = one.tools is None or known is None
            kinds[one.kind] = None if is_for_all else sorted({*(known or ()), *(one.tools or ())})
        return kinds


def made_offer(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    parameters: Mapping[str, Any] | None,
    seconds: float,
    repeatable: bool,
) -> OfferedTool:
    """Raises a TypeError or ValueError that names the tool and what is wrong with it."""
    name = _named(function, name)
    _only(description, str | None, "description= should be a str", name)
    _only(seconds, int | float, "seconds= should be a number", name)
    _only(parameters, Mapping | None, "parameters= should be a JSON Schema, as a dict", name)
    if not _NAME.fullmatch(name):
        raise ValueError(f"tool {name!r}: a name has 1 to 64 of the characters A-Z a-z 0-9 _ -")
    description = (inspect.getdoc(function) if description is None else description) or ""
    if not description.strip():
        raise ValueError(f"tool {name}: say what it does, in its docstring or with description=")
    if len(description) > MOST_DESCRIPTION:
        raise ValueError(f"tool {name}: its description has over {MOST_DESCRIPTION:,} characters")
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"tool {name}: seconds= should be more than 0, and finite")
    takes = parameters_of(function, name) if parameters is None else None
    schema = takes.schema() if takes else _own_schema(name, parameters or {})
    if len(_json(name, schema)) > MOST_SCHEMA:
        raise ValueError(f"tool {name}: its parameters have more than {MOST_SCHEMA:,} bytes")
    call = takes.call if takes else call_parameter(function, name)
    return OfferedTool(name, description, schema, seconds, repeatable, function, takes, call)


def _named(function: object, name: str | None) -> str:
    if not callable(function):
        raise TypeError("tool: put it above a function, as @tool or as @tool(name=…)")
    _only(name, str | None, "name= should be a str", name)
    if name is None and not hasattr(function, "__name__"):
        raise TypeError("tool: its function has no name; give it one with name=")
    return str(getattr(function, "__name__", "")) if name is None else name


def _only(given: object, kind: Any, words: str, tool: object) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"tool {tool}: {words}, not {given!r}")


def listened_tools(kind: str, tools: Collection[str] | None) -> frozenset[str] | None:
    if isinstance(tools, str):
        raise TypeError(f"hook.{kind}: tools= is a list of names, such as [{tools!r}]")
    for one in tools or ():
        if not isinstance(cast("object", one), str):
            raise TypeError(f"hook.{kind}: tools= is a list of names, and {one!r} is none")
    return None if tools is None else frozenset(tools)


def _own_schema(name: str, parameters: Mapping[str, Any]) -> Schema:
    if parameters.get("type") != "object":
        raise ValueError(f'tool {name}: parameters= is a JSON Schema with "type": "object"')
    for key in parameters.get("properties") or ():
        if not KEY.fullmatch(str(key)):
            raise ValueError(f"tool {name}: parameter {key}: {KEYS}")
    return dict(parameters)


def _json(name: str, schema: Schema) -> bytes:
    try:
        return json.dumps(schema, allow_nan=False).encode()
    except (TypeError, ValueError) as wrong:
        raise ValueError(
            f"tool {name}: its parameters cannot be written as JSON: {wrong}"
        ) from None
