"""Refused requests in the audit: the first of a kind at once, the others counted by the minute, so
that a flood does not fill the disk."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from airboss.model.audit_events import Actor, RequestRefused
from airboss.service.audit import Audit

WINDOW_SECONDS: Final = 60.0
# Of more kinds than this in one minute, the rest is told as one number.
MOST_KINDS: Final = 20
_STATUSES: Final = (401, 403, 421, 429)
_LONGEST: Final = 200

_Kind = tuple[int, str, Actor]


@dataclass
class Refusals:
    """What was refused since the window began.

    No more than two events for each of `MOST_KINDS`, and one, are told in it.
    """

    audit: Audit
    window_seconds: float = WINDOW_SECONDS
    _known: dict[_Kind, RequestRefused] = field(default_factory=dict[_Kind, RequestRefused])
    _others: int = 0
    _timer: asyncio.TimerHandle | None = None

    def add(self, actor: Actor, status: int, code: str, method: str, path: str) -> None:
        if status not in _STATUSES:
            return
        kind = (status, code, actor)
        known = self._known.get(kind)
        if known is not None:
            self._known[kind] = known.model_copy(update={"count": known.count + 1})
        elif len(self._known) < MOST_KINDS:
            # Redacted before it is cut: half a secret would not be recognised.
            clean = self.audit.redactor.text(path)[:_LONGEST]
            said = RequestRefused(
                by=actor, status=status, code=code, method=method[:20], path=clean
            )
            self.audit.note(said)
            self._known[kind] = said.model_copy(update={"count": 0})
        else:
            self._others += 1
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.window_seconds, self.tell_counted)

    def tell_counted(self) -> None:
        """Those that followed, in one event for each kind; and the next window begins."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for said in self._known.values():
            if said.count:
                self.audit.note(said)
        if self._others:
            self.audit.note(
                RequestRefused(by=Actor(via="api"), code="many_kinds", count=self._others)
            )
        self._known.clear()
        self._others = 0
