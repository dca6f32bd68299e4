"""The requests that wait for their turn, in the order in which they will be worked on."""

import asyncio
from collections.abc import Iterator

from airboss.harness.turn import Request
from airboss.log.writer import Writer
from airboss.model.ids import PromptId
from airboss.model.views import QueuedPrompt, SessionView


class RequestQueue:
    """What was asked for and not begun, as the session's view has it: order and words are there and
    nowhere else, and only events change them.

    Kept here is what no event says: who waits for the answer, which requests are held, and which
    were taken a moment ago, because the view has those until the log has written that. What is held
    has its place, and is not taken: it is not on disk yet, is being changed, or is on its way into
    the running turn. `again` is a request whose turn began and of which nothing was sent: the view
    has it no more, it comes first, and nobody changes it.
    """

    def __init__(self, writer: Writer, again: QueuedPrompt | None = None) -> None:
        self._writer = writer
        self._again = again
        self._requests: dict[PromptId, Request] = {}
        self._taken: set[PromptId] = set()
        self._ready = {queued.prompt for queued in self._waiting()}
        self._stirred = asyncio.Event()

    def _waiting(self) -> list[QueuedPrompt]:
        view = self._writer.view
        shown = view.queue if isinstance(view, SessionView) else ()
        first = [self._again] if self._again else []
        return [queued for queued in (*first, *shown) if queued.prompt not in self._taken]

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, prompt: PromptId) -> bool:
        return self.find(prompt) is not None

    def __iter__(self) -> Iterator[PromptId]:
        return iter(list(self._all()))

    def items(self) -> list[tuple[PromptId, Request]]:
        return list(self._all().items())

    def _all(self) -> dict[PromptId, Request]:
        """Last those that are not on disk yet."""
        waiting = {queued.prompt: self._request(queued) for queued in self._waiting()}
        return waiting | self._requests

    def find(self, prompt: PromptId) -> QueuedPrompt | None:
        """As it waits, for who changes it or sends it on; nothing where it does so no more."""
        queued = self._find(prompt)
        return None if queued is self._again else queued

    def _find(self, prompt: PromptId) -> QueuedPrompt | None:
        return next((queued for queued in self._waiting() if queued.prompt == prompt), None)

    def _request(self, queued: QueuedPrompt) -> Request:
        return self._requests.get(queued.prompt) or Request(queued.task)

    def add(self, prompt: PromptId, request: Request) -> None:
        """Before it is written down. Held until it is let go."""
        self._requests[prompt] = request

    def hold(self, prompt: PromptId) -> None:
        self._ready.discard(prompt)

    def let_go(self, prompt: PromptId) -> None:
        """From now on it may be taken."""
        if self._find(prompt):
            self._ready.add(prompt)
            self._stirred.set()

    def text(self, prompt: PromptId) -> str:
        queued = self._find(prompt)
        return queued.text if queued else ""

    def take(self, prompt: PromptId) -> Request | None:
        """Out of the queue; None where it was taken before. Who takes it says so in the log."""
        if not self._writer.stream.is_busy:  # all is written, and in the view
            self._taken &= {self._again.prompt} if self._again else set()
        queued = self._find(prompt)
        request = self._request(queued) if queued else self._requests.get(prompt)
        self._requests.pop(prompt, None)
        self._ready.discard(prompt)
        self._taken.add(prompt)
        return request

    @property
    def first(self) -> PromptId | None:
        """The one that comes next, of those that may be taken."""
        names = (queued.prompt for queued in self._waiting())
        return next((prompt for prompt in names if prompt in self._ready), None)

    async def some(self) -> None:
        """Until there is one that may be taken."""
        while self.first is None:
            self._stirred.clear()
            await self._stirred.wait()
