"""The MCP servers of a session: made of all that is said about them, and checked by name.

Who speaks last says which there are. An empty description names a server that somebody before has
described, and who may not widen what the settings say can do no more than that.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pydantic.alias_generators import to_snake

from airboss.errors import Invalid
from airboss.model.server_mistakes import (
    mistake_in_variable,
    mistaken_names,
    mistakes_in_address,
)
from airboss.model.setup import ServerSetup
from airboss.model.tool_table import BUILT_IN, GITHUBS_SERVER, OURS
from airboss.provider_settings import is_loopback
from airboss.session_keys import ServerKeys

if TYPE_CHECKING:
    from airboss.harness.setup import Said

# Where a path of a command begins that was relative to the file of its entry.
SCRIPT_JOINT: Final = "/./"
_SETTINGS_ONLY: Final = (
    "headers",
    "token_variable",
    "client_id",
    "client_secret_variable",
    "private",
    "on_host",
)
_VARIABLES: Final = (".tokenVariable", ".clientSecretVariable")


@dataclass(frozen=True)
class SaidServer:
    """A server, where it is described, and by whom."""

    keys: ServerKeys
    place: str
    said: "Said"


@dataclass(frozen=True)
class SessionServers:
    """All that is said about servers, in order."""

    said: "Sequence[Said]"

    @property
    def names(self) -> list[str]:
        """All that anybody speaks of, granted or not."""
        return list(dict.fromkeys(name for one in self.said for name in one.keys.mcp_servers or ()))

    @property
    def by_name(self) -> dict[str, SaidServer]:
        """Those that the session has."""
        described: dict[str, SaidServer] = {}
        chosen: dict[str, SaidServer] = {}
        for one in self.said:
            if one.keys.mcp_servers is None:
                continue
            for name, keys in one.keys.mcp_servers.items():
                if one.may_widen and not keys.is_name:
                    described[name] = SaidServer(keys, f"{one.place('mcp_servers')}.{name}", one)
            granted = {
                name: described[name]
                for name, keys in one.keys.mcp_servers.items()
                if name in described and (keys.is_name or described[name].said is one)
            }
            # Only wishes that are not granted count as if nothing had been said.
            if granted or not one.keys.mcp_servers:
                chosen = granted
        return chosen

    def check(self, variables: Collection[str]) -> None:
        """Refused by name. `variables` are those that others than the settings may name."""
        self._check_names()
        for name, server in self.by_name.items():
            for key, mistake in _mistakes(name, server, variables):
                is_snake = server.said.snake_case and key in _VARIABLES
                raise Invalid(f"{server.place}{to_snake(key) if is_snake else key}: {mistake}")
        for name, mistake in mistaken_names(self.by_name):
            raise Invalid(f"{self.by_name[name].place}: {mistake}")

    def _check_names(self) -> None:
        described: list[str] = []
        for one in self.said:
            servers = one.keys.mcp_servers or {}
            described += [name for name, keys in servers.items() if not keys.is_name]
            for name, keys in servers.items():
                if keys.is_name and name not in described:
                    there = f"There are: {', '.join(described)}." if described else "None is."
                    raise Invalid(
                        f'{one.place("mcp_servers")}.{name}: The MCP server "{name}" is not '
                        f"described in the settings or in an entry. {there}"
                    )

    def made(self, clean: Callable[[str], str]) -> dict[str, ServerSetup]:
        return {name: _made(server, clean) for name, server in self.by_name.items()}

    @property
    def tools(self) -> dict[str, tuple[str, ...]]:
        """Those of each server, where they are limited."""
        servers = self.by_name.items()
        return {name: one.keys.tools for name, one in servers if one.keys.tools is not None}


def _mistakes(
    name: str, server: SaidServer, variables: Collection[str]
) -> Iterator[tuple[str, str]]:
    keys, is_set = server.keys, server.said.is_settings
    if name == GITHUBS_SERVER or name in BUILT_IN or name in OURS:
        yield "", "The name is taken. Give the server another one."
    if server.said.is_settings and keys.is_name:
        yield "", "Should have a command or a url."
    if not is_set and (wrong := next((key for key in _SETTINGS_ONLY if key in keys.said), None)):
        key = ServerKeys.model_fields[wrong].alias
        yield f".{key}", "Only the settings may have it. Describe the server there, and name it {}."
    if keys.command is not None and not keys.command[0].strip():
        yield ".command[0]", "Should name a program."
    if keys.url is not None:
        private, headers = bool(keys.private), keys.headers or {}
        yield from mistakes_in_address(keys.url, headers, private=private, is_set=is_set)
    for variable, key in keys.variables:
        if mistake := mistake_in_variable(variable):
            yield f".{key}", mistake
        if not is_set and variable not in variables:
            listed = f"{', '.join(variables)}" if variables else "none"
            yield (
                f".{key}",
                f"The variable {variable} may not be named here. The settings allow: {listed} "
                "(`variables` in [session]).",
            )


def _made(server: SaidServer, clean: Callable[[str], str]) -> ServerSetup:
    keys, place = server.keys, server.place
    for key, texts in _texts(keys):
        for name, text in texts.items():
            if clean(text) != text:
                raise Invalid(
                    f"{place}.{key}{name}: It has a secret in it. Put that into an environment "
                    "variable, and write its name: $NAME."
                )
    private = bool(keys.private) or is_loopback(urlsplit(keys.url or "").hostname or "")
    needs_trust = server.said.must_be_trusted
    return ServerSetup(
        command=keys.command,
        env=keys.env or {},
        url=keys.url,
        headers=keys.headers or {},
        token_variable=keys.token_variable,
        client_id=keys.client_id,
        client_secret_variable=keys.client_secret_variable,
        private=private and server.said.is_settings,
        seconds=keys.seconds,
        on_host=bool(keys.on_host) and server.said.is_settings,
        scripts=scripts_in(keys.command or ()) if needs_trust else (),
    )


def _texts(keys: ServerKeys) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "command", {f"[{index}]": word for index, word in enumerate(keys.command or ())}
    yield "env", {f".{name}": text for name, text in (keys.env or {}).items()}
    yield "headers", {f".{name}": text for name, text in (keys.headers or {}).items()}
    yield "url", {"": keys.url or ""}


def scripts_in(command: Sequence[str]) -> tuple[str, ...]:
    """The files beside an entry that a command names."""
    return tuple(word for word in command if SCRIPT_JOINT in word)
