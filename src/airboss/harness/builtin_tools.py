"""What the gate makes of the runtime's own tools, each of them looked at. A test walks those it
offers.

All of them pass the gate, those that nobody listed too. The runtime asks permission for what these
do, where that needs any; for the calls of every other tool the gate has it asked. None of these
names has a hyphen: those of MCP servers have one (SERVER-TOOL).
"""

import re
from typing import Final

from airboss.model.tool_table import BUILT_IN

# The runtime asks nobody for these, although they ask GitHub for what the signed-in user can see.
_ASKED_BY_NOBODY: Final = frozenset({"semantic_code_search"})
_SENDS = re.compile(r"(?:\A|[-_])(?:send|reply|notify)(?:[-_]|\Z)")


def is_asked_for(tool: str) -> bool:
    """Whether the runtime itself asks permission for what this tool does, where that needs any."""
    return tool in BUILT_IN and tool not in _ASKED_BY_NOBODY


def is_poll(tool: str) -> bool:
    return BUILT_IN.get(tool) == "poll"


def is_send(tool: str) -> bool:
    """Of a tool that others brought along only its name can tell."""
    kind = BUILT_IN.get(tool)
    return kind == "send" or (kind is None and bool(_SENDS.search(tool)))
