"""What an extension brings when it joins a session: tools, hooks, and events that it wants."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.runtime.tools import ToolOffer

MOST_TOOLS: Final = 64
MOST_SCHEMA: Final = 32 << 10
MOST_DESCRIPTION: Final = 4_000
TOOL_SECONDS: Final = 600.0
_MOST_SECONDS: Final = 86_400.0
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Claude models refuse a whole request for one other name, so every turn would fail.
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DYNAMIC: Final = frozenset({"$dynamicRef", "$dynamicAnchor"})
# Of these parts of a schema, the keys are names.
_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})
# And of these the values are no schemas.
_VALUES: Final = frozenset({"default", "const", "enum", "examples"})
_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}

BEFORE_CALL: Final = "preToolUse"
HOOK_KINDS: Final = (
    BEFORE_CALL,
    "postToolUse",
    "postToolUseFailure",
    "userPromptSubmitted",
    "sessionStart",
    "sessionEnd",
    "errorOccurred",
)
EVENT_KINDS: Final = frozenset(
    {
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "user.message",
        "session.idle",
        "session.error",
        "permission.requested",
        "session.shutdown",
    }
)


class NotLetIn(Exception):
    """It cannot join, for this reason."""


@dataclass(frozen=True)
class BroughtTool:
    """A tool of an extension. Only one that is `repeatable` is called a second time when nobody
    knows whether the first call took effect."""

    offer: ToolOffer
    seconds: float = TOOL_SECONDS
    repeatable: bool = False


@dataclass(frozen=True)
class Joined:
    """`hooks` has for each kind the tools that it is about, or None for all."""

    tools: Mapping[str, BroughtTool] = field(default_factory=dict[str, BroughtTool])
    hooks: Mapping[str, frozenset[str] | None] = field(
        default_factory=dict[str, "frozenset[str] | None"]
    )
    events: frozenset[str] = frozenset()

    def cares(self, kind: str, tool: str | None = None) -> bool:
        if kind not in self.hooks:
            return False
        tools = self.hooks[kind]
        return tools is None or tool is None or tool in tools


def joined(params: Mapping[str, Any]) -> Joined:
    """Raises `NotLetIn` where something is not as it should be, and nothing else."""
    try:
        return _joined(params)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise NotLetIn(f"What it joins with cannot be read: {str(error)[:200]}") from None


def _joined(params: Mapping[str, Any]) -> Joined:
    given: object = params.get("tools") or []
    if not isinstance(given, list):
        raise NotLetIn("Its tools are not a list.")
    tools: dict[str, BroughtTool] = {}
    for one in cast("list[object]", given):
        tool = _tool(one)
        if tool.offer.name in tools:
            raise NotLetIn(f"It has two tools named {tool.offer.name}.")
        tools[tool.offer.name] = tool
    if len(tools) > MOST_TOOLS:
        raise NotLetIn(f"It has {len(tools)} tools; {MOST_TOOLS} are the most.")
    return Joined(tools, _hooks(params), _events(params))


def _tool(given: object) -> BroughtTool:
    if not isinstance(given, dict):
        raise NotLetIn("One of its tools is not an object.")
    said = cast("dict[str, Any]", given)
    name, description = said.get("name"), said.get("description") or ""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = repr(name)[:80]
        raise NotLetIn(
            f"A tool cannot be named {shown}: use 1 to 64 letters, digits, hyphens and underscores."
        )
    if not isinstance(description, str) or len(description) > MOST_DESCRIPTION:
        raise NotLetIn(
            f"The description of {name} is no text of at most {MOST_DESCRIPTION:,} characters."
        )
    parameters = said.get("parameters") or _NO_PARAMETERS
    if not isinstance(parameters, dict) and parameters is not _NO_PARAMETERS:
        raise NotLetIn(f"The parameters of {name} are no JSON Schema.")
    parameters = cast("Mapping[str, Any]", parameters)
    if parameters.get("type", "object") != "object" or _refers_dynamically(parameters):
        raise NotLetIn(
            f"The parameters of {name} are no schema of an object without $dynamicRef and "
            "$dynamicAnchor, which is what models take."
        )
    if (key := _odd_key(parameters)) is not None:
        raise NotLetIn(
            f"The parameters of {name} have the name {key}, which some models refuse, and every "
            "request with it: use 1 to 64 letters, digits, hyphens, dots and underscores."
        )
    # Of a tool whose parameters have no type, the runtime does not tell the model at all.
    parameters = {"type": "object", **_with_items(parameters)}
    if len(json.dumps(parameters)) > MOST_SCHEMA:
        raise NotLetIn(f"The parameters of {name} have more than {MOST_SCHEMA >> 10} KiB.")
    # The runtime has hidden tools of its own: without `replaces` it would run such a one instead.
    offer = ToolOffer(
        name,
        description,
        parameters,
        None,
        replaces=True,
        asks=True,
    )
    return BroughtTool(offer, _seconds(said.get("seconds")), said.get("repeatable") is True)


def _refers_dynamically(schema: object, *, are_names: bool = False) -> bool:
    """Names of properties may be any."""
    if isinstance(schema, list):
        return any(_refers_dynamically(one) for one in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return False
    parts = cast("dict[str, object]", schema)
    if not are_names and not _DYNAMIC.isdisjoint(parts):
        return True
    return any(
        _refers_dynamically(part, are_names=not are_names and key in _NAMED)
        for key, part in parts.items()
    )


def _odd_key(parameters: Mapping[str, Any]) -> str | None:
    properties: object = parameters.get("properties")
    keys = cast("dict[str, object]", properties) if isinstance(properties, dict) else ()
    return next((repr(key)[:80] for key in keys if not _KEY.fullmatch(key)), None)


def _with_items(schema: Any) -> Any:
    """GPT models refuse a whole request for one array that does not say what is in it."""
    if isinstance(schema, list):
        return [_with_items(one) for one in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    parts = cast("dict[str, object]", schema)
    whole = {key: part if key in _VALUES else _with_items(part) for key, part in parts.items()}
    kind = parts.get("type")
    kinds = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    return {**whole, "items": {}} if "array" in kinds and "items" not in parts else whole


def _seconds(given: object) -> float:
    """Of no number, and of NaN, it is as if nothing was said."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return TOOL_SECONDS
    return float(min(given, _MOST_SECONDS))  # an int may be longer than any float


