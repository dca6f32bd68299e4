"""How many agents of jobs work at once. Who waited first goes first."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

_Waiter: TypeAlias = "tuple[str, int, asyncio.Future[None], Callable[[], None]]"


class CalledAway(Exception):
    """Raised where somebody waited for a slot who is not to work any more."""


@dataclass
class SlotPlace:
    """One slot for one worker, who may give it back for a while. Leaving it gives it back."""

    slots: "Slots"
    key: str
    on_wait: Callable[[], None]
    _is_taken: bool = False

    async def take(self) -> None:
        if not self._is_taken:
            await self.slots.take(self.key, self.on_wait)
            self._is_taken = True

    def give_back(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self.slots.give_back()

    def __enter__(self) -> "SlotPlace":
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


@dataclass
class Slots:
    """`key` says who waited first; it sorts by time, and stays the same after a restart."""

    count: int
    _taken: int = 0
    _waiting: list[_Waiter] = field(default_factory=list[_Waiter])
    _asked: int = 0
    # While the works of an earlier server come back, all wait: the last to come may be first.
    _held: bool = False
    # Whoever is at work goes on; nobody else begins.
    _is_closed: bool = False
    _emptied: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def taken_count(self) -> int:
        return self._taken

    def place(self, key: str, on_wait: Callable[[], None]) -> "SlotPlace":
        """A place for one, not taken yet. `on_wait` hears when it has to wait."""
        return SlotPlace(self, key, on_wait)

    async def take(self, key: str, on_wait: Callable[[], None]) -> None:
        if self._is_shut or self._taken >= self.count:
            await self._wait(key, on_wait)
        else:
            self._taken += 1

    def give_back(self) -> None:
        self._taken -= 1
        self._hand_out()
        if not self._taken:
            self._emptied.set()

    async def until_empty(self) -> None:
        """Until nobody has one."""
        self._emptied.clear()
        if self._taken:
            await self._emptied.wait()

    def resize(self, count: int) -> None:
        """From now on so many. Who works already goes on where there are fewer."""
        self.count = count
        self._hand_out()

    def call_away(self, key: str) -> None:
        """Who waits with this key waits no longer."""
        for waiting, _, turn, _ in self._waiting:
            if waiting == key and not turn.done():
                turn.set_exception(CalledAway())

    def close(self, *, is_closed: bool = True) -> None:
        """Nobody begins any more, until it is open again."""
        self._is_closed = is_closed
        self._hand_out()

    @property
    def _is_shut(self) -> bool:
        return self._held or self._is_closed

    def hold(self) -> None:
        self._held = True

    def let_go(self) -> None:
        self._held = False
        self._hand_out()
        for *_, turn, on_wait in self._waiting:
            if not turn.done():
                on_wait()

    async def _wait(self, key: str, on_wait: Callable[[], None]) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._asked += 1
        heapq.heappush(self._waiting, (key, self._asked, turn, on_wait))
        # Held, nearly all go on in a moment; who does not is told then.
        if not self._held:
            on_wait()
        try:
            await turn
        except asyncio.CancelledError:
            is_ours = turn.done() and not turn.cancelled() and turn.exception() is None
            if is_ours:  # a moment too late
                self._taken -= 1
                self._hand_out()
            raise

    def _hand_out(self) -> None:
        while self._waiting and not self._is_shut and self._taken < self.count:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
