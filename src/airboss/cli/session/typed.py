"""What a person types in a conversation: a message, or one of a few words behind a slash."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal[
    "queue",
    "steer",
    "interrupt",
    "btw",
    "list",
    "help",
    "rename",
    "files",
    "compact",
    "model",
    "plan",
    "command",
    "unknown",
]

HELP = "/help lists the commands. Tab completes commands, and file names after @."
COMMANDS: dict[str, str] = {
    "/help": "lists the commands",
    "/steer TEXT": "adds the text to the running turn",
    "/interrupt TEXT": "stops the running turn; the text comes next",
    "/btw TEXT": "asks a side question, without adding it to the conversation",
    "/queue": "lists queued messages",
    "/model ID": "switches to another model from the next turn on",
    "/plan TEXT": "lets the agent make a plan first, which you approve",
    "/review TEXT": "has the changes in the folder reviewed; /security-review does so for security",
    "/context": "shows what fills the model's context; /usage what the session has used",
    "/compact TEXT": "replaces the history with a summary, with an emphasis on TEXT if given",
    "/rename NAME": "renames the session",
    "/files LETTERS": "finds files by letters of their path; mention one with @PATH",
}
_VERBS: dict[str, Verb] = {
    "/steer": "steer",
    "/interrupt": "interrupt",
    "/btw": "btw",
    "/rename": "rename",
    "/model": "model",
    "/plan": "plan",
}
_ALONE: dict[str, Verb] = {"/help": "help", "/": "help", "/queue": "list", "/files": "files"}
_COMMAND = re.compile(r"/[a-z][\w-]*")


@dataclass(frozen=True)
class Typed:
    """A text, and what is to become of it."""

    verb: Verb
    text: str = ""


def typed(line: str) -> Typed:
    """What begins with a slash is a command where it is one, or is a single word that none is: a
    path is a message, and so is such a word behind a space."""
    word, _, text = line.strip().partition(" ")
    text = text.strip()
    if not text and word in _ALONE:
        return Typed(_ALONE[word])
    if word == "/files":
        return Typed("files", text)
    if word == "/compact":
        return Typed("compact", text)
    if word in _VERBS and text:
        return Typed(_VERBS[word], text)
    if _COMMAND.fullmatch(word) and "\n" not in line and line.startswith("/"):
        return Typed("command" if word not in _VERBS else "unknown", line.strip())
    return Typed("queue", line)


def no_such(word: str) -> str:
    if word in _VERBS:
        return f"{word} needs a text after it. /help lists the commands."
    return f"Unknown command {word}. See /help. To send it as a message, begin with a space."