def _hooks(params: Mapping[str, Any]) -> dict[str, frozenset[str] | None]:
    kinds = params.get("hookKinds")
    if not isinstance(kinds, dict):  # the pinned SDK says only that there are some
        return dict.fromkeys(HOOK_KINDS) if params.get("hooks") is True else {}
    return {
        kind: _names(tools)
        for kind, tools in cast("dict[str, object]", kinds).items()
        if kind in HOOK_KINDS
    }


def _names(tools: object) -> frozenset[str] | None:
    if not isinstance(tools, list):
        return None
    return frozenset(str(name) for name in cast("list[object]", tools))


def _events(params: Mapping[str, Any]) -> frozenset[str]:
    wanted: object = params.get("events")
    if not isinstance(wanted, list):
        return frozenset() if "hookKinds" in params else EVENT_KINDS
    return EVENT_KINDS & {str(kind) for kind in cast("list[object]", wanted)}


def refusal(joined: Joined, taken: Mapping[str, str], servers: Collection[str]) -> str | None:
    """Why it cannot have its names; `taken` says who has which."""
    for name in joined.tools:
        if owner := taken.get(name):
            return f"Its tool {name} has a name that {owner} already uses. Give it another name."
        for server in servers:
            if name.startswith(f"{server}-"):
                return (
                    f"Its tool {name} looks like one of the MCP server {server}. "
                    "Give it another name."
                )
    return None
