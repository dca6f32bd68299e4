"""The requests that wait for their turn, in the order in which they will be worked on."""

import asyncio
from collections.abc import Iterable, Iterator

from airboss.harness.turn import Request
from airboss.model.ids import PromptId
from airboss.model.views import QueuedPrompt


class RequestQueue:
    """What was asked for and not begun. What is not on disk yet has its place, and is not taken."""

    def __init__(self, queued: Iterable[QueuedPrompt] = ()) -> None:
        self._requests: dict[PromptId, Request] = {}
        self._ready: set[PromptId] = set()
        self._stirred = asyncio.Event()
        for one in queued:
            self.add(one.prompt, Request(one.text, one.task))
            self.allow(one.prompt)

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, prompt: PromptId) -> bool:
        return prompt in self._requests

    def __iter__(self) -> Iterator[PromptId]:
        return iter(list(self._requests))

    def items(self) -> list[tuple[PromptId, Request]]:
        return list(self._requests.items())

    def add(self, prompt: PromptId, request: Request) -> None:
        self._requests[prompt] = request

    def allow(self, prompt: PromptId) -> None:
        """From now on it may be taken."""
        if prompt in self._requests:
            self._ready.add(prompt)
            self._stirred.set()

    def take(self, prompt: PromptId) -> Request | None:
        """Out of the queue; None where it was taken before."""
        self._ready.discard(prompt)
        return self._requests.pop(prompt, None)

    @property
    def first(self) -> PromptId | None:
        """The one that comes next, of those that may be taken."""
        return next((prompt for prompt in self._requests if prompt in self._ready), None)

    async def some(self) -> None:
        """Until there is one that may be taken."""
        while self.first is None:
            self._stirred.clear()
            await self._stirred.wait()
