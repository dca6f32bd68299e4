"""Our events in the words of seed 001's callbacks. What the seed does not know is left out, but
for what waits for a person: those callbacks come within a turn of a session only."""

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
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    AskedOfPerson,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.run_events import RunEnded, RunError, WorkStarted, WorkStopped
from airboss.model.task_events import (
    TaskDecided,
    TaskEnded,
    TaskError,
    TaskSessionStarted,
    TaskSessionStopped,
)
from airboss.service.live import Callback

_ERRORS = {"task.error": "taskError", "run.error": "jobError"}


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
        case TaskDecided() | TaskSessionStarted() | TaskSessionStopped() | TaskEnded():
            return _task(event)
        case WorkStarted() | WorkStopped() | RunEnded():
            return _run(event)
        case SessionError() | SessionInterrupted() | TaskError() | RunError():
            return _error(event)
        case AskedOfPerson() | ItemSettled():
            return _item(event)
        case _:
            return _turn(event)


def _item(event: Asked | ItemSettled) -> Callback:
    """What the agent asks of a person. Over seed 001's API the next query is the answer."""
    match event:
        case ApprovalAsked():
            return _call(
                "onApproval",
                itemId=event.item,
                title=event.title,
                description=event.description,
                severity=event.severity,
                choices=list(event.choices),
                toolCallId=event.call,
                command=event.subject.command,
                path=event.subject.path,
                diff=event.subject.diff,
                url=event.subject.address,
                expiresAt=event.expires_at,
            )
        case QuestionAsked():
            return _call(
                "onQuestion",
                itemId=event.item,
                question=event.question,
                choices=list(event.choices) or None,
                allowFreeform=event.allows_words,
                form=None if event.form is None else json.loads(event.form),
                toolCallId=event.call,
                expiresAt=event.expires_at,
            )
        case PlanAsked():
            return _call(
                "onPlan",
                itemId=event.item,
                summary=event.summary,
                plan=event.plan,
                toolCallId=event.call,
                expiresAt=event.expires_at,
            )
        case LimitReached():
            return _call(
                "onLimit",
                itemId=event.item,
                scope=event.scope,
                limit=event.limit,
                allowed=event.allowed,
                used=event.used,
                expiresAt=event.expires_at,
            )
        case SignInAsked():
            return _call(
                "onSignIn",
                itemId=event.item,
                server=event.server,
                address=event.address,
                expiresAt=event.expires_at,
            )
        case SwitchAsked():
            return _call(
                "onModelSwitch",
                itemId=event.item,
                model=event.model,
                reason=event.reason,
                retrySeconds=event.retry_seconds,
                expiresAt=event.expires_at,
            )
        case ItemSettled():
            return _call("onItemSettled", itemId=event.item, outcome=event.outcome, who=event.who)


def _turn(event: Event) -> Callback | None:
    match event:
        case TurnStarted():
            return _call("onAgentStart", turnId=event.turn)
        case TurnEnded():
            return _call("onAgentEnd", turnId=event.turn)
        case SessionIdle():
            return _call("onIdle")
        case PromptAccepted() if event.task is not None:  # a person knows what was asked
            return _call("onGeneratedUserPrompt", prompt=event.text)
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


def _task(
    event: TaskDecided | TaskSessionStarted | TaskSessionStopped | TaskEnded,
) -> Callback | None:
    """One that was stopped says nothing more; one that crashed has said so."""
    match event:
        case TaskDecided():
            return _call("taskDecision", reason=event.text)
        case TaskSessionStarted():
            return _call("taskSessionStarted", sessionId=event.session, isDriving=event.is_driving)
        case TaskSessionStopped():
            return _call("taskSessionStopped", sessionId=event.session, succeeded=event.succeeded)
        case TaskEnded():
            name = {"succeeded": "taskSucceeded", "failed": "taskFailed"}.get(event.outcome)
            return _call(name) if name else None


def _run(event: WorkStarted | WorkStopped | RunEnded) -> Callback | None:
    """One that was stopped says nothing more."""
    match event:
        case WorkStarted():
            return _call("workStarted", workId=event.work, taskId=event.task_run)
        case WorkStopped():
            return _call("workStopped", workId=event.work, succeeded=event.succeeded)
        case RunEnded():
            name = {"succeeded": "jobSucceeded", "failed": "jobFailed"}.get(event.outcome)
            return _call(name) if name else None


def _error(event: SessionError | SessionInterrupted | TaskError | RunError) -> Callback:
    if isinstance(event, SessionInterrupted):
        event = SessionError(name="SessionInterrupted", message=event.reason)
    what = _ERRORS.get(event.kind, "sessionError")
    said = event.model_dump(include={"name", "message", "stack", "cause"}, exclude_none=True)
    return {what: json.dumps(said)}
