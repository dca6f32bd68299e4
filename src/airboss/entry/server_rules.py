"""What is wrong with the MCP servers that an entry or a task describes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from pydantic.alias_generators import to_snake

from airboss.entry.agent_rules import named
from airboss.entry.violations import At, Violation, wrong
from airboss.keys import ADDRESS_PATTERN, NAME_RULE, NO_ADDRESS, is_address
from airboss.model.agent_names import NAME
from airboss.model.server_mistakes import (
    mistake_in_variable,
    mistaken_names,
    mistakes_in_address,
)
from airboss.model.tool_table import BUILT_IN, GITHUBS_SERVER, OURS
from airboss.session_keys import (
    LONGEST_SECONDS,
    MOST_SERVERS,
    VARIABLE,
    mistake_in_server,
    variables_in,
)

_ADDRESS: Final = re.compile(ADDRESS_PATTERN)
_NAME_IT: Final = "Describe it in mcpServers, or name it there if the settings describe it."


def server_violations(part: Mapping[str, object], place: At) -> Iterator[Violation]:
    servers, around = _fields(part.get("mcpServers")), place.field("mcpServers")
    if len(servers) > MOST_SERVERS:
        yield wrong(around, f"Should have at most {MOST_SERVERS} servers.")
    for name, server in servers.items():
        at = named(around, str(name))
        if not NAME.fullmatch(str(name)):
            yield wrong(at, NAME_RULE, None, "Give the server another name.")
        elif name == GITHUBS_SERVER or name in BUILT_IN or name in OURS:
            yield wrong(at, "The name is taken.", None, "Give the server another name.")
        yield from _server(_fields(server), at)
    for name, mistake in mistaken_names(map(str, servers)):
        yield wrong(named(around, name), mistake)


def _server(server: Mapping[str, object], at: At) -> Iterator[Violation]:
    said = [to_snake(str(key)) for key, value in server.items() if value is not None]
    if mistake := mistake_in_server(said):
        yield wrong(at, mistake)
    command = server.get("command")
    if isinstance(command, list | tuple) and not (command and command[0]):
        advice = "Write the program and its arguments as a list."
        yield wrong(at.field("command"), "Should name a program.", None, advice)
    yield from _env(_fields(server.get("env")), at.field("env"))
    url = server.get("url")
    if isinstance(url, str) and not (_ADDRESS.fullmatch(url) and is_address(url)):
        advice = "Write it like https://wiki.example.com/mcp, without a login."
        yield wrong(at.field("url"), NO_ADDRESS, None, advice)
    elif isinstance(url, str):
        for _, mistake in mistakes_in_address(url, {}):
            yield wrong(at.field("url"), mistake)
    seconds = server.get("seconds")
    if isinstance(seconds, int | float) and not 0 < seconds <= LONGEST_SECONDS:
        yield wrong(at.field("seconds"), f"Should be more than 0, and at most {LONGEST_SECONDS}.")


def _env(env: Mapping[str, object], at: At) -> Iterator[Violation]:
    for name, text in env.items():
        if not VARIABLE.fullmatch(str(name)):
            yield wrong(named(at, str(name)), "Should be the name of a variable.")
        for variable in variables_in(text) if isinstance(text, str) else ():
            if mistake := mistake_in_variable(variable):
                yield wrong(named(at, str(name)), mistake)


def unknown_servers(agents: object, place: At, servers: Sequence[str]) -> Iterator[Violation]:
    """Those that agents name and nobody describes."""
    for name, agent in _fields(agents).items():
        at = named(place.field("agents"), str(name)).field("mcpServers")
        given = _fields(agent).get("mcpServers")
        words = cast("Sequence[object]", given) if isinstance(given, list | tuple) else ()
        for index, word in enumerate(words):
            is_name = isinstance(word, str) and NAME.fullmatch(word)
            if is_name and word not in (*servers, GITHUBS_SERVER):
                yield wrong(at.item(index), f'There is no MCP server "{word}".', None, _NAME_IT)


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
