"""The conversation that a session's events make: the fold behind what the pages show of it."""

from collections.abc import Iterator
from typing import TypeAlias

from airboss.model.blocks import (
    AskBlock,
    Block,
    NoteBlock,
    Permission,
    Settled,
    SubAgent,
    TextBlock,
    ToolBlock,
    tell_agent,
)
from airboss.model.events import (
    BlockDelta,
    BlockStarted,
    Event,
    MessageEnded,
    PermissionDecided,
    PromptSteered,
    ReasoningDelta,
    ReasoningEnded,
    ReasoningStarted,
    Recorded,
    SubAgentSaid,
    ToolDelta,
    ToolEnded,
    ToolStarted,
    TurnStarted,
    TurnUsage,
)
from airboss.model.gate_events import ToolVetoed
from airboss.model.ids import PromptId, SessionId
from airboss.model.inbox_events import Asked, AskedOfPerson, InboxItem, ItemSettled
from airboss.model.notes import note_of
from airboss.model.sub_agent_events import SkillInvoked, SubAgentEnded, SubAgentStarted
from airboss.model.views import SessionView, fold

_Ended: TypeAlias = ReasoningEnded | MessageEnded | ToolEnded


class FoldedConversation:
    """A session as of the last event that it was told: its view and its blocks."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.view: SessionView | None = None
        self.head = 0
        # Tokens of the last call of a model: how full its context is.
        self.context: int | None = None
        # All blocks; a tool's children are in here too.
        self.blocks: dict[str, Block] = {}
        # Those that stand by themselves.
        self.order: list[str] = []
        # The ids of blocks that were told something since somebody asked.
        self.touched: set[str] = set()
        # A provider may use a name again.
        self._renamed: dict[str, str] = {}

    def tell(self, recorded: Recorded) -> None:
        if recorded.seq <= self.head:
            return
        self.head = recorded.seq
        event = recorded.event
        self._tell_blocks(recorded, event)
        if isinstance(event, BlockDelta):
            return
        if isinstance(event, TurnUsage) and event.usage.requests:
            self.context = event.usage.input_tokens + event.usage.output_tokens
        view = fold(self.view, self.stream, recorded.seq, recorded.at, event)
        self.view = view if isinstance(view, SessionView) else None

    def standing(self) -> Iterator[Block]:
        return (self.blocks[name] for name in self.order)

    def _tell_blocks(self, recorded: Recorded, event: Event) -> None:
        """Before the event is in the view: the queue still has the request that is received."""
        match event:
            case BlockDelta():
                self._grow(recorded, event)
            case BlockStarted():
                self._begin(recorded, event)
            case ReasoningEnded() | MessageEnded() | ToolEnded():
                self._end(recorded, event)
            case TurnStarted():
                self._receive(recorded, event.prompt, steered=False)
            case PromptSteered():
                self._receive(recorded, event.prompt, steered=True)
            case AskedOfPerson():
                self._ask(recorded, event)
            case ItemSettled():
                self._settle(recorded.at, event)
            case ToolVetoed() | PermissionDecided() | SubAgentSaid():
                self._tell_call(recorded, event)
            case SubAgentStarted() | SubAgentEnded() | TurnUsage() | SkillInvoked() if event.parent:
                self._tell_agent(event.parent, event)
            case _:
                self._note(recorded, event)

    def _tell_call(
        self, recorded: Recorded, event: ToolVetoed | PermissionDecided | SubAgentSaid
    ) -> None:
        """What is said of a call beside its own beginning and end."""
        match event:
            case ToolVetoed():
                self._veto(recorded, event)
            case PermissionDecided():
                self._permit(recorded, event)
            case SubAgentSaid():
                self._say_below(recorded, event)

    def _add(self, block: Block) -> None:
        self.blocks[block.id] = block
        self.touched.add(block.id)
        if not isinstance(block, ToolBlock | TextBlock) or block.parent is None:
            self.order.append(block.id)

    def _receiver(self, name: str) -> TextBlock | ToolBlock | None:
        block = self.blocks.get(self._renamed.get(name, name))
        if not isinstance(block, TextBlock | ToolBlock):
            return None
        self.touched.add(block.id)
        return block

    def _fresh_id(self, name: str, recorded: Recorded) -> str:
        """One of the same name that is still open gets no end any more."""
        if name not in self.blocks:
            return name
        before = self._receiver(name)
        if before and before.receiving:
            before.receiving, before.cut = False, True
        self._renamed[name] = f"{name}@{recorded.seq}"
        return self._renamed[name]

    def _begin(self, recorded: Recorded, event: BlockStarted) -> None:
        name, seq, at = self._fresh_id(event.block, recorded), recorded.seq, recorded.at
        if not isinstance(event, ToolStarted):
            kind = "reasoning" if isinstance(event, ReasoningStarted) else "message"
            self._add(TextBlock(id=name, seq=seq, at=at, kind=kind))
            return
        caller = self._receiver(event.parent) if event.parent else None
        block = ToolBlock(id=name, seq=seq, at=at, name=event.name, arguments=event.arguments)
        if isinstance(caller, ToolBlock):
            caller.children.append(name)
            block.parent = caller.id
        self._add(block)

    def _say_below(self, recorded: Recorded, event: SubAgentSaid) -> None:
        """In its call. Where that is not known, only the tail of the stream was told."""
        caller = self._receiver(event.parent)
        if not isinstance(caller, ToolBlock):
            return
        name, seq, at = self._fresh_id(event.block, recorded), recorded.seq, recorded.at
        block = TextBlock(id=name, seq=seq, at=at, kind="message", parent=caller.id)
        block.text, block.received = event.text, len(event.text)
        block.receiving, block.ended_at = False, at
        caller.children.append(name)
        self._add(block)

    def _tell_agent(
        self, parent: str, event: SubAgentStarted | SubAgentEnded | TurnUsage | SkillInvoked
    ) -> None:
        """Of the agent that a call began. Where that is not known, only the tail was told."""
        caller = self._receiver(parent)
        if not isinstance(caller, ToolBlock):
            return
        if isinstance(event, SubAgentStarted):
            caller.agent = SubAgent(name=event.agent, model=event.model)
        elif caller.agent is not None:
            tell_agent(caller.agent, event)

    def _found(self, recorded: Recorded, event: BlockDelta | _Ended) -> TextBlock | ToolBlock:
        """Where the beginning is not known, only the tail of the stream was told."""
        known = self._receiver(event.block)
        if known:
            return known
        if isinstance(event, ToolDelta | ToolEnded):
            made = ToolBlock(id=event.block, seq=recorded.seq, at=recorded.at)
        else:
            is_reasoning = isinstance(event, ReasoningDelta | ReasoningEnded)
            kind = "reasoning" if is_reasoning else "message"
            made = TextBlock(id=event.block, seq=recorded.seq, at=recorded.at, kind=kind)
        self._add(made)
        return made

    def _grow(self, recorded: Recorded, event: BlockDelta) -> None:
        block = self._found(recorded, event)
        end = event.offset + len(event.text)
        if not block.receiving or end <= block.received:
            return
        piece = event.text[max(0, block.received - event.offset) :]
        if isinstance(block, ToolBlock):
            block.output += piece
        else:
            block.text += piece
        block.received = end

    def _end(self, recorded: Recorded, event: _Ended) -> None:
        block = self._found(recorded, event)
        block.receiving, block.cut, block.ended_at = False, event.cut, recorded.at
        block.received, block.left_out = len(event.text), event.left_out
        if isinstance(block, TextBlock):
            block.text = event.text
            return
        block.output = event.text
        if isinstance(event, ToolEnded):
            result = event.result
            block.result = result.content if result and result.content != event.text else None
            block.detail = result.detailed_content if result else None
            block.error = event.error.message if event.error else None

    def _receive(self, recorded: Recorded, prompt: PromptId | None, *, steered: bool) -> None:
        """A request stands where the agent got it; got again behind a resume, it stands there
        already."""
        waiting = self.view.queue if self.view else ()
        queued = next((one for one in waiting if one.prompt == prompt), None)
        if queued is None or queued.prompt in self.blocks:
            return
        title = "Task" if queued.task else "Steered" if steered else None
        self._add(
            TextBlock(
                id=queued.prompt,
                seq=recorded.seq,
                at=recorded.at,
                kind="user",
                title=title,
                text=queued.text,
                received=len(queued.text),
                receiving=False,
                ended_at=recorded.at,
                who=queued.who,
                images=queued.images,
            )
        )

    def _ask(self, recorded: Recorded, event: Asked) -> None:
        view = self.view
        item = InboxItem(
            id=event.item,
            session=SessionId(self.stream),
            asked=event,
            asked_at=recorded.at,
            task_run=view.task if view else None,
            run=view.run if view else None,
        )
        self._add(AskBlock(id=event.item, seq=recorded.seq, at=recorded.at, item=item))

    def _settle(self, at: int, event: ItemSettled) -> None:
        block = self.blocks.get(event.item)
        if isinstance(block, AskBlock):
            block.settled = Settled(
                at, event.outcome, event.who, event.answer, event.was_words, event.rule
            )
            self.touched.add(block.id)

    def _veto(self, recorded: Recorded, event: ToolVetoed) -> None:
        block = self._receiver(event.block) if event.block else None
        if isinstance(block, ToolBlock):
            block.vetoed = event.reason
        else:
            self._note(recorded, event)

    def _permit(self, recorded: Recorded, event: PermissionDecided) -> None:
        block = self._receiver(event.call) if event.call else None
        if isinstance(block, ToolBlock):
            block.permission = Permission(event.allowed, event.by, event.reason, event.rule)
        else:
            self._note(recorded, event)

    def _note(self, recorded: Recorded, event: Event) -> None:
        if note := note_of(event):
            tone, title, text = note
            name = f"note-{recorded.seq}"
            self._add(
                NoteBlock(
                    id=name, seq=recorded.seq, at=recorded.at, tone=tone, title=title, text=text
                )
            )
