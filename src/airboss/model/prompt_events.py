"""What becomes of a request to a session until the agent has it."""

from typing import Literal, TypeAlias

from airboss.model.ids import PromptId, TaskRunId, TurnId
from airboss.model.words import Frozen, Words

# How a request is to overtake those that wait: into the running turn, or instead of it.
Overtaking: TypeAlias = Literal["steer", "interrupt"]
TurnMode: TypeAlias = Literal["plan"]


class PromptImage(Frozen):
    """An image that belongs to a request; the session's images have it by this id."""

    id: Words
    mime: Words
    bytes: int


class PromptSelection(Frozen):
    """A part of a file, with its text as it was when the request was made."""

    path: Words
    text: Words
    # Counted from 1, both of them part of it.
    first_line: int | None = None
    last_line: int | None = None


class PromptAccepted(Frozen):
    """A request of a person is on disk, behind those that were accepted before it; one that
    steers or interrupts goes before them."""

    kind: Literal["prompt.accepted"] = "prompt.accepted"
    prompt: PromptId
    text: Words
    who: Words
    redacted: int = 0
    # The task run that made the request, where no person did.
    task: TaskRunId | None = None
    # Meant for the running turn, or instead of it.
    delivery: Overtaking | None = None
    images: tuple[PromptImage, ...] | None = None
    # The agent is to make a plan first.
    mode: TurnMode | None = None
    # Real paths of files and folders that the agent is pointed to.
    files: tuple[Words, ...] | None = None
    # What somebody had marked when they asked.
    selection: PromptSelection | None = None


class PromptChanged(Frozen):
    """A request that waits says something else now."""

    kind: Literal["prompt.changed"] = "prompt.changed"
    prompt: PromptId
    text: Words
    who: Words
    redacted: int = 0


class PromptMoved(Frozen):
    """A request that waits comes right before another one now, or last."""

    kind: Literal["prompt.moved"] = "prompt.moved"
    prompt: PromptId
    before: PromptId | None = None
    who: Words


class PromptSteered(Frozen):
    """The agent has read the request in the middle of a turn; it gets none of its own."""

    kind: Literal["prompt.steered"] = "prompt.steered"
    prompt: PromptId
    turn: TurnId


class PromptDropped(Frozen):
    """An accepted request that will not be worked on."""

    kind: Literal["prompt.dropped"] = "prompt.dropped"
    prompt: PromptId
    reason: Words


PromptEvent: TypeAlias = (
    PromptAccepted | PromptChanged | PromptMoved | PromptSteered | PromptDropped
)
