"""What about a session goes beyond what its server allows. Only some may ask for that: settings, a
file that a person trusts, a request of the role `own`."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic.alias_generators import to_camel

from airboss.cage_keys import CageKeys
from airboss.cage_settings import DEFAULT_PROFILE
from airboss.model.cage_bounds import ServerCages, wider
from airboss.model.tool_lists import ToolList, known_and_allowed
from airboss.session_keys import (
    DEFAULT_IDENTITY,
    HookKeys,
    SectionKeys,
    ServerKeys,
    SessionKeys,
    SystemMessageKeys,
    ToolKeys,
)

NO_CAGES: Final = ServerCages()
# So many letters of a command or an address.
_SHOWN: Final = 200


class Wish(NamedTuple):
    """A wish that widens: its place, as files and requests write it, and what it comes to."""

    place: tuple[str, ...]
    what: str


def widening(
    keys: SessionKeys, server: SessionKeys, cages: ServerCages = NO_CAGES
) -> Iterator[Wish]:
    """All in these keys that does not count where nobody may widen what the settings say."""
    if keys.system_message is not None:
        for place, what in _of_message(keys.system_message):
            yield Wish(("systemMessage", *place), what)
    if keys.tools is not None:
        yield from _of_tools(keys.tools, server.tools or ToolKeys())
    given = server.directories or ()
    if more := [name for name in keys.directories or () if name not in given]:
        yield Wish(("directories",), f"to read without asking in {', '.join(more)}")
    given = server.skills or ()
    if more := [name for name in keys.skills or () if name not in given]:
        yield Wish(("skills",), f"to have the skills in {', '.join(more)}")
    yield from _of_names("agents", keys.agents or {}, server.agents or {})
    yield from _of_names("commands", keys.commands or {}, server.commands or {})
    if keys.account not in (None, server.account):
        yield Wish(("account",), f"to use the account {keys.account}")
    if keys.identity not in (None, server.identity or DEFAULT_IDENTITY):
        yield Wish(("identity",), f"to work in the home of {keys.identity}")
    yield from _of_cage(keys.cage or CageKeys(), server.cage or CageKeys(), cages)
    for name, wished in (keys.mcp_servers or {}).items():
        if not wished.is_name and wished != (server.mcp_servers or {}).get(name):
            yield Wish(("mcpServers", name), f"{_of_server(wished)} as the MCP server {name}")
    yield from _of_hooks(keys)


def _of_cage(keys: CageKeys, server: CageKeys, cages: ServerCages) -> Iterator[Wish]:
    """More than the profile that the settings name for every session."""
    given = server.over(cages.profile(server.profile or DEFAULT_PROFILE) or cages.usual)
    wished = given if keys.profile is None else cages.profile(keys.profile)
    if wished is None:  # there is none of this name, which is told elsewhere
        return
    for key, what in wider(keys.over(wished), given):
        place = ("cage", to_camel(key)) if key in keys.said else ("cage",)
        yield Wish(place, f"{what} in its cage")


def _of_names(
    key: str, wished: Mapping[str, object], given: Mapping[str, object]
) -> Iterator[Wish]:
    for name, one in wished.items():
        if one != given.get(name, one):
            yield Wish((key, name), f"to replace the {key[:-1]} {name} of the settings")


def _of_hooks(keys: SessionKeys) -> Iterator[Wish]:
    for name, hooks in (keys.hooks or {}).items():
        for hook in hooks:
            yield Wish(("hooks", name), f"to run {_program(hook)} as a hook")


def _of_server(keys: ServerKeys) -> str:
    if keys.command is not None:
        return f"to run {' '.join(keys.command)[:_SHOWN]}"
    return f"to call {urlsplit(keys.url or '').netloc[:_SHOWN]}"


def _program(hook: HookKeys) -> str:
    return hook.python or (hook.command or ("",))[0]


def _of_message(keys: SystemMessageKeys) -> Iterator[Wish]:
    """Rules for safety are in the runtime's own text: to add to it is harmless, and no more."""
    if keys.replace is not None:
        yield Wish(("replace",), "to replace the system message")
    for name, section in (keys.sections or {}).items():
        if section_widens(section):
            done = "remove" if section == "remove" else "replace"
            yield Wish(("sections", name), f"to {done} the section {name} of the system message")


def _of_tools(keys: ToolKeys, server: ToolKeys) -> Iterator[Wish]:
    if keys.github and not server.github:
        yield Wish(("tools", "github"), "for the MCP server of GitHub")
    if keys.allow is None:
        return
    given, wished = ToolList(allow=server.allow, deny=server.deny or ()), ToolList(allow=keys.allow)
    more = [name for name in known_and_allowed([wished]) if not given.allows(name)]
    if wished.may_allow_mcp and not given.may_allow_mcp:
        more.append("those of MCP servers")
    if more:
        yield Wish(("tools", "allow"), f"for tools that the settings leave out: {', '.join(more)}")


def section_widens(section: SectionKeys | str) -> bool:
    return not isinstance(section, SectionKeys) or section.replace is not None
