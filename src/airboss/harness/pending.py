"""Which call is which: the runtime's hooks do not name the calls that its events name.

A hook is told tool, arguments and agent; an event has the call's block. They come in any order.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from airboss.harness.loops import Call, Stint
from airboss.model.events import ToolStarted
from airboss.runtime.hooks import BARE, ToolUse

# Far more than are made at once: what nobody ever ended is forgotten behind these.
_MOST: Final = 256

One = TypeVar("One")


@dataclass(slots=True, eq=False)
class Open:
    """A call on its way. `final` is how it was let through."""

    use: ToolUse
    stint: Stint
    began: float = field(default_factory=time.time)
    block: str | None = None
    call: Call | None = None
    final: ToolUse | None = None


@dataclass(slots=True, eq=False)
class _Told:
    """A call that an event told of before a hook did. Secrets were taken out of its arguments."""

    block: str
    tool: str
    arguments: object


class Pending:
    """The calls of one session that are not over."""

    def __init__(self) -> None:
        self._open: deque[Open] = deque(maxlen=_MOST)
        self._told: deque[_Told] = deque(maxlen=_MOST)
        # Without a name so far.
        self._refused: deque[Open] = deque(maxlen=_MOST)

    def begin(self, use: ToolUse, stint: Stint) -> Open:
        for left in (self._open, self._refused):
            for going in [going for going in left if going.stint[0] != stint[0]]:
                left.remove(going)  # its turn is over: nobody says more of it
        going = Open(use, stint)
        told = _closest(self._told, lambda one, exactly: _is_same(one, use, exactly))
        if told is not None:
            self._told.remove(told)
            going.block = told.block
        self._open.append(going)
        return going

    def started(self, event: ToolStarted) -> bool:
        """Whether it is the name of a call that was refused."""
        told = _Told(event.block, event.name, _parsed(event.arguments))
        unnamed = [going for going in (*self._refused, *self._open) if going.block is None]
        going = _closest(unnamed, lambda one, exactly: _is_same(told, one.use, exactly))
        if going is None:
            self._told.append(told)
            return False
        going.block = told.block
        if going in self._refused:
            self._refused.remove(going)
            return True
        return False

    def finished(self, use: ToolUse) -> Open | None:
        """The call that a hook says is over, by what it was made with."""

        def is_it(going: Open, exactly: bool) -> bool:
            made = going.final
            if made is None or (made.tool, made.agent) != (use.tool, use.agent):
                return False
            return not exactly or made.arguments == use.arguments

        return self._taken(_closest(self._open, is_it))

    def ended(self, block: str) -> Open | None:
        """The call that an event says is over, unless a hook said so before."""
        told = next((one for one in self._told if one.block == block), None)
        if told is not None:
            self._told.remove(told)
        return self._taken(next((going for going in self._open if going.block == block), None))

    def drop(self, going: Open) -> None:
        if going in self._open:
            self._open.remove(going)

    def refuse(self, going: Open) -> None:
        """It will not be made. Its name may still come."""
        self.drop(going)
        if going.block is None:
            self._refused.append(going)

    def _taken(self, going: Open | None) -> Open | None:
        if going is not None:
            self._open.remove(going)
        return going


def _closest(among: Iterable[One], is_it: Callable[[One, bool], bool]) -> One | None:
    """The oldest that fits exactly, else the oldest that fits at all."""
    found = [one for one in among if is_it(one, False)]
    return next((one for one in found if is_it(one, True)), found[0] if found else None)


def _is_same(told: _Told, use: ToolUse, exactly: bool) -> bool:
    if told.tool != use.tool:
        return False
    return not exactly or told.arguments == (use.arguments[BARE] if use.is_bare else use.arguments)


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
