"""Which call is which: the runtime's hooks do not name the calls that its events name.

A hook is told tool, arguments and agent; an event has the call's block. They come in any order.
"""

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from airboss.harness.allowances import Allowance
from airboss.harness.loops import PassedCall, Stint
from airboss.model.events import ToolStarted
from airboss.model.redaction import cleaned
from airboss.runtime.hooks import BARE, ToolUse

# Far more than are made at once: what nobody ever ended is forgotten behind these.
_MOST: Final = 256

One = TypeVar("One")


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call on its way. `final` is how it was let through."""

    use: ToolUse
    stint: Stint
    began: float = field(default_factory=time.time)
    block: str | None = None
    call: PassedCall | None = None
    final: ToolUse | None = None
    # An extension's yes to it.
    allowance: Allowance | None = None


class PendingCalls:
    """The calls of one session that are not over. Events have been cleaned by `clean`."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._open: deque[OpenCall] = deque(maxlen=_MOST)
        # Those that an event told of before a hook did.
        self._started: deque[ToolStarted] = deque(maxlen=_MOST)
        # Without a name so far.
        self._refused: deque[OpenCall] = deque(maxlen=_MOST)

    def begin(self, use: ToolUse, stint: Stint) -> OpenCall:
        for left in (self._open, self._refused):
            for going in [going for going in left if going.stint[0] != stint[0]]:
                left.remove(going)  # its turn is over: nobody says more of it
        going = OpenCall(use, stint)
        same = [said for said in self._started if said.name == use.tool]
        if said := _closest(same, lambda said: self._likeness(said, use)):
            self._started.remove(said)
            going.block = said.block
        self._open.append(going)
        return going

    def started(self, said: ToolStarted) -> bool:
        """Whether it is the name of a call that was refused."""
        unnamed = [going for going in (*self._refused, *self._open) if going.block is None]
        same = [going for going in unnamed if going.use.tool == said.name]
        going = _closest(same, lambda going: self._likeness(said, going.use))
        if going is None:
            self._started.append(said)
            return False
        going.block = said.block
        if going in self._refused:
            self._refused.remove(going)
            return True
        return False

    def ended(self, block: str) -> OpenCall | None:
        """The call that is over, where it was let through."""
        if said := next((one for one in self._started if one.block == block), None):
            self._started.remove(said)
        going = next((going for going in self._open if going.block == block), None)
        if going is not None:
            self._open.remove(going)
        return going

    def allowances(self) -> list[tuple[str, Allowance]]:
        """Of those that were let through and have a name."""
        return [
            (going.block, going.allowance)
            for going in self._open
            if going.block and going.allowance and going.final
        ]

    def drop(self, going: OpenCall) -> None:
        if going in self._open:
            self._open.remove(going)

    def refuse(self, going: OpenCall) -> None:
        """It will not be made. Its name may still come."""
        self.drop(going)
        if going.block is None:
            self._refused.append(going)

    def _likeness(self, said: ToolStarted, use: ToolUse) -> tuple[bool, bool]:
        given = use.arguments[BARE] if use.is_bare else dict(use.arguments)
        is_below = said.parent is not None
        return _parsed(said.arguments) == cleaned(given, self._clean), is_below == bool(use.agent)


def _closest(same: list[One], fingerprint: Callable[[One], tuple[bool, bool]]) -> One | None:
    """Of calls of one tool the oldest among those that are most alike."""
    return max(same, key=fingerprint) if len(same) > 1 else next(iter(same), None)


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
