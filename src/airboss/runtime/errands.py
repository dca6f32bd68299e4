"""What is asked of the SDK's session in more than one step, in its words; nothing is kept here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from copilot.session import CopilotSession


@dataclass(frozen=True)
class Compaction:
    """The tokens of the context before and after, and how many messages a summary stands for. Of
    one that somebody stopped, nothing."""

    before: int | None = None
    after: int | None = None
    removed: int = 0
    stopped: bool = False


async def stop_work(session: "CopilotSession") -> None:
    """Abort, also what went on in the background: as long as a command does, the runtime does not
    say that it is idle; and one that only dies wakes the agent again."""
    from copilot.rpc import TasksCancelRequest

    await session.abort()
    for name in await _running(session):
        await session.rpc.tasks.cancel(TasksCancelRequest(id=name))


async def is_at_work(session: "CopilotSession", with_commands: bool) -> bool:
    """A command that a steered turn left behind is no processing to the runtime, and still keeps
    the turn from its end."""
    said = await session.rpc.metadata.is_processing()
    return bool(said.processing) or (with_commands and bool(await _running(session)))


async def take_back(session: "CopilotSession", name: str, text: str) -> None:
    from copilot.rpc import QueueWithdrawMessageRequest

    asked = QueueWithdrawMessageRequest(expected_prompt=text, message_id=name)
    await session.rpc.queue.withdraw_message(asked)


async def aside(session: "CopilotSession", question: str) -> str:
    from copilot.rpc import UIEphemeralQueryRequest

    said = await session.rpc.ui.ephemeral_query(UIEphemeralQueryRequest(question=question))
    return said.answer


async def compact(session: "CopilotSession", instructions: str | None) -> Compaction:
    from copilot.rpc import SessionHistoryCompactRequest, Trigger

    asked = SessionHistoryCompactRequest(
        custom_instructions=instructions or None, trigger=Trigger.MANUAL
    )
    said = await session.rpc.history.compact(asked)
    after = said.context_window.current_tokens if said.context_window else None
    before = None if after is None else after + said.tokens_removed
    return Compaction(before, after, said.messages_removed)


@dataclass(frozen=True)
class CommandAnswer:
    """What the runtime makes of a command: a text for people, or a prompt for the agent."""

    text: str | None = None
    prompt: str | None = None


async def command(session: "CopilotSession", name: str, words: str) -> CommandAnswer:
    from copilot.rpc import CommandsInvokeRequest

    asked = CommandsInvokeRequest(name=name, input=words or None)
    answer: Any = await session.rpc.commands.invoke(asked)
    said: dict[str, object] = answer.to_dict()
    prompt, text = said.get("prompt"), said.get("text")
    is_prompt = said.get("kind") == "agent-prompt" and isinstance(prompt, str)
    return CommandAnswer(None if text is None else str(text), str(prompt) if is_prompt else None)


async def set_model(
    session: "CopilotSession", model: str, effort: str | None, *, is_own: bool
) -> None:
    from copilot.session import ModelCapabilitiesOverride, ModelSupportsOverride

    # As when it is opened: a model that the runtime does not know would not be shown images.
    sees = ModelCapabilitiesOverride(supports=ModelSupportsOverride(vision=True))
    await session.set_model(
        model, reasoning_effort=effort, model_capabilities=sees if is_own else None
    )


async def be_agent(session: "CopilotSession", name: str | None) -> None:
    """A resume keeps the agent that the session was before, whatever it is told."""
    from copilot.rpc import AgentSelectRequest

    if name is None:
        await session.rpc.agent.deselect()
    else:
        await session.rpc.agent.select(AgentSelectRequest(name=name))


async def stop_compacting(session: "CopilotSession") -> None:
    await session.rpc.history.abort_manual_compaction()


async def _running(session: "CopilotSession") -> list[str]:
    """The commands and agents that go on beside the conversation."""
    said = await session.rpc.tasks.list()
    return [task.id for task in said.tasks if task.status.value == "running"]
