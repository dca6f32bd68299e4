"""The runtime's own tools, each of them looked at: what it does. A test walks those it offers.

All of them pass the gate, those that nobody listed too. The runtime asks permission for what these
do, where that needs any; for the calls of every other tool the gate has it asked. None of these
names has a hyphen: those of MCP servers have one (SERVER-TOOL).
"""

import re
from typing import Final, Literal, TypeAlias

ToolKind: TypeAlias = Literal[
    "run",  # starts or ends programs
    "read",  # looks into files
    "write",  # changes files
    "fetch",  # goes out to the network
    "poll",  # asks how something goes that runs already
    "delegate",  # has another agent work
    "send",  # tells another agent something
    "notes",  # keeps the agent's own notes, in the session's own store
    "ask",  # asks a person
]

BUILT_IN: Final[dict[str, ToolKind]] = {
    "bash": "run",
    "stop_bash": "run",
    "read_bash": "poll",
    "list_bash": "poll",
    "view": "read",
    "glob": "read",
    "grep": "read",
    "rg": "read",
    "semantic_code_search": "fetch",
    "skill": "read",
    "fetch_copilot_cli_documentation": "read",  # of the runtime itself; for sub-agents only
    "create": "write",
    "edit": "write",
    "apply_patch": "write",
    "web_fetch": "fetch",
    "task": "delegate",
    "read_agent": "poll",
    "list_agents": "poll",
    "write_agent": "send",
    "sql": "notes",
    "ask_user": "ask",
}
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
