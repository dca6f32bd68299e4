"""What becomes of a session's requests until the agent has them: accepted, changed, moved, dropped,
put into the running turn; each with its word in the log."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from airboss.errors import AirbossError, Conflict, Invalid, StoreUnavailable
from airboss.harness.hook_facts import ACTING_ROLE, built_prompt, written_prompt
from airboss.harness.session_state import SessionState
from airboss.harness.turn import (
    AcceptedPrompt,
    Failure,
    Pause,
    Receipt,
    Request,
    Turn,
    TurnReport,
    within,
)
from airboss.log.doubt import once_known
from airboss.model.events import (
    Overtaking,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptImage,
    PromptMoved,
)
from airboss.model.ids import PromptId, TaskRunId
from airboss.model.prompt_events import PromptSelection, TurnMode
from airboss.model.redaction import MASK
from airboss.model.traces import asked_in
from airboss.model.views import QueuedPrompt
from airboss.runtime.attachments import attachments_of
from airboss.store.images import Images, Picture, Pictures

# What becomes of a request while the agent works.
Delivery: TypeAlias = Literal["queue", "steer", "interrupt", "refuse"]

_WITHDRAWN = "It was withdrawn."
_PUT_SECONDS = 5.0
_READ_SECONDS = 0.5
_OF_A_TASK = "This message belongs to a task. To remove it, stop the task."
_ON_ITS_WAY = "The message is already being added to the running turn."
_DELIVERED = "This message is no longer queued: it was delivered to the agent, or removed."


@dataclass(frozen=True)
class Extras:
    """What a request has beside its words."""

    pictures: Pictures = ()
    mode: TurnMode | None = None
    files: tuple[str, ...] = ()
    selection: PromptSelection | None = None


NOTHING_MORE: Final = Extras()


@dataclass
class _Way:
    """Of a request into the running turn: whether the runtime has it, and whether it was read."""

    is_put: bool = False
    read: asyncio.Event = field(default_factory=asyncio.Event)


class Prompts:
    """The requests of one session that wait. Work on one of them goes one after another."""

    def __init__(self, state: SessionState, images: Images | None = None) -> None:
        self._state = state
        self._images = images
        self._changing = asyncio.Lock()
        # Put into the running turn, and not read yet.
        self._in_turn: dict[PromptId, _Way] = {}

    def _clean(self, text: str) -> tuple[str, int]:
        """Without its secrets, and how many there were."""
        clean = self._state.redactor.text(text)
        return clean, clean.count(MASK) - text.count(MASK)

    async def accept(
        self,
        text: str,
        who: str,
        task: TaskRunId | None,
        prompt: PromptId,
        delivery: Overtaking | None = None,
        pause: Pause | None = None,
        more: Extras = NOTHING_MORE,
    ) -> AcceptedPrompt:
        """On disk, and held until it is let go."""
        if task is None:
            text = await written_prompt(self._state.hooks, text, who)
        images = await self._save(prompt, more.pictures) if more.pictures else None
        clean, redacted = self._clean(text)
        event = PromptAccepted(
            prompt=prompt,
            text=clean,
            who=who,
            redacted=redacted,
            task=task,
            delivery=delivery,
            images=images,
            mode=more.mode,
            files=more.files or None,
            selection=more.selection and self._clean_selection(more.selection),
        )
        request = Request(task, pause, who=who, role=ACTING_ROLE.get(), trace=asked_in())
        self._state.queue.add(prompt, request)
        try:
            seq = (await self._state.writer.commit(event)).seq
        except StoreUnavailable as error:
            once_known(error, partial(self._end_doubt, prompt, task))
            raise
        except BaseException as error:
            self._state.queue.take(prompt)
            if not isinstance(error, AirbossError) and not self._state.is_over:
                # It may be on disk, or will be: a resumed session is not to work on it.
                self._state.writer.say(PromptDropped(prompt=prompt, reason=_WITHDRAWN))
            raise
        return AcceptedPrompt(Receipt(prompt, seq, redacted), request.answer)

    def _end_doubt(self, prompt: PromptId, task: TaskRunId | None, is_written: bool) -> None:
        """Whoever asked was refused. What people see in the queue all the same is worked on; a task
        asks again."""
        if not is_written:
            self._state.queue.take(prompt)
        elif task is None:
            self._state.queue.let_go(prompt)
        else:
            self.withdraw(prompt)

    def _clean_selection(self, marked: PromptSelection) -> PromptSelection:
        return marked.model_copy(update={"text": self._state.redactor.text(marked.text)})

    async def _save(self, prompt: PromptId, pictures: Pictures) -> tuple[PromptImage, ...] | None:
        """On disk before the request is: one that names them has them."""
        if self._images is None:
            return None
        names = await self._images.save(self._state.session, prompt, pictures)
        return tuple(
            PromptImage(id=name, mime=picture.mime, bytes=len(picture.data))
            for name, picture in zip(names, pictures, strict=True)
        )

    async def attachments_of(self, asked: QueuedPrompt) -> list[Any] | None:
        """All that it has beside its words, as the runtime takes it. Most have nothing."""
        if not (asked.images or asked.files or asked.selection):
            return None
        pictures: list[Picture] = []
        if self._images is not None and asked.images:
            pictures = await self._images.of(self._state.session, asked.prompt)
        return await asyncio.to_thread(attachments_of, asked, pictures)

    async def steer(self, prompt: PromptId, turn: Turn) -> None:
        """Into `turn`, while that runs. What the agent has not read by its end comes next."""
        # Before the runtime has the turn's own request, this one would become a turn of its own.
        await within(_PUT_SECONDS, turn.put)
        agent, queued = self._state.agent, self._state.queue.find(prompt)
        if agent and queued and turn.put.is_set() and not turn.over.is_set():
            way = self._in_turn[prompt] = _Way()
            try:
                more = await self.attachments_of(queued)
                count = len(queued.images or ())
                text = await built_prompt(self._state.hooks, queued.text, count, turn.over)
                if text is None or turn.over.is_set():
                    self._in_turn.pop(prompt, None)
                else:
                    await agent.steer(prompt, text, more)
                    way.is_put = True
            except AirbossError:  # it is on disk, and waits for a turn of its own
                self._in_turn.pop(prompt, None)
        if turn.over.is_set() or prompt not in self._in_turn:
            self._state.queue.let_go(prompt)

    def turn_ended(self) -> None:
        """What the agent has not read waits for a turn of its own."""
        for prompt, way in self._in_turn.items():
            if way.is_put:
                self._state.queue.let_go(prompt)

    def read(self, prompt: PromptId) -> Request | None:
        """The agent has read what was put into its turn."""
        if way := self._in_turn.pop(prompt, None):
            way.read.set()
        return self._state.queue.take(prompt)

    async def settled(self) -> None:
        """Behind a turn: the first of those that wait may have come too late for it, and the
        runtime then begins a turn with it by itself. Taken back meanwhile, that would be cut."""
        if (prompt := self._state.queue.first) and (way := self._in_turn.get(prompt)):
            await within(_READ_SECONDS, way.read)

    async def take_back(self, prompt: PromptId) -> None:
        """Out of the running turn, unless the agent reads it in this very moment."""
        way, queued = self._in_turn.get(prompt), self._state.queue.find(prompt)
        agent = self._state.agent
        if agent and way and way.is_put and queued:
            await agent.take_back(prompt, queued.text)
            self._in_turn.pop(prompt, None)

    # What a person may do.

    async def change(
        self, prompt: PromptId, text: str | None, position: int | None, who: str
    ) -> None:
        """What it says, or its place."""
        if text is not None and not text.strip():
            raise Invalid("The message must not be empty.")
        async with self._changing:
            was_in_turn = await self._hold(prompt, is_moved=position is not None)
            again = self._state.turn if was_in_turn else None
            try:
                if text is not None:
                    text = await written_prompt(self._state.hooks, text, who)
                    clean, redacted = self._clean(text)
                    event = PromptChanged(prompt=prompt, text=clean, who=who, redacted=redacted)
                    await self._state.writer.commit(event)
                if position is not None:
                    await self._move(prompt, position, who)
            except BaseException:
                self._state.queue.let_go(prompt)
                raise
            if again:
                await self.steer(prompt, again)
            else:
                self._state.queue.let_go(prompt)

    async def _move(self, prompt: PromptId, position: int, who: str) -> None:
        others = [other for other in self._state.queue if other != prompt]
        before = others[position] if position < len(others) else None
        await self._state.writer.commit(PromptMoved(prompt=prompt, before=before, who=who))

    async def drop(self, prompt: PromptId, who: str) -> None:
        async with self._changing:
            await self._hold(prompt)
            await self._drop(prompt, who)

    async def clear(self, who: str) -> None:
        """All that people asked for; what tasks asked for stays."""
        async with self._changing:
            for prompt, request in self._state.queue.items():
                if request.task is None and prompt in self._state.queue:
                    await self._hold(prompt)
                    await self._drop(prompt, who)

    async def _drop(self, prompt: PromptId, who: str) -> None:
        reason = f"Removed from the queue by {who}."
        try:
            await self._state.writer.commit(PromptDropped(prompt=prompt, reason=reason))
        except AirbossError:
            self._state.queue.let_go(prompt)
            raise
        self._state.queue.take(prompt)

    async def _hold(self, prompt: PromptId, *, is_moved: bool = False) -> bool:
        """Nobody else takes it until it is let go. Whether it was on its way into a turn."""
        if self._waiting(prompt).task is not None:
            raise Conflict(_OF_A_TASK)
        was_in_turn = prompt in self._in_turn
        if was_in_turn and (is_moved or not self._in_turn[prompt].is_put):
            raise Conflict(_ON_ITS_WAY)
        self._state.queue.hold(prompt)
        await self.take_back(prompt)
        self._waiting(prompt)
        return was_in_turn

    def _waiting(self, prompt: PromptId) -> QueuedPrompt:
        if (queued := self._state.queue.find(prompt)) is None:
            raise Conflict(_DELIVERED)
        return queued

    # What its end does to them.

    def withdraw(self, prompt: PromptId) -> bool:
        """By whoever asked; whether it was still here."""
        request = self._state.queue.take(prompt)
        if request is not None:
            self._state.writer.say(PromptDropped(prompt=prompt, reason=_WITHDRAWN))
            request.settle(TurnReport("dropped", Failure("Withdrawn", _WITHDRAWN)))
        return request is not None

    def settle(self, said: TurnReport) -> None:
        """The session ended before it came to them. A task has its answer by that; only what a
        person asked for waits for a resume."""
        for prompt, request in self._state.queue.items():
            request.settle(said)
            if request.task and said.error:
                self._state.queue.take(prompt)
                self._state.writer.say(PromptDropped(prompt=prompt, reason=said.error.message))
