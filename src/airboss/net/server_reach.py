"""Whether the MCP servers of the settings can be there: programs found, variables set, addresses
that answer. None is started, and nothing is sent to one."""

import asyncio
import shutil
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from airboss.errors import AirbossError
from airboss.net.address_guard import Egress
from airboss.provider_settings import is_loopback
from airboss.session_keys import ServerKeys

_ANSWER_SECONDS: Final = 3.0


async def server_troubles(
    servers: Mapping[str, ServerKeys], environ: Mapping[str, str]
) -> list[str]:
    """A line for each without which a session would have to do."""
    async with asyncio.TaskGroup() as group:
        asked = {name: group.create_task(_trouble(one, environ)) for name, one in servers.items()}
    found = {name: task.result() for name, task in asked.items()}
    return [f"{name}: {why}" for name, why in found.items() if why]


async def _trouble(server: ServerKeys, environ: Mapping[str, str]) -> str | None:
    missing = [name for name, _ in server.variables if not environ.get(name)]
    if missing:
        return f"the variable {missing[0]} is not set here"
    if server.command is not None:
        program = server.command[0]
        is_found = await asyncio.to_thread(shutil.which, program, path=environ.get("PATH"))
        return None if is_found else f"the program {program} was not found"
    return await _unreached(server)


async def _unreached(server: ServerKeys) -> str | None:
    """Connected to by the guarded way out, and left again."""
    address = urlsplit(server.url or "")
    host = address.hostname or ""
    port = address.port or (443 if address.scheme == "https" else 80)
    egress = Egress(bool(server.private) or is_loopback(host))
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            first, *_ = await egress.addresses(host, port)
            _, writer = await asyncio.open_connection(first, port)
            writer.close()
    except AirbossError as error:
        return str(error)
    except (OSError, TimeoutError):
        return f"{address.netloc} does not answer"
    return None
