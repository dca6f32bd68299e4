"""What every session is opened with, in the SDK's words."""

import base64
from typing import TYPE_CHECKING, Any

from airboss.model.setup import ContextSetup, Setup, SystemMessageSetup
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.tool_names import tool_options
from airboss.runtime.tools import sdk_tools
from airboss.store.images import Pictures

if TYPE_CHECKING:
    from airboss.runtime.session import SessionRequest


def options_of(asked: "SessionRequest", process: RuntimeProcess) -> dict[str, Any]:
    """What a repository brings and would run stays off."""
    from copilot import PermissionNoResult
    from copilot.session import ModelCapabilitiesOverride, ModelSupportsOverride

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
        "on_event": process.wire.on_event(asked.id),
        "enable_config_discovery": False,
        "enable_file_hooks": False,  # left out, a repository's hooks do run
        "request_extensions": False,
        # Left out, sub-agents search what was said in all other sessions, and in GitHub's cloud.
        "enable_session_store": False,
        "enable_mcp_apps": False,
        # Left out, the instructions of a folder are read once in the life of the runtime.
        **({} if asked.resume else {"refresh_custom_instructions": True}),
        "enable_session_telemetry": False,
        **_of_setup(asked.setup),
        # A model that the runtime does not know would not be shown images by itself.
        "model_capabilities": asked.provider
        and ModelCapabilitiesOverride(supports=ModelSupportsOverride(vision=asked.vision)),
    }


def _of_setup(setup: Setup) -> dict[str, Any]:
    """Given whole to a resume too: the runtime forgets nearly all of it."""
    return {
        "reasoning_effort": setup.reasoning_effort,
        "system_message": setup.system_message and _system_message(setup.system_message),
        "skip_custom_instructions": setup.instructions == "off",
        **tool_options(setup.tools),
        "additional_directories": list(setup.directories) or None,
        "infinite_sessions": _infinite_sessions(setup.context),
    }


def _infinite_sessions(context: ContextSetup) -> dict[str, Any] | None:
    # Switched off, the runtime summarizes all the same; it does not where it waits for more than
    # all of the context.
    never = 1.0 if context.infinite is False else None
    said = {
        "enabled": context.infinite,
        "background_compaction_threshold": never or context.compact_at,
        "buffer_exhaustion_threshold": never or context.block_at,
    }
    return {name: value for name, value in said.items() if value is not None} or None


def _system_message(message: SystemMessageSetup) -> dict[str, Any]:
    if message.replace is not None:
        texts = [text for text in (message.replace, message.append) if text]
        return {"mode": "replace", "content": "\n\n".join(texts)}
    added = {"content": message.append} if message.append else {}
    if not message.sections:
        return {"mode": "append", **added}
    sections = {
        name: {"action": change.action, **({"content": change.text} if change.text else {})}
        for name, change in message.sections.items()
    }
    return {"mode": "customize", "sections": sections, **added}


def blobs(pictures: Pictures) -> list[Any] | None:
    """Images as the runtime takes them; it names each in the request."""
    shown = [
        {
            "type": "blob",
            "data": base64.b64encode(picture.data).decode(),
            "mimeType": picture.mime,
            "displayName": f"image {number}",
        }
        for number, picture in enumerate(pictures, start=1)
    ]
    return shown or None
