"""Leaves out what the runtime says twice.

When a model writes faster than the runtime can pass it on, the runtime sends a part of the message
again: thousands of pieces, mixed with new ones, some even after the turn has ended. Each has the id
that it had the first time. Passed on, they would put the same text there twice.
"""

from array import array
from collections.abc import Mapping
from typing import Any, Final

from airboss.runtime.sdk_wire import Listener

# Eight bytes each. It is more than anybody has seen repeated, and 8 MB at most.
_MOST_KEPT: Final = 500_000


class EventIds:
    """Those of the last two steps of an agent, eight bytes each. Only what is older than something
    that was heard before can be a repetition: until that happens nothing is looked up."""

    def __init__(self) -> None:
        self._latest = ""
        # Of the latest millisecond.
        self._fresh: set[int] = set()
        self._kept = array("q")
        self._before = array("q")
        self._known: set[int] | None = None

    def is_new(self, raw: Mapping[str, Any]) -> bool:
        """Once for each."""
        name, time = raw.get("id"), raw.get("timestamp")
        if not isinstance(name, str) or not isinstance(time, str):
            return True
        mark = hash(name)
        if self._is_repeated(mark, time):
            return False
        self._keep(mark)
        if raw.get("type") == "assistant.turn_start":
            self._begin_step()
        return True

    def _is_repeated(self, mark: int, time: str) -> bool:
        if time > self._latest:
            self._latest = time
            self._fresh.clear()
        elif time < self._latest:
            if self._known is None:
                self._known = {*self._before, *self._kept}
            return mark in self._known
        elif mark in self._fresh:
            return True
        self._fresh.add(mark)
        return False

    def _keep(self, mark: int) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._begin_step()
        self._kept.append(mark)
        if self._known is not None:
            self._known.add(mark)

    def _begin_step(self) -> None:
        self._before, self._kept, self._known = self._kept, array("q"), None


def without_repeats(hear: Listener) -> Listener:
    ids = EventIds()

    def hear_once(raw: Mapping[str, Any]) -> None:
        if ids.is_new(raw):
            hear(raw)

    return hear_once
