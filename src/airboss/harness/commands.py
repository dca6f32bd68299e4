"""The commands behind a slash that a session offers: named prompts, and a few of the runtime's own.

What the runtime has beside those would change what a session may do, or where it works: whoever
wants that says so to Airboss.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from airboss.errors import Invalid
from airboss.model.setup import CommandSetup

Source: TypeAlias = Literal["airboss", "session", "entry"]

BUILT_IN: Final[dict[str, str]] = {
    "compact": "Replace the history with a summary; say what it should keep, if you like",
    "context": "Show what fills the model's context",
    "plan": "Make a plan first, which you approve",
    "rename": "Give the session another name",
    "review": "Have the changes in the folder reviewed",
    "security-review": "Have the changes in the folder reviewed for security problems",
    "usage": "Show what the session has used",
}
# These say nothing without words behind them.
_NEED_WORDS: Final = {"plan": "what the agent is to plan", "rename": "the new name"}
_REFUSED: Final[dict[str, str]] = {
    "allow-all": "Change the session's permissions instead.",
    "permissions": "Change the session's permissions instead.",
    "add-dir": "Name the folder under `directories` when you start a session.",
    "cwd": "Start a session in that folder instead.",
    "mcp": "Describe MCP servers in the settings or the entry.",
    "plugin": "Plugins of the runtime are not used here.",
    "remote": "Sessions are shared by Airboss itself.",
    "sandbox": "The runtime's sandbox is not used here.",
    "reset-allowed-tools": "Change the session's permissions instead.",
}


@dataclass(frozen=True)
class OfferedCommand:
    name: str
    description: str
    source: Source
    # It says nothing without words behind it.
    takes: str | None = None


@dataclass(frozen=True)
class Named:
    """The prompts that people gave a name: in the session's description, and in the entry in use.
    Of two with one name, the session's counts."""

    session: Mapping[str, CommandSetup]
    entry: Mapping[str, CommandSetup]

    def offered(self) -> Iterator[OfferedCommand]:
        for name, about in BUILT_IN.items():
            yield OfferedCommand(name, about, "airboss", _NEED_WORDS.get(name))
        for name, command in self.session.items():
            yield OfferedCommand(name, command.description, "session")
        for name, command in self.entry.items():
            if name not in self.session:
                yield OfferedCommand(name, command.description, "entry")

    def find(self, name: str) -> CommandSetup | None:
        """None where it is one of the runtime's that are offered."""
        if found := self.session.get(name) or self.entry.get(name):
            return found
        if name in BUILT_IN:
            return None
        there = ", ".join(f"/{one.name}" for one in self.offered())
        why = _REFUSED.get(name)
        if why is not None:
            raise Invalid(f"/{name} cannot be used here. {why}")
        raise Invalid(f"There is no command /{name}. There are: {there}.")


def must_have_words(name: str, words: str) -> None:
    if not words and (needed := _NEED_WORDS.get(name)):
        raise Invalid(f"/{name} needs words behind it: {needed}.")


def text_of(command: CommandSetup, words: str) -> str:
    """What is sent to the agent: the prompt, and behind it what somebody typed."""
    return f"{command.prompt}\n\n{words}" if words else command.prompt
