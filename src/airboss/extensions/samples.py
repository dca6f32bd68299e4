"""What an extension is tried with where nobody says otherwise: arguments that fit a schema, and a
moment for each hook."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from airboss.extensions.joined import BroughtTool, Joined

_TEXT: Final = "example"
_DEEPEST: Final = 8
# One harmless use of each tool of the runtime that hooks are mostly about.
_USES: Final[Mapping[str, Mapping[str, Any]]] = {
    "bash": {"command": "true", "description": "Do nothing"},
    "view": {"path": "{cwd}"},
    "create": {"path": "{cwd}/example.txt", "file_text": "example\n"},
    "edit": {"path": "{cwd}/example.txt", "old_str": "example", "new_str": "sample"},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "example"},
}
_RESULT: Final = {"textResultForLlm": _TEXT, "resultType": "success"}


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The required ones, each with the plainest value that fits."""
    return cast("dict[str, Any]", _value({"type": "object", **schema}, 0))


def _value(schema: Mapping[str, Any], depth: int) -> Any:
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(found := schema.get(key), list) and found:
            return cast("list[Any]", found)[0]
    for key in ("anyOf", "oneOf"):
        if isinstance(found := schema.get(key), list) and found:
            return _value(_mapping(cast("list[Any]", found)[0]), depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = cast("list[Any]", kind)[0] if kind else None
    if kind == "object" and depth < _DEEPEST:
        known = _mapping(schema.get("properties"))
        names = cast("Iterable[Any]", schema.get("required") or ())
        return {str(name): _value(_mapping(known.get(name)), depth + 1) for name in names}
    least = schema.get("minimum", 1)
    plain: dict[Any, Any] = {
        "object": {},
        "integer": least,
        "number": least,
        "boolean": False,
        "array": [],
        "null": None,
    }
    return plain.get(kind, _TEXT)


def _mapping(given: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", given) if isinstance(given, dict) else {}


def script_for(brought: Joined, prompt: str) -> dict[str, Any]:
    """A rehearsal in which the model calls each of its tools, and uses each tool of the runtime
    that its hooks are about."""
    calls = [_call(name, tool) for name, tool in brought.tools.items()]
    calls += [
        {"tool": name, "arguments": dict(use)}
        for name, use in _USES.items()
        if name in _watched(brought)
    ]
    steps = [{"call": call} for call in calls]
    return {"rules": [{"when": prompt, "steps": [*steps, {"say": "That was all."}]}]}


def _call(name: str, tool: BroughtTool) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments_for(tool.offer.parameters or {})}


def _watched(brought: Joined) -> set[str]:
    """The tools that its hooks name; of those that name none, looking is enough."""
    found: set[str] = set()
    for kind, tools in brought.hooks.items():
        if "Tool" in kind:
            found |= tools if tools is not None else {"view"}
    return found


def moments_for(brought: Joined) -> Sequence[tuple[str, dict[str, Any]]]:
    """Each hook that it has, with what it is asked."""
    found: list[tuple[str, dict[str, Any]]] = []
    for kind, tools in brought.hooks.items():
        names = sorted(tools) if tools else ["view"]
        found += [(kind, given) for given in _moments(kind, names)]
    return found


def _moments(kind: str, tools: Sequence[str]) -> list[dict[str, Any]]:
    about = [{"toolName": name, "toolArgs": dict(_USES.get(name, {}))} for name in tools]
    match kind:
        case "preToolUse":
            return about
        case "postToolUse":
            return [{**one, "toolResult": _RESULT} for one in about]
        case "postToolUseFailure":
            return [{**one, "error": _TEXT} for one in about]
        case "userPromptSubmitted":
            return [{"prompt": _TEXT}]
        case "sessionStart":
            return [{"source": "new", "initialPrompt": _TEXT}]
        case "sessionEnd":
            return [{"reason": "complete", "finalMessage": _TEXT}]
        case _:
            return [{"error": _TEXT, "errorContext": "model_call", "recoverable": True}]
