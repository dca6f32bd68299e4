"""All open connections of a server: how many strangers there may be, and who is cut off.

A stranger is whoever has shown no token on this connection yet. What HTTP is, is not known here.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final, Protocol

from starlette.types import Scope

MOST_STRANGERS: Final = 512
# So long may a stranger's head take, and its body.
STRANGER_SECONDS: Final = 5.0
# An answer of which nothing is read for so long is not sent any more, whoever asked.
UNREAD_SECONDS: Final = 5.0

_LOOK_SECONDS: Final = 1.0
# Where a request's scope has its connection.
CONNECTION: Final = "airboss.connection"

_log = logging.getLogger("airboss.perimeter")


class CrowdConnection(Protocol):
    """What the crowd knows of one."""

    @property
    def is_served(self) -> bool:
        """It is our turn: we have its request, and it reads what we answer."""
        ...

    @property
    def is_idle(self) -> bool:
        """Nothing is asked, and nothing is answered."""
        ...

    def taken(self) -> int | None:
        """How many bytes of our answers have left us; none when nothing waits to be read."""
        ...

    def cut(self) -> None: ...


@dataclass
class _CrowdReader:
    taken: int
    since: float


@dataclass
class Crowd:
    """`most` is for strangers and all others together; each holds a descriptor."""

    most: int
    most_strangers: int = MOST_STRANGERS
    # In the order in which they came.
    _strangers: dict[CrowdConnection, None] = field(default_factory=dict[CrowdConnection, None])
    _known: dict[CrowdConnection, None] = field(default_factory=dict[CrowdConnection, None])
    _behind: dict[CrowdConnection, _CrowdReader] = field(
        default_factory=dict[CrowdConnection, _CrowdReader]
    )
    _looking: asyncio.TimerHandle | None = None
    _too_many: int = 0

    @classmethod
    def within(cls, descriptors: int) -> "Crowd":
        """A quarter is left for files, pipes and the agents' own; a quarter is for strangers."""
        return cls(
            most=max(1, descriptors * 3 // 4),
            most_strangers=max(1, min(MOST_STRANGERS, descriptors // 4)),
        )

    def enter(self, connection: CrowdConnection) -> None:
        """Somebody comes; where there are too many, somebody else goes."""
        self._strangers[connection] = None
        if len(self._strangers) > self.most_strangers:
            self._make_room(self._oldest_stranger(connection))
        elif len(self._strangers) + len(self._known) > self.most:
            self._make_room(self._least_needed(connection))
        if self._looking is None:
            self._look_later()

    def recognise(self, connection: CrowdConnection) -> None:
        """It has shown a token that counts."""
        if connection in self._strangers:
            del self._strangers[connection]
            self._known[connection] = None

    def is_known(self, connection: CrowdConnection) -> bool:
        return connection in self._known

    def remove(self, connection: CrowdConnection) -> None:
        for those in (self._strangers, self._known, self._behind):
            those.pop(connection, None)

    def _make_room(self, connection: CrowdConnection) -> None:
        self._too_many += 1
        self._cut(connection)

    def _cut(self, connection: CrowdConnection) -> None:
        self.remove(connection)
        connection.cut()

    def _oldest_stranger(self, newcomer: CrowdConnection) -> CrowdConnection:
        """Rather one that makes us wait than one that waits for us."""
        others = [one for one in self._strangers if one is not newcomer]
        return next((one for one in others if not one.is_served), (others or [newcomer])[0])

    def _least_needed(self, newcomer: CrowdConnection) -> CrowdConnection:
        if len(self._strangers) > 1:
            return self._oldest_stranger(newcomer)
        return next((one for one in self._known if one.is_idle), newcomer)

    # Who does not read.

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking = loop.call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        now = asyncio.get_running_loop().time()
        stuck = [one for one in (*self._strangers, *self._known) if self._is_stuck(one, now)]
        for connection in stuck:
            self._cut(connection)
        if stuck:
            _log.info("Closed %d connections whose clients stopped reading", len(stuck))
        if self._too_many:
            _log.warning("Closed %d connections: too many were open", self._too_many)
            self._too_many = 0
        if self._strangers or self._known:
            self._look_later()

    def _is_stuck(self, connection: CrowdConnection, now: float) -> bool:
        taken = connection.taken()
        if taken is None:
            self._behind.pop(connection, None)
            return False
        reader = self._behind.get(connection)
        if reader is None or taken > reader.taken:
            self._behind[connection] = _CrowdReader(taken, now)
            return False
        return now - reader.since >= UNREAD_SECONDS


def recognise(scope: Scope) -> None:
    """The caller of this request is no stranger. Nobody is known where there is no connection."""
    connection = scope.get("state", {}).get(CONNECTION)
    if connection is not None:
        connection.recognise()
