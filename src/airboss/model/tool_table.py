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
# Others that the pinned runtime has and shows to no agent of ours. Under such a name it runs its
# own instead of anybody's, unless that replaces it: so nobody else is given one.
HIDDEN: Final = frozenset(
    {
        "catalog_search",
        "catalog_select",
        "context_board",
        "dynamic_workflows_manage",
        "execution_subagent",
        "file_search",
        "get_context_remaining",
        "grep_search",
        "invoke_canvas_action",
        "lexical_code_search",
        "list_canvas_capabilities",
        "list_powershell",
        "local_shell",
        "lsp",
        "manage_schedule",
        "new_context",
        "open_canvas",
        "powershell",
        "read_file",
        "read_inbox",
        "read_memories",
        "read_powershell",
        "run_dynamic_workflow",
        "search_code_subagent",
        "semantic_search",
        "send_inbox",
        "session_artifacts",
        "session_history",
        "session_store_sql",
        "stop_powershell",
        "store_memory",
        "str_replace_editor",
        "submit_security_review_scope",
        "task_complete",
        "update_todo",
        "vote_memory",
    }
)
EXTENSIONS_MANAGE: Final = "extensions_manage"
EXTENSIONS_RELOAD: Final = "extensions_reload"
# Those that Airboss offers: the four of jobs, its own ways to ask a person and to show a plan, and
# two for extensions.
OURS: Final = (
    "job_prepare_document",
    "job_boolean_true",
    "job_boolean_false",
    "job_prerequisite_failed",
    "ask_user",
    "exit_plan_mode",
    EXTENSIONS_MANAGE,
    EXTENSIONS_RELOAD,
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
