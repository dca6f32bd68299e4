"""What a person types in a conversation: a message, or one of a few words behind a slash."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal[
    "queue", "steer", "interrupt", "btw", "list", "help", "rename", "files", "unknown"
]

HELP = "/help lists the commands, Tab completes them and the names of files behind @."
COMMANDS: dict[str, str] = {
    "/help": "this list",
    "/steer TEXT": "the running turn reads it between two steps",
    "/interrupt TEXT": "ends the running turn and comes first",
    "/btw TEXT": "asks beside the work; the agent does not hear of it",
    "/queue": "what waits until the agent is done",
    "/rename NAME": "gives the session another name",
    "/files LETTERS": "the files of the folder whose path has these letters; @PATH names one",
}
_VERBS: dict[str, Verb] = {
    "/steer": "steer",
    "/interrupt": "interrupt",
    "/btw": "btw",
    "/rename": "rename",
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
    if word in _VERBS and text:
        return Typed(_VERBS[word], text)
    if not text and _COMMAND.fullmatch(line.rstrip()):
        return Typed("unknown", word)
    return Typed("queue", line)


def no_such(word: str) -> str:
    if word in _VERBS:
        return f"{word} needs a text behind it. /help lists the commands."
    return f"There is no command {word}. /help lists all; a space before it sends it as a message."
