"""Whether the MCP servers of the settings can be there, where no server has to run for it."""

import asyncio

from airboss.cli.doctor.checks import CheckedMachine, CheckResult
from airboss.errors import AirbossError
from airboss.net.server_reach import server_troubles


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
    if wrong := asyncio.run(server_troubles(servers, subject.environ)):
        remedy = "Sessions go on without a server that fails. Fix it in settings.toml, or here."
        return CheckResult("warn", f"Not there: {'; '.join(wrong)}.", remedy=remedy)
    return CheckResult("ok", f"{len(servers)} configured, all found.", ", ".join(servers))
