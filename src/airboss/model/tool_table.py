"""The tools of a session by name: what each of the runtime's own does, and which are ours."""

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

SEARCH_TOOL: Final = "tool_search_tool"
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
    "exit_plan_mode": "ask",
    SEARCH_TOOL: "notes",  # finds other tools, where they are too many to be told all at once
}
# Those that Airboss offers: the four of jobs, and its own ways to ask a person and to show a plan.
OURS: Final = (
    "job_prepare_document",
    "job_boolean_true",
    "job_boolean_false",
    "job_prerequisite_failed",
    "ask_user",
    "exit_plan_mode",
)
GITHUBS_SERVER: Final = "github-mcp-server"


def _of(*kinds: ToolKind) -> frozenset[str]:
    return frozenset(name for name, kind in BUILT_IN.items() if kind in kinds)


# What people call several at once. Who may start something may see how it goes.
GROUPS: Final[dict[str, frozenset[str]]] = {
    "@read": _of("read"),
    "@write": _of("write"),
    "@run": _of("run") | {"read_bash", "list_bash"},
    "@fetch": _of("fetch"),
    "@delegate": _of("delegate", "send") | {"read_agent", "list_agents"},
    "@mcp": frozenset(),  # whatever servers bring
    "@ours": frozenset(OURS),
}
