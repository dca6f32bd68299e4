"""One reader of a stream, from any place in it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from airboss.log.stream import LiveStream
from airboss.model.events import Recorded
from airboss.model.views import View

# Of a stream, behind a seq: what comes within so many seconds, but no more than so much.
NextOf = Callable[[LiveStream, int, float, int], Awaitable[list[Recorded]]]
# What a follower is given at a time.
PAGE = 500


@dataclass
class Follower:
    """One reader's place in a stream."""

    _next_of: NextOf
    _stream: LiveStream
    seq: int

    async def next(self, wait: float) -> list[Recorded]:
        """What came since, or nothing after `wait` seconds or when the log closes."""
        found = await self._next_of(self._stream, self.seq, wait, PAGE)
        if found:
            self.seq = found[-1].seq
        return found

    async def wait(self, seconds: float) -> None:
        """Until `next` has something to give, or nothing after so long or when the log closes."""
        await self._next_of(self._stream, self.seq, seconds, 1)

    @property
    def view(self) -> View | None:
        return self._stream.view

    @property
    def head(self) -> int:
        return self._stream.head

    @property
    def is_forgotten(self) -> bool:
        return self._stream.is_forgotten
