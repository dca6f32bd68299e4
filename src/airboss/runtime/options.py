"""What every session is opened with, in the SDK's words."""

from typing import TYPE_CHECKING, Any

from airboss.runtime.life import Life
from airboss.runtime.tools import sdk_tools

if TYPE_CHECKING:
    from airboss.runtime.session import SessionWish


def options_of(asked: "SessionWish", life: Life) -> dict[str, Any]:
    """What a repository brings and would run stays off."""
    from copilot import PermissionNoResult

    def no_answer(*_: object) -> PermissionNoResult:
        """Its presence makes the runtime ask; the answer is ours, from the raw event."""
        return PermissionNoResult()

    return {
        "model": asked.model,
        "provider": None if asked.provider is None else dict(asked.provider),
        "github_token": asked.github_token,
        "working_directory": str(asked.cwd),
        "client_name": "airboss",
        "tools": sdk_tools(asked.tools),
        "streaming": True,
        "include_sub_agent_streaming_events": False,
        "on_permission_request": no_answer,
        "on_event": life.tap.on_event(asked.id),
        "enable_config_discovery": False,
        "enable_file_hooks": False,  # left out, a repository's hooks do run
        "request_extensions": False,
        "enable_mcp_apps": False,
        "enable_session_telemetry": False,
    }
