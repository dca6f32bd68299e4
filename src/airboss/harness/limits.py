"""Budgets: how much may be used, how much was, and which limit is reached. Pure but for a clock."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from airboss.model.limits import Granted, UsageLimits
from airboss.model.usage import Usage

TURNS: Final = "turns"
IDLE: Final = "idleMinutes"


@dataclass(frozen=True)
class Reached:
    """A limit that is reached: whose, which, and by how much."""

    scope: str
    limit: str
    allowed: float
    used: float
    # What a yes grants; nothing where the limit was nothing, so that a yes lifts it.
    more: float | None
    before_turn: bool = False

    def __str__(self) -> str:
        return f"the limit of {self.allowed:g} {self.limit} of the {self.scope}"


@dataclass
class Budget:
    """What one session, task or job may use, shared by all that works for it."""

    scope: str
    limits: UsageLimits
    used: Usage = field(default_factory=Usage)
    # Others wait while one of its sessions asks a person.
    is_asked: bool = False
    waiting: "list[asyncio.Future[None]]" = field(default_factory=list["asyncio.Future[None]"])
    _upto: dict[str, float] = field(default_factory=dict[str, float])

    def spend(self, usage: Usage) -> None:
        self.used += usage

    def grant(self, granted: Iterable[Granted]) -> None:
        """As often as it is told: what was granted counts once."""
        for one in granted:
            if one.scope == self.scope:
                upto = float("inf") if one.upto is None else one.upto
                self._upto[one.limit] = max(upto, self._upto.get(one.limit, 0))

    def release(self) -> None:
        """Who waited looks again."""
        self.is_asked = False
        for waiting in self.waiting:
            if not waiting.done():
                waiting.set_result(None)
        self.waiting.clear()

    def reached(self, *, before_turn: bool) -> Reached | None:
        """The first limit that is reached; that of turns only where another one would begin."""
        used, limits = self.used, self.limits
        known = {
            "tokens": (limits.tokens, used.tokens),
            "cost": (limits.cost, used.whole_cost),
            "minutes": (limits.minutes, used.minutes),
        }
        for name, (limit, amount) in known.items():
            if limit is not None and 0 < amount >= self._allowed(name, limit):
                return self._reached(name, limit, amount, before_turn=before_turn)
        limit = limits.turns
        if before_turn and limit is not None and used.turns >= self._allowed(TURNS, limit):
            return self._reached(TURNS, limit, used.turns, before_turn=True)
        return None

    def idle(self, minutes: float) -> Reached | None:
        limit = self.limits.idle_minutes
        if limit is None or minutes < limit:
            return None
        return Reached(self.scope, IDLE, limit, minutes, limit)

    def _allowed(self, name: str, limit: float) -> float:
        return max(limit, self._upto.get(name, 0))

    def _reached(self, name: str, limit: float, amount: float, *, before_turn: bool) -> Reached:
        allowed = self._allowed(name, limit)
        return Reached(self.scope, name, allowed, amount, limit or None, before_turn)


@dataclass
class Stopwatch:
    """The time at work of one session. It stands still while a person is waited for."""

    _since: float | None = None
    _run: float = 0.0
    _is_held: bool = False

    def start(self) -> None:
        self._since, self._run, self._is_held = time.monotonic(), 0.0, False

    def hold(self) -> None:
        if self._since is not None and not self._is_held:
            self._run += time.monotonic() - self._since
            self._is_held = True

    def go_on(self) -> None:
        if self._since is not None and self._is_held:
            self._since, self._is_held = time.monotonic(), False

    def lap(self) -> int:
        """The milliseconds since the last lap."""
        if self._since is None:
            return 0
        if not self._is_held:
            now = time.monotonic()
            self._run += now - self._since
            self._since = now
        whole = int(self._run * 1000)
        self._run -= whole / 1000
        return whole
