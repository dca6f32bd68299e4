"""What a person's session had asked when it was cut off: items that still wait for a person, and
decisions that the agent has not heard. With either, its turn goes on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.harness.earlier_decisions import events_of
from airboss.harness.item_lines import is_asked_again
from airboss.log.log import EventLog
from airboss.model.events import (
    Event,
    PermissionDecided,
    PromptAccepted,
    PromptChanged,
    Recorded,
    SessionInterrupted,
    SessionReady,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from airboss.model.ids import ItemId, PromptId
from airboss.model.inbox_events import (
    ASKED_KINDS,
    ApprovalAsked,
    Asked,
    AskedOfPerson,
    InboxItem,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
)
from airboss.model.prompt_queue import QueuedPrompt, queued_of
from airboss.model.views import SessionView

_KINDS: Final = (
    *(*ASKED_KINDS, "item.settled", "permission.decided"),
    *("prompt.accepted", "prompt.changed", "turn.started", "turn.ended"),
    *("session.interrupted", "session.ready"),
)
_GOES_ON: Final = frozenset({"go-on", "signed-in", "declined"})
_BY_PEOPLE: Final = frozenset({"person", "nobody"})


@dataclass(frozen=True)
class UnansweredItems:
    """`decided` is what the agent is told when it asks again; that nobody came in time is no reason
    to resume it. Of the request `held` nothing was sent to the agent yet: a limit was reached,
    or a server wanted a sign-in."""

    waiting: tuple[InboxItem, ...] = ()
    decided: tuple[tuple[Asked, ItemSettled], ...] = ()
    held: QueuedPrompt | None = None

    def __bool__(self) -> bool:
        return bool(self.waiting) or self.who is not None

    @property
    def who(self) -> str | None:
        """Whoever decided last."""
        return next((settled.who for _, settled in reversed(self.decided) if settled.who), None)

    @property
    def prompt(self) -> PromptId | None:
        """The request whose turn was cut off."""
        asked = [*(item.asked for item in self.waiting), *(asked for asked, _ in self.decided)]
        return next((one.prompt for one in asked), None)


NOTHING_PENDING: Final = UnansweredItems()


def resumes(asked: Asked, settled: ItemSettled) -> bool:
    """Whether the session goes on with this word of a person. Where they said no before anything
    was sent to the agent, there is nothing to go on with; without a server it goes on."""
    return settled.who is not None and not (_is_held(asked) and settled.outcome == "deny")


async def unanswered_items_of(log: EventLog, view: SessionView) -> UnansweredItems:
    if view.task is not None or view.state == "closed":
        return NOTHING_PENDING
    story = _Story()
    async for recorded in events_of(log, view.id, _KINDS):
        story.hear(recorded)
    if story.answered_at:
        async for recorded in events_of(log, view.id, ("tool.ended",), min(story.answered_at)):
            story.end_tool(recorded.event)
    waiting = [item for item in view.items if story.is_asked_again(item.asked)]
    decided = [(asked, settled) for asked, settled, _ in story.decided.values()]
    let_go = (asked for asked, settled in decided if settled.outcome in _GOES_ON)
    held = [asked for asked in (*(item.asked for item in waiting), *let_go) if _is_held(asked)]
    request = next((story.prompts[one.prompt] for one in held if one.prompt), None)
    return UnansweredItems(tuple(waiting), tuple(decided), request)


@dataclass
class _Story:
    """What was asked in a session and what became of it, event by event."""

    prompts: dict[PromptId, QueuedPrompt] = field(default_factory=dict[PromptId, QueuedPrompt])
    asked: dict[ItemId, Asked] = field(default_factory=dict[ItemId, Asked])
    # What the agent was not told yet, with the seq of the decision.
    decided: dict[ItemId, tuple[Asked, ItemSettled, int]] = field(
        default_factory=dict[ItemId, tuple[Asked, ItemSettled, int]]
    )
    is_cut: bool = False

    def hear(self, recorded: Recorded) -> None:
        match event := recorded.event:
            case PromptAccepted():
                self.prompts[event.prompt] = queued_of(event)
            case PromptChanged() if known := self.prompts.get(event.prompt):
                changed = known.model_copy(update={"text": event.text})
                self.prompts[event.prompt] = changed
            case AskedOfPerson():
                self.asked[event.item] = event
            case ItemSettled():
                self._settle(event, recorded.seq)
            case PermissionDecided():
                self._permit(event)
            case TurnStarted():
                self._drop(lambda asked: _is_held(asked) and asked.prompt == event.prompt)
            case TurnEnded() if event.outcome != "interrupted":
                self.decided.clear()
            case SessionInterrupted() | SessionReady():
                self.is_cut = isinstance(event, SessionInterrupted)
            case _:
                pass

    def is_asked_again(self, asked: Asked) -> bool:
        """A request of a task has ended with that, and what was asked for it."""
        request = self.prompts.get(asked.prompt) if asked.prompt else None
        return is_asked_again(asked) and (request is None or request.task is None)

    def _settle(self, settled: ItemSettled, seq: int) -> None:
        asked = self.asked.pop(settled.item, None)
        if asked is None or settled.outcome == "cancelled" or not self.is_asked_again(asked):
            return
        # Of these it is not known how far the turn went on; it did not while it was cut off.
        if self.is_cut or not isinstance(asked, LimitReached | SignInAsked):
            self.decided[settled.item] = asked, settled, seq

    def _permit(self, event: PermissionDecided) -> None:
        """The agent is told now. The runtime may have given the request another name since."""
        self._drop(lambda asked: isinstance(asked, LimitReached | SignInAsked))
        if event.by.split()[0] not in _BY_PEOPLE:
            return
        approvals = [
            asked
            for asked, _, _ in self.decided.values()
            if isinstance(asked, ApprovalAsked) and asked.wish == event.wish
        ]
        named = (asked for asked in approvals if asked.request == event.request)
        if said := next(named, approvals[0] if approvals else None):
            self._drop(lambda asked: asked is said)

    @property
    def answered_at(self) -> list[int]:
        told = (QuestionAsked, PlanAsked)
        return [seq for asked, _, seq in self.decided.values() if isinstance(asked, told)]

    def end_tool(self, event: Event) -> None:
        if isinstance(event, ToolEnded) and not event.cut:
            self._drop(
                lambda asked: (
                    isinstance(asked, QuestionAsked | PlanAsked) and asked.call == event.block
                )
            )

    def _drop(self, is_told: Callable[[Asked], bool]) -> None:
        self.decided = {item: said for item, said in self.decided.items() if not is_told(said[0])}


def _is_held(asked: Asked) -> bool:
    return isinstance(asked, SignInAsked) or (isinstance(asked, LimitReached) and asked.before_turn)
