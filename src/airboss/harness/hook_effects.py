"""What each hook may change: which words of its answer count, and what they are put in place of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.session_keys import TOOL_HOOKS, HookName

CONTEXT: Final = "additionalContext"
# What a text may come to: it goes into the model's context.
MOST_CONTEXT: Final = 100_000


class WrongAnswer(Exception):
    """A hook answered something that means nothing."""


@dataclass(frozen=True)
class HookEffects:
    """`changes`: by the word of its answer, what of its input that changes. The next hook is given
    the changed input."""

    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    # Whether it may add text for the model, and whether it may say no.
    adds: bool = False
    blocks: bool = False


EFFECTS: Final[Mapping[HookName, HookEffects]] = {
    "preToolUse": HookEffects({"modifiedArgs": "toolArgs"}, adds=True, blocks=True),
    "preMcpToolCall": HookEffects({"metaToUse": "_meta"}),
    "postToolUse": HookEffects({"modifiedResult": "toolResult"}, adds=True),
    "postToolUseFailure": HookEffects(adds=True),
    "userPromptSubmitted": HookEffects({"modifiedPrompt": "prompt"}, adds=True, blocks=True),
    "userPromptTransformed": HookEffects({"modifiedTransformedPrompt": "transformedPrompt"}),
    "sessionStart": HookEffects(adds=True),
    "sessionEnd": HookEffects(),
    "errorOccurred": HookEffects(),
    "agentStop": HookEffects(blocks=True),
    "subagentStart": HookEffects(adds=True),
    "subagentStop": HookEffects({"modifiedResponse": "response"}, blocks=True),
    "beforePromptBuild": HookEffects({"modifiedPrompt": "prompt"}, adds=True, blocks=True),
    "modelInput": HookEffects(),
    "modelOutput": HookEffects(),
    "agentEnd": HookEffects(),
    "beforeCompaction": HookEffects({"modifiedInstructions": "instructions"}, blocks=True),
    "afterCompaction": HookEffects(),
    "beforeMessageWrite": HookEffects({"modifiedText": "text"}, blocks=True),
}
# These are about sub-agents, or about what sub-agents do as well: they are asked there too.
EVERYWHERE: Final = frozenset({*TOOL_HOOKS, "subagentStart", "subagentStop"})


def no_of(output: Mapping[str, Any]) -> str | None:
    """Its reason where it says no: in the runtime's words for a tool, or for all else."""
    if output.get("permissionDecision") == "deny":
        return str(output.get("permissionDecisionReason") or "It gave no reason.")
    if output.get("decision") == "block":
        return str(output.get("reason") or "It gave no reason.")
    return None


def changed_by(
    name: HookName, given: Mapping[str, Any], output: Mapping[str, Any]
) -> dict[str, Any]:
    """By the word of the answer, what stands there now. Raises where that cannot be."""
    found: dict[str, Any] = {}
    for word, key in EFFECTS[name].changes.items():
        if word in output:
            found[word] = _checked(word, output[word], given.get(key))
    return found


def _checked(word: str, value: object, before: object) -> object:
    match word:
        case "metaToUse" if value is None or isinstance(value, dict):
            return cast("object", value)
        case "modifiedArgs" if isinstance(value, dict):
            return cast("object", value)
        case "modifiedResult" if isinstance(value, str | dict):
            is_plain = isinstance(before, dict)
            result = cast("dict[str, Any]", before) if is_plain else {"resultType": "success"}
            if isinstance(value, str):
                return {**result, "textResultForLlm": value}
            return {**result, **cast("dict[str, Any]", value)}
        case "metaToUse" | "modifiedArgs" | "modifiedResult":
            raise WrongAnswer(f"`{word}` should be an object.")
        case _ if isinstance(value, str):
            return value
        case _:
            raise WrongAnswer(f"`{word}` should be text.")


def context_of(name: HookName, output: Mapping[str, Any]) -> str | None:
    text = output.get(CONTEXT)
    if text is None or not EFFECTS[name].adds:
        return None
    if not isinstance(text, str):
        raise WrongAnswer(f"`{CONTEXT}` should be text.")
    return text[:MOST_CONTEXT] or None
