"""What a person types in a conversation: a message, or one of a few words behind a slash."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal["queue", "steer", "interrupt", "btw", "list"]

HELP = "/steer, /interrupt and /btw before a text, and /queue, while the agent works."
_VERBS: dict[str, Verb] = {"/steer": "steer", "/interrupt": "interrupt", "/btw": "btw"}


@dataclass(frozen=True)
class Typed:
    """A text, and what is to become of it."""

    verb: Verb
    text: str = ""


def typed(line: str) -> Typed:
    """All else that begins with a slash is a message: paths do."""
    if line.strip() == "/queue":
        return Typed("list")
    word, _, text = line.strip().partition(" ")
    if word in _VERBS and text.strip():
        return Typed(_VERBS[word], text.strip())
    return Typed("queue", line)
