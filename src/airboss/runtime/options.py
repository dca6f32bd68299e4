"""What every session is opened with, in the SDK's words."""

from typing import TYPE_CHECKING, Any

from airboss.model.setup import ContextSetup, Setup, SystemMessageSetup
from airboss.runtime.custom_agents import agent_options
from airboss.runtime.mcp_servers import server_options
from airboss.runtime.named_models import model_options
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.tool_names import tool_options
from airboss.runtime.tools import sdk_tools

if TYPE_CHECKING:
    from airboss.runtime.session_request import SessionRequest


def options_of(asked: "SessionRequest", process: RuntimeProcess) -> dict[str, Any]:
    """What a repository brings and would run stays off."""
    from copilot import PermissionNoResult

    def no_answer(*_: object) -> PermissionNoResult:
        """Its presence makes the runtime ask; the answer is ours, from the raw event."""
        return PermissionNoResult()

    return {
        **model_options(asked),
        **_token(asked),
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
        **_of_setup(asked.setup, asked.own_words),
        "mcp_servers": server_options(asked.servers, str(asked.cwd)),
        # Else a sign-in at a server would be there for every session of this machine's user.
        "mcp_oauth_token_storage": "in-memory",
    }


def _token(asked: "SessionRequest") -> dict[str, Any]:
    """Of the session alone: the process itself has none."""
    renew = asked.renew_token
    if renew is None:
        return {"github_token": asked.github_token}

    async def provide(_asked: object) -> dict[str, Any]:
        token, seconds = await renew()
        return {"kind": "token", "accessToken": token, "expiresIn": seconds}

    return {"github_token_provider": provide}


def _of_setup(setup: Setup, own_words: str | None) -> dict[str, Any]:
    """Given whole to a resume too: the runtime forgets nearly all of it."""
    return {
        "reasoning_effort": setup.reasoning_effort,
        "system_message": _system_message(setup.system_message, own_words),
        # Where it is said, the SDK asks the runtime a second time for each session.
        "skip_custom_instructions": True if setup.instructions == "off" else None,
        **tool_options(setup.tools),
        "additional_directories": list(setup.directories) or None,
        "infinite_sessions": _infinite_sessions(setup.context),
        **agent_options(setup),
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


def _system_message(
    message: SystemMessageSetup | None, own_words: str | None
) -> dict[str, Any] | None:
    """What somebody says about this session comes behind what we say about all."""
    if message is None:
        return {"mode": "append", "content": own_words} if own_words else None
    if message.replace is not None:
        texts = [text for text in (message.replace, message.append) if text]
        return {"mode": "replace", "content": "\n\n".join(texts)}
    texts = [text for text in (own_words, message.append) if text]
    added = {"content": "\n\n".join(texts)} if texts else {}
    if not message.sections:
        return {"mode": "append", **added}
    sections = {
        name: {"action": change.action, **({"content": change.text} if change.text else {})}
        for name, change in message.sections.items()
    }
    return {"mode": "customize", "sections": sections, **added}
