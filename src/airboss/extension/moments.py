"""What a hook is told: one frozen object for each moment of a session's life."""

import base64
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from airboss.extension.answers import Image, Result, ResultType


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a tool answers. `id` stays the same when the call is made again."""

    id: str
    tool: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """In which session and folder, and when."""

    session: str
    cwd: Path
    at: datetime

    @property
    def session_id(self) -> str:
        """As `session`, by the name that JavaScript has for it."""
        return self.session


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSubmitted(Moment):
    """A prompt reaches the agent."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse(Moment):
    """A tool is about to be called.

    Some tools take one bare text: it is `arguments["input"]`, and cannot be changed.
    """

    tool: str
    arguments: dict[str, Any]

    @property
    def tool_name(self) -> str:
        """As `tool`, by the name that JavaScript has for it."""
        return self.tool

    @property
    def tool_args(self) -> dict[str, Any]:
        """As `arguments`, by the name that JavaScript has for it."""
        return self.arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDone(ToolUse):
    """A tool was called, and it worked."""

    result: Result

    @property
    def tool_result(self) -> Result:
        """As `result`, by the name that JavaScript has for it."""
        return self.result


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed(ToolUse):
    """A tool was called, and it failed."""

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Moment):
    """The session got its first prompt, or was resumed."""

    source: Literal["startup", "resume", "new"] = "new"
    initial_prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(Moment):
    """The session is left."""

    reason: Literal["complete", "error", "abort", "timeout", "user_exit"] = "complete"
    final_message: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorOccurred(Moment):
    """The model's service, a tool or the runtime has failed."""

    error: str
    error_context: Literal["model_call", "tool_execution", "system", "user_input"] = "system"
    recoverable: bool = False


def moment_of(kind: str, given: Mapping[str, Any]) -> Moment:
    """From what the host sends, by the name that the hook has in Python."""
    facts: dict[str, Any] = {
        "session": str(given.get("sessionId", "")),
        "cwd": Path(given.get("cwd") or given.get("workingDirectory") or "."),
        "at": datetime.fromtimestamp(given.get("timestamp", 0) / 1000, UTC),
    }
    return MOMENTS[kind](facts, given)


def _tool(given: Mapping[str, Any]) -> dict[str, Any]:
    arguments = given.get("toolArgs")
    if arguments is None:
        arguments = {}
    elif not isinstance(arguments, dict):  # some tools take a bare text
        arguments = {"input": arguments}
    return {"tool": given["toolName"], "arguments": cast("dict[str, Any]", arguments)}


def _result(given: Any) -> Result:
    if not isinstance(given, dict):
        return Result("" if given is None else str(given))
    fields = cast("dict[str, Any]", given)
    known = {"failure": "failure", "rejected": "rejected", "denied": "denied"}
    kind = cast("ResultType", known.get(fields.get("resultType", ""), "success"))
    images = _images(fields.get("binaryResultsForLlm")) if kind == "success" else ()
    return Result(str(fields.get("textResultForLlm", "")), kind, images)


def _images(given: Any) -> tuple[Image, ...]:
    """Those among what was added; what is no image is left out."""
    found: list[Image] = []
    for one in cast("list[Any]", given) if isinstance(given, list) else ():
        with contextlib.suppress(LookupError, TypeError, ValueError):
            found.append(Image(base64.b64decode(one["data"], validate=True), one["mimeType"]))
    return tuple(found)


MOMENTS: dict[str, Callable[[dict[str, Any], Mapping[str, Any]], Moment]] = {
    "user_prompt_submitted": lambda facts, given: PromptSubmitted(**facts, prompt=given["prompt"]),
    "pre_tool_use": lambda facts, given: ToolUse(**facts, **_tool(given)),
    "post_tool_use": lambda facts, given: ToolDone(
        **facts, **_tool(given), result=_result(given.get("toolResult"))
    ),
    "post_tool_use_failure": lambda facts, given: ToolFailed(
        **facts, **_tool(given), error=str(given.get("error", ""))
    ),
    "session_start": lambda facts, given: SessionStarted(
        **facts, source=given.get("source", "new"), initial_prompt=given.get("initialPrompt")
    ),
    "session_end": lambda facts, given: SessionEnded(
        **facts,
        reason=given.get("reason", "complete"),
        final_message=given.get("finalMessage"),
        error=given.get("error"),
    ),
    "error_occurred": lambda facts, given: ErrorOccurred(
        **facts,
        error=str(given.get("error", "")),
        error_context=given.get("errorContext", "system"),
        recoverable=bool(given.get("recoverable", False)),
    ),
}
