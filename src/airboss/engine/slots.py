"""How many agents of jobs work at once. Who waited first goes first.

Where all machines together have a bound, too, whoever counts those hands the slots out.
"""

import asyncio
import heapq
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from airboss.harness.turn import CalledAway
from airboss.model.run_events import ON_ALL_MACHINES

# Its turn comes with a slot, or without one.
_Waiter: TypeAlias = "tuple[str, int, asyncio.Future[bool], Callable[[], None]]"


@dataclass
class SlotPlace:
    """One slot for one worker, who may give it back for a while. Leaving it gives it back."""

    slots: "Slots"
    key: str
    on_wait: Callable[[], None]
    _is_taken: bool = False
    # Of several who ask at once the first waits for the slot, and has it for all.
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _returns: int = 0

    async def take(self) -> bool:
        """No: it was given back meanwhile."""
        returns = self._returns
        async with self._taking:
            if self._is_taken or self._returns != returns:
                return self._is_taken
            took = await self.slots.take(self.key, self.on_wait)
            if took and self._returns != returns:
                self.slots.give_back(self.key)
            else:
                self._is_taken = took
            return self._is_taken

    def give_back(self) -> None:
        """Also for those who wait for it: they go on without."""
        self._returns += 1
        if self._is_taken:
            self._is_taken = False
            self.slots.give_back(self.key)
        elif self._taking.locked():
            self.slots.withdraw(self.key)

    def __enter__(self) -> "SlotPlace":
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


@dataclass
class Slots:
    """`key` says who waited first; it sorts by time, and stays the same after a restart."""

    count: int
    # So many on all machines of a database, where there is a bound.
    overall: int | None = None
    # Told of each change where somebody counts those of all machines, and then hands them out.
    on_change: Callable[[], None] | None = None
    _taken: int = 0
    _keys: set[str] = field(default_factory=set[str])
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

    async def take(self, key: str, on_wait: Callable[[], None]) -> bool:
        """No: it was withdrawn while it waited."""
        if self._is_shut or self._taken >= self.count or self._are_counted:
            return await self._wait(key, on_wait)
        self._begin(key)
        return True

    def _begin(self, key: str) -> None:
        self._taken += 1
        self._keys.add(key)

    def give_back(self, key: str) -> None:
        self._taken -= 1
        self._keys.discard(key)
        self._hand_out()
        if not self._taken:
            self._emptied.set()

    async def until_empty(self) -> None:
        """Until nobody has one."""
        self._emptied.clear()
        if self._taken:
            await self._emptied.wait()

    def resize(self, count: int, overall: int | None = None) -> None:
        """From now on so many. Who works already goes on where there are fewer."""
        was_counted = self._are_counted
        self.count, self.overall = count, overall
        self._hand_out()
        if was_counted and not self._are_counted:
            self._tell()

    def call_away(self, key: str) -> None:
        """Who waits with this key waits no longer."""
        for waiting, _, turn, _ in self._waiting:
            if waiting == key and not turn.done():
                turn.set_exception(CalledAway())
        self._tell()

    def withdraw(self, key: str) -> None:
        """Who waits with this key goes on without a slot."""
        for waiting, _, turn, _ in self._waiting:
            if waiting == key and not turn.done():
                turn.set_result(False)
        self._leave_out_done()
        self._tell()

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
        soon = self.next_keys()
        for key, _, turn, on_wait in self._waiting:
            if not turn.done() and key not in soon:
                on_wait()

    # Where all machines are counted.

    @property
    def _are_counted(self) -> bool:
        return self.overall is not None and self.on_change is not None

    @property
    def why_full(self) -> str:
        """What whoever waits for one is told."""
        if self._are_counted and self._taken < self.count:
            most = self.overall
            return f"{most} of {most} agents of jobs are at work {ON_ALL_MACHINES}"
        return f"{self.count} of {self.count} agents of jobs are at work"

    @property
    def keys(self) -> frozenset[str]:
        """Of those that are taken."""
        return frozenset(self._keys)

    def next_keys(self) -> list[str]:
        """Of those who wait, and for whom this machine has room."""
        if self._is_shut or not self._are_counted:
            return []
        waiting = sorted(one[:2] for one in self._waiting if not one[2].done())
        return [key for key, _ in waiting[: max(0, self.count - self._taken)]]

    def hand_out(self, keys: Collection[str], asked: Collection[str]) -> None:
        """To these, of those who were asked for; the others are told that they wait."""
        for key, _, turn, on_wait in sorted(self._waiting, key=lambda one: one[:2]):
            if turn.done() or key not in asked:
                continue
            if key in keys and not self._is_shut and self._taken < self.count:
                self._begin(key)
                turn.set_result(True)
            else:
                on_wait()
        self._leave_out_done()

    def _leave_out_done(self) -> None:
        self._waiting = [one for one in self._waiting if not one[2].done()]
        heapq.heapify(self._waiting)

    def _tell(self) -> None:
        if self.on_change is not None:
            self.on_change()

    async def _wait(self, key: str, on_wait: Callable[[], None]) -> bool:
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked += 1
        heapq.heappush(self._waiting, (key, self._asked, turn, on_wait))
        self._tell()
        # Held, nearly all go on in a moment; who does not is told then.
        if not self._held and key not in self.next_keys():
            on_wait()
        try:
            return await turn
        except asyncio.CancelledError:
            is_over = turn.done() and not turn.cancelled() and turn.exception() is None
            if is_over and turn.result():  # a moment too late
                self._taken -= 1
                self._keys.discard(key)
                self._hand_out()
            self._tell()
            raise

    def _hand_out(self) -> None:
        if self._are_counted:
            self._tell()
            return
        while self._waiting and not self._is_shut and self._taken < self.count:
            key, _, turn, _ = heapq.heappop(self._waiting)
            if not turn.done():
                self._begin(key)
                turn.set_result(True)
