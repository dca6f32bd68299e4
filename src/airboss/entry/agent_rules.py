"""What is wrong with the agents, folders of skills, account and identity that an entry or a task
names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, cast

from airboss.entry.violations import At, Violation, wrong
from airboss.keys import NAME_RULE
from airboss.model.agent_names import MOST_AGENTS, NAME, mistake_in_name
from airboss.session_keys import (
    MOST_COMMANDS,
    MOST_FOLDERS,
    TAKEN_COMMANDS,
    taken_command,
)

Told = Callable[[Mapping[str, object], Sequence[str], At], Iterator[Violation]]
Look = Callable[[object, At], Iterator[Violation]]

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOLDER: Final = "Name a folder that has skills as NAME/SKILL.md, or leave it out."


def agent_violations(
    part: Mapping[str, object], place: At, told: Told, model: Look, tools: Look
) -> Iterator[Violation]:
    """`told` reads the prompt, `model` and `tools` what these name."""
    agents = _fields(part.get("agents"))
    if len(agents) > MOST_AGENTS:
        yield wrong(place.field("agents"), f"Should have at most {MOST_AGENTS} agents.")
    for name, agent in agents.items():
        at = named(place.field("agents"), str(name))
        if mistake := mistake_in_name(str(name)):
            yield wrong(at, mistake, None, "Give the agent another name.")
        yield from _agent(_fields(agent), at, told, model, tools)
    if isinstance(name := part.get("agent"), str) and not NAME.fullmatch(name):
        yield wrong(place.field("agent"), NAME_RULE, None, "Write the name of an agent.")
    yield from _commands(part, place, told)
    yield from _folders(part.get("skills"), place.field("skills"))
    for key, what in (("account", "an account of the settings"), ("identity", "an identity")):
        if isinstance(name := part.get(key), str) and not NAME.fullmatch(name):
            yield wrong(place.field(key), NAME_RULE, None, f"Write the name of {what}.")


def _agent(
    agent: Mapping[str, object], at: At, told: Told, model: Look, tools: Look
) -> Iterator[Violation]:
    if agent.get("description") == "":
        advice = "Say what the agent is for: other agents choose by it."
        yield wrong(at.field("description"), "Should not be empty.", None, advice)
    yield from told(agent, ("prompt",), at)
    yield from model(agent.get("model"), at.field("model"))
    yield from tools(agent.get("tools"), at.field("tools"))
    for key, what in (("mcpServers", "an MCP server"), ("skills", "a skill")):
        for index, name in enumerate(_elements(agent.get(key))):
            if isinstance(name, str) and not NAME.fullmatch(name):
                spot = at.field(key).item(index)
                yield wrong(spot, NAME_RULE, None, f"Write the name of {what}.")


def _commands(part: Mapping[str, object], place: At, told: Told) -> Iterator[Violation]:
    commands = _fields(part.get("commands"))
    if len(commands) > MOST_COMMANDS:
        yield wrong(place.field("commands"), f"Should have at most {MOST_COMMANDS} commands.")
    for name, command in commands.items():
        at = named(place.field("commands"), str(name))
        if not NAME.fullmatch(str(name)):
            yield wrong(at, NAME_RULE, None, "Give the command another name.")
        if str(name) in TAKEN_COMMANDS:
            yield wrong(at, taken_command(str(name)), None, "Give the command another name.")
        if _fields(command).get("description") == "":
            advice = "Say what the command is for: people choose by it."
            yield wrong(at.field("description"), "Should not be empty.", None, advice)
        yield from told(_fields(command), ("prompt",), at)


def _folders(value: object, place: At) -> Iterator[Violation]:
    words = _elements(value)
    if len(words) > MOST_FOLDERS:
        yield wrong(place, f"Should have at most {MOST_FOLDERS} folders.")
    for index, word in enumerate(words):
        if word == "":
            yield wrong(place.item(index), "Should not be empty.", None, _FOLDER)


def named(place: At, name: str) -> At:
    """The place of a part that people named."""
    return place.field(name) if _IDENTIFIER.fullmatch(name) else place.key(name)


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _elements(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
