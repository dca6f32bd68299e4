"""What the MCP servers of a session are started and called with, for as long as it is open.

Values of variables are put in here and nowhere else. What lets one in goes to the proxy, which adds
it to each call: no process of an agent has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from airboss.errors import Invalid
from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import Upstream
from airboss.harness.server_bridge import ServerBridge
from airboss.harness.server_grants import ServerGrants, ServerPass, may_sign_in
from airboss.harness.server_permits import ServerPermits
from airboss.harness.variables import filled
from airboss.model.excerpt import MOST_OF_A_REASON, Redacting, excerpt
from airboss.model.mcp_events import McpChanged
from airboss.model.setup import ServerSetup, Setup
from airboss.runtime.mcp_servers import Server, ServerAddress, ServerProgram
from airboss.session_keys import variables_in

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy
    from airboss.harness.session_terms import SessionTerms


def check_values(setup: Setup, environ: Mapping[str, str]) -> None:
    """Refused before anything is written down or started: a variable without a value."""
    for name, server in setup.mcp_servers.items():
        _environment(name, server, environ)
        _headers(name, server, environ)
        client_secret(name, server, environ)


@dataclass
class ServerLaunch:
    """Of one session. Addresses are given back with it, or for new ones on a resume."""

    proxy: "ProviderProxy"
    environ: Mapping[str, str] = field(repr=False)
    grants: ServerGrants | None = None
    # For programs that run on this machine though their session is in a cage.
    host_environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: Path = field(default_factory=Path.cwd)
    written: tuple[Path, ...] = ()
    permits: ServerPermits = field(default_factory=ServerPermits)
    bridges: list[ServerBridge] = field(default_factory=list[ServerBridge])
    lent: dict[str, LentAddress] = field(default_factory=dict[str, LentAddress])

    @classmethod
    def of(cls, terms: "SessionTerms") -> "ServerLaunch":
        given = (terms.proxy, terms.environ, terms.grants, terms.hook_environ, terms.rule.cwd)
        return cls(*given, written=terms.cage.written if terms.cage else ())

    async def servers(self, setup: Setup) -> dict[str, Server]:
        self.give_back()
        return {
            name: await self._server(name, server, setup)
            for name, server in setup.mcp_servers.items()
        }

    async def _server(self, name: str, server: ServerSetup, setup: Setup) -> Server:
        tools, is_caged = setup.tools.of_servers.get(name), setup.cage is not None
        if server.command is not None:
            env = _environment(name, server, self.environ)
            if is_caged and server.on_host:
                lent = await self._bridged(name, server.command, env)
                return ServerAddress(lent.url, lent.give_back, tools, server.seconds)
            return ServerProgram(server.command, env, tools, server.seconds)
        if is_caged and not server.on_host:  # by the way out, which asks and counts
            return ServerAddress(server.url or "", _nothing_lent, tools, server.seconds)
        headers = _headers(name, server, self.environ)
        upstream = Upstream(
            *(name, server.url or "", headers, server.private, "MCP server"),
            hidden=_hidden(server, self.environ),
        )
        lent = await self._lent(upstream) if is_caged else await self.proxy.lend(upstream)
        self.lent[name] = lent
        if self.grants and may_sign_in(server.url, server.headers, server.token_variable):
            has_client = server.client_id is not None
            lent.entry = ServerPass(self.grants, server.url or "", has_client)
        return ServerAddress(lent.url, lent.give_back, tools, server.seconds)

    async def _bridged(
        self, name: str, command: tuple[str, ...], env: Mapping[str, str]
    ) -> LentAddress:
        """A program outside of the cage, which is called through its door."""
        environ = {**self.host_environ, **env}
        bridge = ServerBridge(name, command, environ, self.cwd, self.written)
        upstream = Upstream(name, f"http://{name}/mcp", what="MCP server")
        self.lent[name] = lent = await self._lent(upstream)
        lent.answer = bridge.serve
        self.bridges.append(bridge)
        return lent

    async def _lent(self, upstream: Upstream) -> LentAddress:
        """To a cage, where a call is passed on if it was allowed."""
        lent = await self.proxy.lend(upstream, in_cage=True)
        lent.checked = partial(self.permits.passed, upstream.name)
        return lent

    @property
    def can_ask(self) -> bool:
        """Whether a person may sign in at any of them."""
        return any(lent.entry for lent in self.lent.values())

    def wanting(self) -> dict[str, str]:
        """Those that want a person to sign in, with their addresses."""
        return {
            name: lent.upstream.base_url
            for name, lent in self.lent.items()
            if lent.entry is not None and lent.wants_sign_in
        }

    def give_back(self) -> None:
        for lent in self.lent.values():
            lent.give_back()
        self.lent.clear()
        for bridge in self.bridges:
            bridge.end()
        self.bridges.clear()

    def in_our_words(self, said: McpChanged, redactor: Redacting) -> McpChanged:
        """The runtime knows neither the server's address nor what became of a call."""
        lent = self.lent.get(said.server)
        if said.error is None or lent is None:
            return said
        words = excerpt(redactor, lent.trouble or lent.in_our_words(said.error), MOST_OF_A_REASON)
        state = "needs-sign-in" if lent.wants_sign_in else said.state
        return said.model_copy(update={"error": words, "state": state})


def _nothing_lent() -> None:
    """There is nothing to give back."""


def _environment(name: str, server: ServerSetup, environ: Mapping[str, str]) -> dict[str, str]:
    place = f"mcpServers.{name}.env"
    return {key: filled(text, environ, f"{place}.{key}") for key, text in server.env.items()}


def client_secret(name: str, server: ServerSetup, environ: Mapping[str, str]) -> str | None:
    """Of us, where people sign in."""
    variable = server.client_secret_variable
    place = f"mcpServers.{name}.clientSecretVariable"
    return None if variable is None else filled(f"${variable}", environ, place)


def _hidden(server: ServerSetup, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that let us in there."""
    named = [variable for text in server.headers.values() for variable in variables_in(text)]
    named += [server.token_variable] if server.token_variable else []
    return tuple(environ.get(variable, "").strip() for variable in named)


def _headers(name: str, server: ServerSetup, environ: Mapping[str, str]) -> dict[str, str]:
    place = f"mcpServers.{name}"
    found = {
        key.lower(): filled(text, environ, f"{place}.headers.{key}")
        for key, text in server.headers.items()
    }
    if server.token_variable is not None:
        token = filled(f"${server.token_variable}", environ, f"{place}.tokenVariable")
        found["authorization"] = f"Bearer {token}"
    for key, value in found.items():
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise Invalid(f"{place}.headers.{key}: Its value cannot be sent. Check its variable.")
    return found
