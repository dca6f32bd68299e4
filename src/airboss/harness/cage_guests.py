"""What a caged session may bring with it: programs, services and folders that fit into its cage.

Every shell in the cage could read a secret that is handed in, and a host outside of the profile is
not reached from there. What the settings mark `on_host` stays outside.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from airboss.cage_settings import CageProfile
from airboss.errors import Invalid
from airboss.model.cage_bounds import covers
from airboss.model.setup import CageSetup, ServerSetup, Setup
from airboss.runtime.cage.plan import CageKind
from airboss.runtime.cage.profile import folder_refusal
from airboss.runtime.cage.system import system_facts
from airboss.session_keys import variables_in

_MARK: Final = (
    "Mark it on_host = true in the settings: then it is outside of the cage, and its calls are "
    "asked for. Or leave it out, or let the session work without a cage."
)
_NARROW: Final = (
    "It is outside of the cage, and a narrow cage has no network to reach it by. Leave it out, or "
    "let the session work without a cage."
)
_FOLDER: Final = (
    "{path} cannot be read in a cage: {why}. Name a folder below it, leave it out, or let the "
    "session work without a cage."
)


def check_guests(setup: Setup, kind: CageKind = "strong") -> None:
    """Refused by name."""
    if setup.cage is None:
        return
    for name, server in setup.mcp_servers.items():
        for mistake in _mistakes(server, setup.cage, kind):
            raise Invalid(f"mcpServers.{name}: {mistake}")


def check_folders(setup: Setup, data: Path) -> None:
    """Blocking. Those beside the working directory, by name, where they have the home, the data
    folder or the like inside."""
    home, data = Path.home().resolve(), data.resolve()
    for key, paths in (("directories", setup.directories), ("skills", setup.skills)):
        for path in paths:
            if why := folder_refusal(Path(path), home, data):
                raise Invalid(f"{key}: {_FOLDER.format(path=path, why=why)}")


def terms_with_folders(terms: CageProfile, setup: Setup, cwd: Path) -> CageProfile:
    """With the folders beside the working directory, which can be read as without a cage."""
    given = (cwd, *terms.read, *terms.write)
    more = [path for path in setup.beside if not any(map(Path(path).is_relative_to, given))]
    return terms.model_copy(update={"read": (*terms.read, *more)})


def is_in_cage(setup: Setup, cwd: Path, path: Path) -> bool:
    """Whether a session sees what is there. Real paths."""
    if setup.cage is None:
        return True
    terms, system = terms_with_folders(setup.cage.terms, setup, cwd), system_facts()
    seen = (cwd, *terms.read, *terms.write, *system.folders, *system.toolchains)
    return any(map(path.is_relative_to, seen))


def outside(setup: Setup) -> tuple[str, ...]:
    """The servers of a caged session that run outside of its cage."""
    if setup.cage is None:
        return ()
    return tuple(name for name, server in setup.mcp_servers.items() if server.on_host)


def _mistakes(server: ServerSetup, cage: CageSetup, kind: CageKind) -> Iterator[str]:
    if server.on_host:
        if kind == "narrow":
            yield _NARROW
        return
    texts = (*server.env.values(), *server.headers.values())
    named = [variable for text in texts for variable in variables_in(text)]
    if variable := next(iter(filter(None, (*named, server.token_variable))), None):
        yield f"It needs the variable {variable}, which every shell inside could read. {_MARK}"
    if server.client_id is not None:
        yield f"A person has to sign in there, and what that gives is not for a cage. {_MARK}"
    if server.url is not None:
        address = urlsplit(server.url)
        port = f":{address.port}" if address.port else ""
        host = f"{address.hostname or ''}{port}"
        if server.private:
            yield f"{host} is on this machine or in its network, which no cage reaches. {_MARK}"
        if not any(covers(pattern, host) for pattern in cage.terms.hosts):
            yield f"{host} is not one of the hosts of its cage. {_MARK}"
