"""What is told of a session's extensions: their life, their words, and what their hooks changed."""

from typing import Literal, TypeAlias

from airboss.model.words import Frozen, Words


class ExtensionStarted(Frozen):
    """An extension has joined the session. `hooks` are the moments at which it is asked."""

    kind: Literal["extension.started"] = "extension.started"
    name: Words
    scope: Literal["project", "user"]
    language: Literal["python", "javascript"]
    # Of the content that runs.
    digest: Words
    tools: tuple[Words, ...] = ()
    hooks: tuple[Words, ...] = ()


class ExtensionEnded(Frozen):
    """Its process has ended, or was ended. It starts again after `restart_in` seconds, where that
    is said."""

    kind: Literal["extension.ended"] = "extension.ended"
    name: Words
    reason: Words
    crashed: bool = False
    restart_in: float | None = None


class ExtensionRefused(Frozen):
    """It may not work in this session: it was not started, or not let in."""

    kind: Literal["extension.refused"] = "extension.refused"
    name: Words
    reason: Words


class ExtensionSaid(Frozen):
    """A line that it wants people to see."""

    kind: Literal["extension.said"] = "extension.said"
    name: Words
    level: Literal["info", "warning", "error"] = "info"
    text: Words


class ExtensionHooked(Frozen):
    """One of its hooks had an effect. Late or failed, it had none: what it was asked about went on,
    but for a call of a tool, which was refused."""

    kind: Literal["extension.hooked"] = "extension.hooked"
    name: Words
    # Such as `preToolUse`.
    hook: Words
    tool: Words | None = None
    outcome: Literal["changed", "context", "denied", "asked", "allowed", "late", "failed"]
    text: Words = ""


ExtensionEvent: TypeAlias = (
    ExtensionStarted | ExtensionEnded | ExtensionRefused | ExtensionSaid | ExtensionHooked
)
