"""The state of a stream as its events tell it one by one: what a page has of it, and its digest."""

from typing import Any, Protocol

from airboss.model.blocks import AskBlock, Block, NoteBlock, block_json
from airboss.model.conversation import FoldedConversation
from airboss.model.digest import digest
from airboss.model.events import BlockDelta, Event, Recorded
from airboss.model.inbox import InboxView
from airboss.model.runs import RunTeller, RunView, WorkRecord
from airboss.model.task_runs import TaskRunView, TaskTeller
from airboss.model.views import View, fold

# Of a text without an end, as many characters are there as deltas came: no two readers have the
# same at the same time.
_IN_PIECES = ("text", "output", "received")


class State(Protocol):
    """`head` is the seq of the last event that it was told."""

    head: int

    def tell(self, recorded: Recorded) -> None: ...

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        ...

    def digest(self) -> str: ...


class FoldedSession(FoldedConversation):
    """A session's view and conversation."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._digests: dict[str, str] = {}

    def plain(self) -> dict[str, Any]:
        blocks = [block_json(block) for block in self.blocks.values()]
        view = self.view and self.view.model_dump(mode="json")
        return {"view": view, "context": self.context, "order": self.order, "blocks": blocks}

    def digest(self) -> str:
        """That of each block is kept until something is told of it: a conversation is long."""
        for name in self.touched:
            self._digests[name] = digest(_whole(self.blocks[name]))
        self.touched.clear()
        blocks = [[name, self._digests[name]] for name in self.blocks]
        view = self.view and self.view.model_dump(mode="json")
        return digest(
            {"view": view, "context": self.context, "order": self.order, "blocks": blocks}
        )


def _whole(block: Block) -> dict[str, Any]:
    plain = block_json(block)
    if isinstance(block, AskBlock | NoteBlock):
        return plain
    left_out = _IN_PIECES if block.ended_at is None else ("received",)
    return {name: part for name, part in plain.items() if name not in left_out}


class _Viewed:
    """A stream that is known by its view, and what else its events tell."""

    def __init__(self, stream: str, view: View | None = None) -> None:
        """From its first event on, or from a view that was kept."""
        self.stream = stream
        self.head = view.seq if view else 0
        self.view = view

    def tell(self, recorded: Recorded) -> None:
        event = recorded.event
        if recorded.seq <= self.head or isinstance(event, BlockDelta):
            return
        self.head = recorded.seq
        self.view = fold(self.view, self.stream, recorded.seq, recorded.at, event)
        self._tell_more(recorded)

    def _tell_more(self, recorded: Recorded) -> None:
        pass

    def plain(self) -> dict[str, Any]:
        return self.view.model_dump(mode="json") if self.view else {}

    def digest(self) -> str:
        return digest(self.plain())


class FoldedRun(_Viewed):
    """A run with all its works."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._teller = RunTeller()

    def hear(self, seq: int, at: int, event: Event) -> list[WorkRecord]:
        """The works that this event changed. What was told before is passed over."""
        if seq <= self.head:
            return []
        self.head = seq
        self.view = fold(self.view, self.stream, seq, at, event)
        return self._teller.tell(at, event)

    def _tell_more(self, recorded: Recorded) -> None:
        self._teller.tell(recorded.at, recorded.event)

    def plain(self) -> dict[str, Any]:
        return {**super().plain(), **self._teller.story.model_dump(mode="json")}


class FoldedTask(_Viewed):
    """A task run with all that it did."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._teller = TaskTeller()

    def _tell_more(self, recorded: Recorded) -> None:
        self._teller.tell(recorded.at, recorded.event)

    def plain(self) -> dict[str, Any]:
        return {**super().plain(), **self._teller.story.model_dump(mode="json")}


class FoldedInbox(_Viewed):
    """What waits for a person; since when the list is kept is nobody's concern."""

    def plain(self) -> dict[str, Any]:
        return {"items": super().plain().get("items", [])}


STATES: dict[str, type[FoldedSession | FoldedRun | FoldedTask | FoldedInbox]] = {
    "session": FoldedSession,
    RunView.stream_kind: FoldedRun,
    TaskRunView.stream_kind: FoldedTask,
    InboxView.stream_kind: FoldedInbox,
}
