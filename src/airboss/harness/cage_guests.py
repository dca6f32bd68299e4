"""What a caged session may bring with it: programs and services that fit into its cage.

Every shell in the cage could read a secret that is handed in, and a host outside of the profile is
not reached from there. What the settings mark `on_host` stays outside.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from airboss.errors import Invalid
from airboss.model.cage_bounds import covers
from airboss.model.setup import CageSetup, ServerSetup, Setup
from airboss.session_keys import variables_in

_LEAVE: Final = "Leave it out, or let the session work without a cage."
_HOOK: Final = (
    "A hook runs outside of the cage, as a program of the server's user. Mark it on_host = true in "
    "the settings if that is meant, or leave it out."
)
_OUTSIDE: Final = f"It is to run outside of the cage, and is not reached from inside it. {_LEAVE}"


def check_guests(setup: Setup) -> None:
    """Refused by name."""
    if setup.cage is None:
        return
    for name, server in setup.mcp_servers.items():
        for mistake in _mistakes(server, setup.cage):
            raise Invalid(f"mcpServers.{name}: {mistake}")
    for hook in setup.hooks:
        if not hook.on_host:
            raise Invalid(f"{hook.place or hook.hook}: {_HOOK}")


def outside(setup: Setup) -> tuple[str, ...]:
    """The servers of a caged session that run outside of its cage."""
    if setup.cage is None:
        return ()
    return tuple(name for name, server in setup.mcp_servers.items() if server.on_host)


def _mistakes(server: ServerSetup, cage: CageSetup) -> Iterator[str]:
    if server.on_host:
        yield _OUTSIDE
        return
    texts = (*server.env.values(), *server.headers.values())
    named = [variable for text in texts for variable in variables_in(text)]
    if variable := next(iter((*named, server.token_variable)), None):
        yield f"It needs the variable {variable}, which every shell inside could read. {_LEAVE}"
    if server.url is not None:
        address = urlsplit(server.url)
        port = f":{address.port}" if address.port else ""
        host = f"{address.hostname or ''}{port}"
        if not any(covers(pattern, host) for pattern in cage.terms.hosts):
            yield f"{host} is not one of the hosts of its cage. {_LEAVE}"
