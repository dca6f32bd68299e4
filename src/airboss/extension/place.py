"""Where the code of an extension runs: what it has registered, and its way to the host.

A process has one place. Tests load several extensions into one process, each in its own.
"""

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from airboss.extension.registry import Registry


class HostError(RuntimeError):
    """What Airboss answers to a request that it cannot or will not do."""


class HostLink(Protocol):
    """The way to the host. Both may be used in any thread."""

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]: ...

    def listen(self, kind: str) -> None:
        """Has events of this kind sent from now on."""
        ...


@dataclass(eq=False)
class Subscription:
    """Who follows which events. What is direct is called at once and in order; it must be quick."""

    kinds: tuple[str, ...]
    function: Callable[[Any], Any]
    is_direct: bool = False
    waiting: deque[Any] = field(default_factory=deque[Any])
    is_busy: bool = False


@dataclass
class KitPlace:
    session: str
    cwd: Path
    workspace: Path | None = None
    registry: Registry = field(default_factory=Registry)
    subscriptions: list[Subscription] = field(default_factory=list[Subscription])
    link: HostLink | None = None

    def kinds(self) -> list[str]:
        """The events that somebody follows."""
        return sorted({kind for one in self.subscriptions for kind in one.kinds})

    def follow(self, made: Subscription) -> Callable[[], None]:
        """Until what this returns is called."""
        news = set(made.kinds) - set(self.kinds())
        self.subscriptions.append(made)
        if self.link is not None:
            for kind in sorted(news):
                self.link.listen(kind)

        def stop() -> None:
            if made in self.subscriptions:
                self.subscriptions.remove(made)
                made.waiting.clear()

        return stop

    def linked(self) -> HostLink:
        if self.link is None:
            raise RuntimeError(
                "The session can be used in tools, hooks and event handlers, not while the file"
                " of the extension is read"
            )
        return self.link


_HERE: ContextVar[KitPlace] = ContextVar("airboss_extension_place")
# For threads that an extension has started itself: they inherit no context.
_LAST: list[KitPlace] = []


def here() -> KitPlace:
    place = _HERE.get(None)
    if place is None:
        if not _LAST:
            _LAST.append(KitPlace(session="", cwd=Path.cwd()))
        place = _LAST[-1]
    return place


def enter(place: KitPlace) -> None:
    """From here on, in this context and in all that it starts."""
    _HERE.set(place)
    _LAST[:] = [place]
