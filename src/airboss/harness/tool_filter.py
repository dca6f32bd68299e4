"""A session's list of tools at the gate: the runtime has the same, and is not the only one."""

from airboss.harness.gate import GateRefusal, Policy
from airboss.model.setup import ToolSetup
from airboss.model.tool_table import SEARCH_TOOL
from airboss.runtime.hooks import ToolUse


def tool_policies(tools: ToolSetup) -> tuple[Policy, ...]:
    """None where a session may have all."""
    if not tools.is_limited:
        return ()

    async def is_listed(use: ToolUse) -> GateRefusal | None:
        is_search = use.tool == SEARCH_TOOL and tools.search != "off"
        if is_search or tools.allows(use.tool):
            return None
        return GateRefusal(f"{use.tool} is not among the tools of this session.")

    return (is_listed,)
