"""Our events in the words of seed 001's callbacks. What the seed does not know is left out."""

import json

from airboss.model.events import (
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    PromptAccepted,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    SessionError,
    SessionIdle,
    SessionInterrupted,
    ToolDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from airboss.service.live import Callback


def _call(name: str, **arguments: object) -> Callback:
    given = {key: value for key, value in arguments.items() if value is not None}
    return {"callback": name, **given}


def callback_of(event: Event) -> Callback | None:
    """One response of `live`, or None."""
    match event:
        case ReasoningStarted() | ReasoningDelta() | ReasoningEnded():
            return _text("Reasoning", "reasoningId", event)
        case MessageStarted() | MessageDelta() | MessageEnded():
            return _text("Message", "messageId", event)
        case ToolStarted() | ToolDelta() | ToolEnded():
            return _tool(event)
        case TurnStarted():
            return _call("onAgentStart", turnId=event.turn)
        case TurnEnded():
            return _call("onAgentEnd", turnId=event.turn)
        case SessionIdle():
            return _call("onIdle")
        case PromptAccepted() if event.task is not None:  # a person knows what was asked
            return _call("onGeneratedUserPrompt", prompt=event.text)
        case SessionError():
            return _error(event.name, event.message, event.stack, event.cause)
        case SessionInterrupted():
            return _error("SessionInterrupted", event.reason, None, None)
        case _:
            return None


def _text(
    what: str,
    key: str,
    event: ReasoningStarted
    | ReasoningDelta
    | ReasoningEnded
    | MessageStarted
    | MessageDelta
    | MessageEnded,
) -> Callback:
    names = {key: event.block}
    match event:
        case ReasoningStarted() | MessageStarted():
            return _call(f"onStart{what}", **names)
        case ReasoningDelta() | MessageDelta():
            return _call(f"on{what}", **names, delta=event.text)
        case ReasoningEnded() | MessageEnded():
            return _call(f"onEnd{what}", **names, completeContent=event.text)


def _tool(event: ToolStarted | ToolDelta | ToolEnded) -> Callback:
    match event:
        case ToolStarted():
            return _call(
                "onStartToolExecution",
                toolCallId=event.block,
                parentToolCallId=event.parent,
                toolName=event.name,
                toolArguments=event.arguments,
            )
        case ToolDelta():
            return _call("onToolExecution", toolCallId=event.block, delta=event.text)
        case ToolEnded():
            return _call(
                "onEndToolExecution",
                toolCallId=event.block,
                result=_result(event),
                error=event.error.model_dump(exclude_none=True) if event.error else None,
            )


def _result(event: ToolEnded) -> dict[str, str] | None:
    if event.result is None:
        return None
    result = {"content": event.result.content}
    if event.result.detailed_content is not None:
        result["detailedContent"] = event.result.detailed_content
    return result


def _error(name: str, message: str, stack: str | None, cause: str | None) -> Callback:
    told = {"name": name, "message": message, "stack": stack, "cause": cause}
    return {"sessionError": json.dumps({key: v for key, v in told.items() if v is not None})}
