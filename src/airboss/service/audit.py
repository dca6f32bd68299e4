"""Who did what, from where: told once, in a stream that nothing changes afterwards."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.errors import Conflict, StoreUnavailable
from airboss.log.log import PAGE, EventLog
from airboss.log.writer import Writer
from airboss.model.audit_events import (
    AUDIT,
    Actor,
    AuditEvent,
    AuditTrimmed,
    ServerStarted,
    ServerStopped,
    TokenChanged,
    TokenFacts,
)
from airboss.model.events import Recorded
from airboss.model.redaction import Redactor
from airboss.settings import Settings, shown_settings
from airboss.store.token_changes import ChangesToTell

# Whose request is being answered; set where requests come in.
acting: ContextVar[Actor | None] = ContextVar("acting", default=None)
SERVER: Final = Actor(via="server")

_log = logging.getLogger("airboss.audit")


def actor(who: str | None = None) -> Actor:
    """Of the request that is being answered; the server itself where there is none. `who` is given
    where the request's name is not, or not yet, that of its caller."""
    found = acting.get() or SERVER
    return found if who is None else found.model_copy(update={"who": who})


@dataclass
class Audit:
    """Opened before anybody can do anything."""

    log: EventLog
    redactor: Redactor
    changes: ChangesToTell
    _writer: Writer | None = None
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _has_stopped: bool = False

    async def open(self) -> None:
        self._writer = await self.log.writer(AUDIT)

    def note(self, event: AuditEvent) -> None:
        """Without waiting for the disk."""
        if self._writer is not None:
            self._writer.say(self._clean(event))

    async def write(self, event: AuditEvent) -> None:
        """On disk when this answers. What was done is done, so a disk that takes no more does not
        undo it; the log says what is missing."""
        if self._writer is None:
            return
        try:
            await self._writer.commit(self._clean(event))
        except StoreUnavailable as error:
            _log.error("Could not write %s to the audit log: %s", event.kind, error)

    async def stopped(self) -> None:
        """Once: whoever asks first is the one who stopped it."""
        if not self._has_stopped:
            self._has_stopped = True
            await self.write(ServerStopped(by=actor()))

    async def take_token_changes(self) -> None:
        """Tokens are changed without a server; what was done is told here, once."""
        async with self._taking:
            try:
                said = await asyncio.to_thread(self.changes.read_whole)
                if not said or self._writer is None:
                    return
                for change in said:
                    event = TokenChanged(
                        by=Actor(who=change.user, address="this machine", via="cli"),
                        change=change.change,
                        token=change.token,
                        changed_at=change.at,
                    )
                    await self._writer.commit(self._clean(event), origin=f"token {change.id}")
                await asyncio.to_thread(self.changes.forget, said[-1].id)
            except (Conflict, StoreUnavailable) as error:
                _log.error("Could not write changes of tokens to the audit log: %s", error)

    async def trim(self, keep_days: float, before: int) -> int:
        """Deletes what is older; that it did is written first."""
        count = await self.log.count_older(AUDIT, before)
        if count == 0 or self._writer is None:
            return 0
        await self._writer.commit(
            AuditTrimmed(by=SERVER, keep_days=keep_days, before=before, count=count)
        )
        await self.log.forget_older(AUDIT, before)
        return count

    async def page(self, before: int | None, limit: int) -> Sequence[Recorded]:
        """The newest first."""
        return await self.log.newest(AUDIT, before, limit)

    async def lines(self) -> AsyncGenerator[str]:
        """All of it as JSON lines, in order, as far as it was written when this began."""
        seq, end = 0, await self.log.head(AUDIT)
        while found := await self.log.transcript(AUDIT, seq, PAGE, until=end):
            seq = found[-1].seq
            yield "".join(f"{recorded.json}\n" for recorded in found)

    def _clean(self, event: AuditEvent) -> AuditEvent:
        """Nothing secret, wherever it may have come from."""
        return type(event).model_validate(_redacted(event.model_dump(), self.redactor))


def started(version: str, settings: Settings, tokens: tuple[TokenFacts, ...]) -> ServerStarted:
    return ServerStarted(
        by=SERVER,
        version=version,
        policy=settings.permissions,
        settings=json.dumps(shown_settings(settings, only_set=True)),
        needs_token=not settings.no_token,
        tokens=tokens,
    )


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, dict):
        return {key: _redacted(one, redactor) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_redacted(one, redactor) for one in cast("Sequence[Any]", value)]
    return value
