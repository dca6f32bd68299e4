"""What the agent runtime can do, and what Airboss makes of it: the source of docs/runtime.md.

Whatever the pinned SDK offers for a session is here, used or left out with a reason;
`tests/house/test_runtime_table.py` says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Capability:
    """`key` is the entry's, `field` the API's. Empty where there is none; several have commas
    between them. `test` is `FILE::FUNCTION`."""

    name: str
    sdk: str
    key: str = ""
    field: str = ""
    page: str = ""
    command: str = ""
    test: str = ""
    left_out: str = ""


def _read() -> tuple[Capability, ...]:
    """A line for each, in the order of the fields."""
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return tuple(Capability(*line.split("|")) for line in lines)


CAPABILITIES: Final = _read()

# Options of create_session and resume_session that are used, each in runtime/.
USED_OPTIONS: Final = frozenset(
    [
        "additional_directories",
        "agent",
        "available_tools",
        "client_name",
        "continue_pending_work",
        "custom_agents",
        "disabled_mcp_servers",
        "enable_config_discovery",
        "enable_file_hooks",
        "enable_mcp_apps",
        "enable_session_store",
        "enable_session_telemetry",
        "excluded_tools",
        "github_token",
        "github_token_provider",
        "hooks",
        "include_sub_agent_streaming_events",
        "infinite_sessions",
        "large_output",
        "mcp_oauth_token_storage",
        "mcp_servers",
        "model",
        "model_capabilities",
        "models",
        "name",
        "on_event",
        "on_auto_mode_switch_request",
        "on_permission_request",
        "provider",
        "providers",
        "reasoning_effort",
        "refresh_custom_instructions",
        "request_extensions",
        "session_id",
        "skill_directories",
        "skip_custom_instructions",
        "streaming",
        "system_message",
        "tool_search",
        "tools",
        "working_directory",
    ]
)

_REPOSITORY = "What a repository brings and would run stays off."
_ORGANISATION = "It is for administrators of an organisation, by Copilot's own service."
_CANVAS = "There is no canvas: pages are our own."
_EXTENSIONS = "Extensions of the runtime run code from the repository; see docs/security.md."
_OURS = "The answer is ours, from the raw event; a handler of the SDK would answer twice."

LEFT_OUT_OPTIONS: Final[Mapping[str, str]] = {
    "agent_directories": _REPOSITORY,
    "allow_transcript_recovery": "A session whose history is lost is told, not mended silently.",
    "ask_user_variant": "Questions go by a tool of ours, which waits over restarts.",
    "auth_client_id_metadata_url": "Airboss signs in itself; see ADR 17.",
    "autopilot": "Jobs decide what comes next, not the agent.",
    "canvas_handler": _CANVAS,
    "canvas_provider": _CANVAS,
    "canvases": _CANVAS,
    "capi": "Its options are of Copilot's service, and not documented.",
    "cloud": "Agents work on this machine.",
    "coauthor_enabled": "What commits say of the agent is as the runtime has it.",
    "commands": "Commands are invoked by us; as a prompt they would go to the model.",
    "config_directory": _REPOSITORY,
    "context_tier": "Models have their usual context; a longer one may cost more.",
    "create_session_fs_handler": "Sessions are kept by the runtime; the log has what people need.",
    "custom_agents_local_only": "Agents are those of `agents`; nothing else is looked for.",
    "default_agent": "`agent` says which agent a session is.",
    "diagnostics": "Traces and the log have what it would tell.",
    "disabled_skills": "`skills` names those that are wanted.",
    "embedding_cache_storage": "How the runtime finds texts of its own is left to it.",
    "enable_citations": "It is experimental, and no page shows citations.",
    "enable_experimental_mode": "Nothing unfinished runs unasked.",
    "enable_file_change_tracking": "Changes are read from git.",
    "enable_host_git_operations": "The runtime may read the folder's git, as every agent may.",
    "enable_managed_settings": _ORGANISATION,
    "enable_on_demand_instruction_discovery": "`instructions` says whether a folder's are read.",
    "enable_skills": "`skills` names those that are wanted.",
    "enforce_managed_model_defaults": _ORGANISATION,
    "excluded_builtin_agents": "`tools` says whether an agent may hand work to others.",
    "exp_assignments": _ORGANISATION,
    "extension_info": _EXTENSIONS,
    "extension_sdk_path": _EXTENSIONS,
    "feature_flags": "Nothing unfinished runs unasked.",
    "github_mcp_tool_config": "GitHub's server is off, or there as a whole (`tools.github`).",
    "hook_directories": _REPOSITORY,
    "image_generation": "No page shows images that a model makes.",
    "included_builtin_skills": "`skills` adds to the runtime's own, which run nothing unasked.",
    "instruction_directories": "`systemMessage` and `instructions` say what is read.",
    "interactive_user": "It is for the runtime's telemetry of messages, which is off.",
    "manage_schedule_enabled": "Jobs have their own schedule; see docs/run-on-a-schedule.md.",
    "managed_settings": _ORGANISATION,
    "memory": "What an agent remembers beyond a session would mix tasks.",
    "on_elicitation_request": _OURS,
    "on_exit_plan_mode_request": "A plan is shown by a call of a tool of ours; see ADR 16.",
    "on_mcp_auth_request": "Airboss signs in itself, so that no agent has the token; see ADR 17.",
    "on_user_input_request": "Questions go by a tool of ours, which waits over restarts.",
    "open_canvases": _CANVAS,
    "organization_custom_instructions": _ORGANISATION,
    "plugin_directories": _REPOSITORY,
    "reasoning_summary": "Reasoning is shown as the model tells it.",
    "remote_session": "Agents work on this machine.",
    "request_canvas_renderer": _CANVAS,
    "sandbox_config": "It fails closed here and confines shells only.",
    "session_limits": "Limits are ours: they hold over sessions, tasks and runs.",
    "skill_provider": "`skills` names folders.",
    "skip_embedding_retrieval": "How the runtime finds texts of its own is left to it.",
    "suppress_resume_event": "The event is passed over anyway.",
    "trust_working_directory": _REPOSITORY,
}

# Hooks of the SDK: those that an entry or the settings can have asked.
USED_HOOKS: Final = frozenset(
    [
        "on_pre_tool_use",
        "on_pre_mcp_tool_call",
        "on_post_tool_use",
        "on_post_tool_use_failure",
        "on_user_prompt_submitted",
        "on_user_prompt_transformed",
        "on_session_start",
        "on_session_end",
        "on_error_occurred",
        "on_agent_stop",
        "on_subagent_start",
        "on_subagent_stop",
    ]
)
LEFT_OUT_HOOKS: Final[Mapping[str, str]] = {}

# Events that are used, or named in runtime/ as known noise.
USED_EVENTS: Final = frozenset(
    [
        "session.error",
        "session.warning",
        "session.idle",
        "session.model_change",
        "session.usage_info",
        "session.compaction_start",
        "session.compaction_complete",
        "user.message",
        "pending_messages.modified",
        "assistant.turn_start",
        "assistant.turn_retry",
        "assistant.reasoning",
        "assistant.reasoning_delta",
        "assistant.tool_call_delta",
        "assistant.streaming_delta",
        "assistant.message",
        "assistant.message_delta",
        "assistant.usage",
        "tool.execution_start",
        "tool.execution_partial_result",
        "tool.shell_output",
        "tool.execution_complete",
        "skill.invoked",
        "subagent.started",
        "subagent.completed",
        "subagent.failed",
        "hook.start",
        "hook.end",
        "system.message",
        "auto_mode_switch.completed",
        "auto_mode_switch.requested",
        "permission.requested",
        "permission.completed",
        "elicitation.requested",
        "mcp.oauth_required",
        "external_tool.requested",
        "external_tool.completed",
        "command.execute",
        "capabilities.changed",
        "session.tools_updated",
        "session.background_tasks_changed",
        "session.skills_loaded",
        "session.mcp_servers_loaded",
        "session.mcp_server_status_changed",
        "session.mcp_server_tools_loaded",
        "mcp.tools.list_changed",
    ]
)

LEFT_OUT_EVENTS: Final[Mapping[str, str]] = {
    "abort": "Who stops a turn is in the log before the runtime says so.",
    "agent.interrupted": "Who stops a turn is in the log before the runtime says so.",
    "assistant.fusion_phase_activity": "Several models for one answer: not asked for.",
    "assistant.fusion_phase_completed": "Several models for one answer: not asked for.",
    "assistant.fusion_phase_failed": "Several models for one answer: not asked for.",
    "assistant.fusion_phase_started": "Several models for one answer: not asked for.",
    "assistant.idle": "`session.idle` ends a turn.",
    "assistant.intent": "The message itself is shown.",
    "assistant.message_start": "The first delta begins the block.",
    "assistant.server_tool_progress": "Tools of providers are shown with their end.",
    "assistant.turn_end": "A turn of ours is one request; the runtime's are steps of it.",
    "command.completed": "Commands are invoked by us.",
    "command.queued": "Commands are invoked by us.",
    "commands.changed": "Commands are invoked by us.",
    "elicitation.completed": "The end of what we answered.",
    "exit_plan_mode.completed": "A plan is shown by a call of a tool of ours; see ADR 16.",
    "exit_plan_mode.requested": "A plan is shown by a call of a tool of ours; see ADR 16.",
    "hook.progress": "Hooks are answered by us.",
    "human_response.recorded": "Decisions of people are in the log.",
    "mcp.headers_refresh_completed": "The proxy adds what a server wants, and renews tokens.",
    "mcp.headers_refresh_required": "The proxy adds what a server wants, and renews tokens.",
    "mcp.oauth_completed": "Airboss signs in itself; see ADR 17.",
    "mcp.oauth_recovery_completed": "Airboss signs in itself; see ADR 17.",
    "mcp.prompts.list_changed": "Of servers only the tools are shown.",
    "mcp.resources.list_changed": "Of servers only the tools are shown.",
    "mcp_app.tool_call_complete": "MCP apps are off.",
    "model.call_failure": "`session.error` and `assistant.usage` tell what matters, once.",
    "model.call_final_result": "`session.error` and `assistant.usage` tell what matters, once.",
    "model.call_finished": "`session.error` and `assistant.usage` tell what matters, once.",
    "model.call_start": "`session.error` and `assistant.usage` tell what matters, once.",
    "permission.assentDetected": "Every request is decided by our policy and rules.",
    "permission.carriedForward": "Every request is decided by our policy and rules.",
    "permission.contextualAuthorization": "Every request is decided by our policy and rules.",
    "permission.messageAuthorization": "Every request is decided by our policy and rules.",
    "permission.messageAuthorizationDegraded": "Every request is decided by our policy and rules.",
    "permission.messageAuthorizationRead": "Every request is decided by our policy and rules.",
    "prompt_cache_break": "It concerns Copilot's service.",
    "sampling.completed": "Servers may not ask the model.",
    "sampling.requested": "Servers may not ask the model: the runtime itself refuses.",
    "sandbox.decision": "The runtime's own sandbox is off.",
    "session.auto_mode_resolved": (
        "The automatic choice of a model is told by `session.model_change`."
    ),
    "session.auto_tier_recommendation": (
        "The automatic choice of a model is told by `session.model_change`."
    ),
    "session.auto_tier_switch_failed": (
        "The automatic choice of a model is told by `session.model_change`."
    ),
    "session.autopilot_objective_changed": "Jobs decide what comes next, not the agent.",
    "session.autopilot_stopped": "Jobs decide what comes next, not the agent.",
    "session.binary_asset": "Images come with the tool's result.",
    "session.canvas.closed": "There is no canvas.",
    "session.canvas.opened": "There is no canvas.",
    "session.canvas.recorded": "There is no canvas.",
    "session.canvas.registry_changed": "There is no canvas.",
    "session.canvas.removed": "There is no canvas.",
    "session.canvas.unavailable": "There is no canvas.",
    "session.completion_receipt": "`session.idle` ends a turn.",
    "session.context_changed": "A session keeps its folder; branches are read from git.",
    "session.context_cleared": "Nobody clears a history: another session is opened.",
    "session.custom_agents_updated": "A session keeps the agents that it was opened with.",
    "session.custom_notification": "It is for extensions of the runtime, which are off.",
    "session.extensions.attachments_pushed": "Extensions of the runtime are off.",
    "session.extensions_loaded": "Extensions of the runtime are off.",
    "session.fusion_completed": "Several models for one answer: not asked for.",
    "session.fusion_resolved": "Several models for one answer: not asked for.",
    "session.fusion_route_failed": "Several models for one answer: not asked for.",
    "session.fusion_route_started": "Several models for one answer: not asked for.",
    "session.handoff": "Agents work on this machine.",
    "session.indexed_search": "It concerns the runtime's own files.",
    "session.info": "Said to a terminal.",
    "session.managed_plugin_progress": "It is for administrators of an organisation.",
    "session.managed_settings_enforced": "It is for administrators of an organisation.",
    "session.managed_settings_resolved": "It is for administrators of an organisation.",
    "session.mcp_server_needs_reconnect": "Told by `session.mcp_server_status_changed`.",
    "session.mcp_server_removed": "Told by `session.mcp_server_status_changed`.",
    "session.mode_changed": "Plan mode is asked for with each message.",
    "session.mode_notice_delivered": "Plan mode is asked for with each message.",
    "session.model_deselected": "Told by `session.model_change`.",
    "session.permission_recovery": "Every request is decided by our policy and rules.",
    "session.permissions_changed": "Every request is decided by our policy and rules.",
    "session.plan_changed": "A plan is shown when a person is to approve it.",
    "session.quota_observation": "A quota that is used up is an error of the turn.",
    "session.remote_steerable_changed": "Agents work on this machine.",
    "session.resume": "Said by us, in the log.",
    "session.schedule_cancelled": "Jobs have their own schedule.",
    "session.schedule_created": "Jobs have their own schedule.",
    "session.schedule_rearmed": "Jobs have their own schedule.",
    "session.session_limits_changed": "Limits are ours.",
    "session.shutdown": "Said by us, in the log.",
    "session.snapshot_rewind": "History is not rewound.",
    "session.start": "Said by us, in the log.",
    "session.task_complete": "Criteria decide whether a task is done.",
    "session.title_changed": "A session's title is ours.",
    "session.todos_changed": "Seen as calls of tools.",
    "session.truncation": "Told by `session.compaction_complete`.",
    "session.usage_checkpoint": "`assistant.usage` tells each call.",
    "session.workspace_file_changed": "Changes are read from git.",
    "session_limits_exhausted.completed": "Limits are ours.",
    "session_limits_exhausted.requested": "Limits are ours.",
    "skill.context_delivered": "`skill.invoked` tells it.",
    "skill.context_delivered_ref": "`skill.invoked` tells it.",
    "skill.invoked_ref": "`skill.invoked` tells it.",
    "subagent.configured": "Told by `subagent.started` and its end.",
    "subagent.deselected": "Told by `subagent.started` and its end.",
    "subagent.selected": "Told by `subagent.started` and its end.",
    "system.notification": "Said to a terminal.",
    "tool.execution_progress": "Outputs are shown as they come.",
    "tool.user_requested": "People do not call tools.",
    "tool_search.activated": "Seen as calls of tools.",
    "ui.ephemeral_query": "The answer of a question on the side comes with its call.",
    "unknown": "Counted and passed over: a newer runtime may say more than we know.",
    "user_input.completed": "Questions go by a tool of ours.",
    "user_input.requested": "Questions go by a tool of ours.",
    "workflow.run_settled": "Jobs are ours.",
    "workflow.run_started": "Jobs are ours.",
    "workflow.run_updated": "Jobs are ours.",
}
