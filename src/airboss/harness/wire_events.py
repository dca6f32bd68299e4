"""What the events of a provider's answer say, in the words of any of the wires. Pure."""

from typing import Any, Final, cast

_COUNTS: Final = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")


def has_word(said: dict[str, Any]) -> bool:
    """In the words of any of the wires: the first piece of an answer, or of thinking before it."""
    if said.get("type") == "whole":
        return bool(said.get("choices") or said.get("content") or said.get("output"))
    if said.get("type") == "content_block_delta":
        return True
    if str(said.get("type", "")).endswith(".delta"):
        return bool(said.get("delta"))
    choices = said.get("choices")
    if not isinstance(choices, list) or not choices:
        return False
    delta = cast("list[dict[str, Any]]", choices)[0].get("delta")
    return isinstance(delta, dict) and any(
        value for name, value in cast("dict[str, Any]", delta).items() if name != "role"
    )


def is_end(said: dict[str, Any]) -> bool:
    kind = said.get("type")
    ends = ("[DONE]", "message_stop", "response.completed", "response.incomplete", "whole")
    if kind in ends:
        return True
    choices = said.get("choices")
    if not isinstance(choices, list) or not choices:
        return False
    return bool(cast("list[dict[str, Any]]", choices)[0].get("finish_reason"))


def usage_in(said: dict[str, Any]) -> dict[str, int]:
    """The counts of tokens in it, each as it was told last."""
    found: dict[str, int] = {}
    for place in (said, said.get("response"), said.get("message")):
        usage = cast("dict[str, Any]", place).get("usage") if isinstance(place, dict) else None
        if isinstance(usage, dict):
            counts = cast("dict[str, Any]", usage)
            found |= {name: counts[name] for name in _COUNTS if type(counts.get(name)) is int}
    return found
