"""The requests of a session that wait for their turn, in order."""

from collections.abc import Sequence

from airboss.model.ids import PromptId, TaskRunId
from airboss.model.prompt_events import (
    Overtaking,
    PromptAccepted,
    PromptChanged,
    PromptImage,
    PromptMoved,
    PromptSelection,
    TurnMode,
)
from airboss.model.words import Frozen


class QueuedPrompt(Frozen):
    """A request that waits for its turn."""

    prompt: PromptId
    text: str
    # Where a task asks.
    task: TaskRunId | None = None
    who: str = ""
    delivery: Overtaking | None = None
    images: tuple[PromptImage, ...] | None = None
    mode: TurnMode | None = None
    files: tuple[str, ...] | None = None
    selection: PromptSelection | None = None


def queued_of(event: PromptAccepted) -> QueuedPrompt:
    kept = event.model_dump(exclude={"kind", "redacted"})
    return QueuedPrompt.model_validate(kept)


def without(queue: tuple[QueuedPrompt, ...], prompt: PromptId | None) -> tuple[QueuedPrompt, ...]:
    return tuple(queued for queued in queue if queued.prompt != prompt)


def place(waiting: Sequence[Overtaking | None], delivery: Overtaking | None) -> int:
    """Where a new request goes among those that wait: what interrupts comes first, what steers
    before all that does not."""
    match delivery:
        case None:
            return len(waiting)
        case "interrupt":
            return 0
        case "steer":
            return next((at for at, other in enumerate(waiting) if other is None), len(waiting))


def queue_with(queue: tuple[QueuedPrompt, ...], event: PromptAccepted) -> tuple[QueuedPrompt, ...]:
    queued = queued_of(event)
    at = place([other.delivery for other in queue], event.delivery)
    return (*queue[:at], queued, *queue[at:])


def queue_changed(
    queue: tuple[QueuedPrompt, ...], event: PromptChanged
) -> tuple[QueuedPrompt, ...]:
    return tuple(
        queued.model_copy(update={"text": event.text}) if queued.prompt == event.prompt else queued
        for queued in queue
    )


def queue_moved(queue: tuple[QueuedPrompt, ...], event: PromptMoved) -> tuple[QueuedPrompt, ...]:
    meant = tuple(queued for queued in queue if queued.prompt == event.prompt)
    others = without(queue, event.prompt)
    names = [queued.prompt for queued in others]
    at = names.index(event.before) if event.before and event.before in names else len(others)
    return (*others[:at], *meant, *others[at:])
