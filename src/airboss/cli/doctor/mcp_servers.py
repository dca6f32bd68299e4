"""Whether the MCP servers of the settings can be there: programs found, variables set, addresses
that answer. None is started, and nothing is sent to one."""

import asyncio
import shutil
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from airboss.cli.doctor.checks import CheckedMachine, CheckResult
from airboss.errors import AirbossError
from airboss.net.address_guard import Egress
from airboss.provider_settings import is_loopback

if TYPE_CHECKING:
    from airboss.session_keys import ServerKeys

_ANSWER_SECONDS: Final = 3.0


def check_mcp_servers(subject: CheckedMachine) -> CheckResult:
    from airboss.settings import load_settings

    try:
        settings = load_settings(subject.folder.settings, {"data": subject.folder.path})
    except AirbossError:
        remedy = "Fix the settings file first."
        return CheckResult("warn", "Not checked: the settings file is not valid.", remedy=remedy)
    servers = settings.session.mcp_servers or {}
    if not servers:
        return CheckResult("ok", "No MCP servers are configured.")
    wrong = [f"{name}: {why}" for name, one in servers.items() if (why := _trouble(one, subject))]
    if wrong:
        remedy = "Sessions go on without a server that fails. Fix it in settings.toml, or here."
        return CheckResult("warn", f"Not there: {'; '.join(wrong)}.", remedy=remedy)
    return CheckResult("ok", f"{len(servers)} configured, all found.", ", ".join(servers))


def _trouble(server: "ServerKeys", subject: CheckedMachine) -> str | None:
    missing = [name for name, _ in server.variables if not subject.environ.get(name)]
    if missing:
        return f"the variable {missing[0]} is not set here"
    if server.command is not None:
        program = server.command[0]
        is_found = shutil.which(program, path=subject.environ.get("PATH"))
        return None if is_found else f"the program {program} was not found"
    return asyncio.run(_unreached(server))


async def _unreached(server: "ServerKeys") -> str | None:
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
