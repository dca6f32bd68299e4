"""The requests that wait for their turn, in the order in which they will be worked on."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace

from airboss.harness.turn import Request
from airboss.model.events import Overtaking
from airboss.model.ids import PromptId
from airboss.model.views import QueuedPrompt, place


class RequestQueue:
    """What was asked for and not begun. What is held has its place, and is not taken: it is not on
    disk yet, is being changed, or is on its way into the running turn."""

    def __init__(self, queued: Iterable[QueuedPrompt] = ()) -> None:
        self._requests = {
            one.prompt: Request(one.text, one.task, None, one.delivery) for one in queued
        }
        self._ready = set(self._requests)
        self._stirred = asyncio.Event()

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, prompt: PromptId) -> bool:
        return prompt in self._requests

    def __iter__(self) -> Iterator[PromptId]:
        return iter(list(self._requests))

    def __getitem__(self, prompt: PromptId) -> Request:
        return self._requests[prompt]

    def items(self) -> list[tuple[PromptId, Request]]:
        return list(self._requests.items())

    def add(self, prompt: PromptId, request: Request) -> None:
        """Held until it is let go."""
        waiting: list[Overtaking | None] = [other.delivery for other in self._requests.values()]
        self._insert(place(waiting, request.delivery), prompt, request)

    def hold(self, prompt: PromptId) -> None:
        self._ready.discard(prompt)

    def let_go(self, prompt: PromptId) -> None:
        """From now on it may be taken."""
        if prompt in self._requests:
            self._ready.add(prompt)
            self._stirred.set()

    def take(self, prompt: PromptId) -> Request | None:
        """Out of the queue; None where it was taken before."""
        self._ready.discard(prompt)
        return self._requests.pop(prompt, None)

    def change(self, prompt: PromptId, text: str) -> None:
        if request := self._requests.get(prompt):
            self._requests[prompt] = replace(request, text=text)

    def move(self, prompt: PromptId, before: PromptId | None) -> None:
        if request := self._requests.pop(prompt, None):
            names = list(self._requests)
            at = names.index(before) if before and before in names else len(names)
            self._insert(at, prompt, request)

    def _insert(self, at: int, prompt: PromptId, request: Request) -> None:
        items = list(self._requests.items())
        self._requests = dict([*items[:at], (prompt, request), *items[at:]])

    @property
    def first(self) -> PromptId | None:
        """The one that comes next, of those that may be taken."""
        return next((prompt for prompt in self._requests if prompt in self._ready), None)

    async def some(self) -> None:
        """Until there is one that may be taken."""
        while self.first is None:
            self._stirred.clear()
            await self._stirred.wait()
