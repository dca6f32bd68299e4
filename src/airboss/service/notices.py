"""Tells people elsewhere what waits for them: each thing once on every channel, over restarts."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from airboss.background import Background
from airboss.errors import SettingsInvalid, StoreUnavailable
from airboss.log.log import EventLog
from airboss.log.writer import now_ms
from airboss.model.events import Recorded
from airboss.model.hidden import shortened, visible_line
from airboss.model.inbox_events import (
    INBOX,
    ApprovalAsked,
    Asked,
    InboxArrived,
    InboxSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.redaction import Redactor
from airboss.service.duties import always
from airboss.settings import Settings
from airboss.store.deliveries import Deliveries

_log = logging.getLogger("airboss.notices")

SECRET_VARIABLE: Final = "AIRBOSS_WEBHOOK_SECRET"  # noqa: S105 - its name
_SHORTEST_SECRET: Final = 16
# Large enough for all that a person reads; a diff may have megabytes.
MOST_BYTES: Final = 64 * 1024
# So long the texts may be: the first that makes the whole small enough is taken.
_LENGTHS: Final = (16_000, 4000, 1000, 200)
_LONGEST_TITLE: Final = 200
# Who comes back after a month does not want to hear all of it.
_OLD_MS: Final = 24 * 60 * 60 * 1000
# So many are waiting in memory; what follows is read when there is room.
_MOST_WAITING: Final = 500
_AT_ONCE: Final = 8
_LOOK_SECONDS: Final = 30.0
_AFTER_TROUBLE_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Notice:
    """One thing to tell. `delivery` is the same however often it is told."""

    delivery: str
    event: str
    item: str
    title: str
    url: str
    body: bytes


class NotSent(Exception):
    """It did not arrive; where it is `final`, it never will."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class Channel(Protocol):
    """One way to reach people."""

    @property
    def name(self) -> str: ...
    @property
    def waits(self) -> tuple[float, ...]:
        """The seconds before each new attempt; after the last it is given up."""
        ...

    def wants(self, event: object) -> bool: ...
    async def send(self, notice: Notice) -> None: ...


@dataclass
class Notices:
    """Follows the inbox for every channel. What a channel was to tell when the server ended, the
    next one tells."""

    log: EventLog
    deliveries: Deliveries
    channels: tuple[Channel, ...]
    url: str
    redactor: Redactor
    now: Callable[[], int] = now_ms
    # Whether this process is to do it, where several share an inbox.
    has_duty: Callable[[str], Awaitable[bool]] = always
    _going: Background = field(default_factory=lambda: Background("notices"))

    async def start(self) -> None:
        """What comes after this is told. A channel that is new begins here."""
        for channel in self.channels:
            if await self.deliveries.position(channel.name) is None:
                await self.deliveries.take(channel.name, (), await self.log.head(INBOX))
        for channel in self.channels:
            self._going.start(self._go_on(channel), channel.name)

    async def close(self) -> None:
        await self._going.close(cancel=True)

    async def _go_on(self, channel: Channel) -> None:
        while not self.log.is_closing:
            try:
                if await self.has_duty(f"notices:{channel.name}"):
                    await self._serve(channel)
            except* StoreUnavailable:  # the log has said that by itself
                pass
            except* Exception:  # noqa: BLE001 - a chore's border: whoever runs the server is told
                _log.exception("Sending notices by %s was interrupted", channel.name)
            await asyncio.sleep(0 if self.log.is_closing else _AFTER_TROUBLE_SECONDS)

    async def _serve(self, channel: Channel) -> None:
        room, lane = asyncio.Semaphore(_MOST_WAITING), asyncio.Semaphore(_AT_ONCE)
        async with asyncio.TaskGroup() as group:

            async def begin(recorded: Recorded, attempts: int) -> None:
                await room.acquire()
                telling = group.create_task(self._deliver(channel, recorded, attempts, lane))
                telling.add_done_callback(lambda _: room.release())

            for left in await self.deliveries.waiting(channel.name):
                found = await self.log.after(INBOX, left.seq - 1, 1)
                if found and found[0].seq == left.seq:
                    await begin(found[0], left.attempts)
                else:  # it was deleted meanwhile
                    await self.deliveries.done(channel.name, left.seq)
            read_to = await self.deliveries.position(channel.name) or 0
            async with self.log.follow(INBOX, read_to) as follower:
                while not self.log.is_closing:
                    found = await follower.next(_LOOK_SECONDS)
                    wanted = [one for one in found if self._is_wanted(channel, one)]
                    if found:
                        seqs = [one.seq for one in wanted]
                        await self.deliveries.take(channel.name, seqs, found[-1].seq)
                    for recorded in wanted:
                        await begin(recorded, 0)

    def _is_wanted(self, channel: Channel, recorded: Recorded) -> bool:
        return recorded.at > self.now() - _OLD_MS and channel.wants(recorded.event)

    async def _deliver(
        self, channel: Channel, recorded: Recorded, attempts: int, lane: asyncio.Semaphore
    ) -> None:
        notice = compose(recorded, self.url, self.redactor)
        while notice is not None:
            async with lane:
                trouble = await _sent(channel, notice)
            if trouble is None:
                break
            is_last = trouble.final or attempts >= len(channel.waits)
            said = (
                notice.delivery,
                channel.name,
                "failed" if is_last else "failed and will be retried",
            )
            level = logging.WARNING if is_last else logging.INFO
            _log.log(level, "The notice %s by %s %s: %s", *said, trouble)
            if is_last:
                break
            with contextlib.suppress(StoreUnavailable):  # then it is tried once more than that
                await self.deliveries.tried(channel.name, recorded.seq, attempts + 1)
            await asyncio.sleep(channel.waits[attempts])
            attempts += 1
        with contextlib.suppress(StoreUnavailable):  # then the next server tells it again
            await self.deliveries.done(channel.name, recorded.seq)


async def _sent(channel: Channel, notice: Notice) -> NotSent | None:
    try:
        await channel.send(notice)
    except NotSent as trouble:
        return trouble
    except Exception as error:  # noqa: BLE001 - a border: the others are told all the same
        _log.exception("The notice %s by %s failed", notice.delivery, channel.name)
        return NotSent(f"internal error: {type(error).__name__}")
    return None


def compose(recorded: Recorded, url: str, redactor: Redactor) -> Notice | None:
    """What is told of an event; None of one that is not about something that waits."""
    match recorded.event:
        case InboxArrived(item=item) as event:
            title, name, session = _title(item.asked), item.id, item.session
        case InboxSettled(item=name, session=session, outcome=outcome) as event:
            title = f"Settled: {outcome}"
        case _:
            return None
    address = f"{url}/inbox.html?item={name}"
    said = {"event": event.kind, "id": name, "at": recorded.at, "url": address, "session": session}
    whole = said | event.model_dump(mode="json", exclude_none=True, exclude={"kind"})
    return Notice(
        delivery=f"{name}.{event.kind.rpartition('.')[2]}",
        event=event.kind,
        item=name,
        title=shortened(" ".join(visible_line(redactor.text(title)).split()), _LONGEST_TITLE),
        url=address,
        body=_bounded(whole, said, redactor),
    )


def _title(asked: Asked) -> str:
    match asked:
        case ApprovalAsked():
            return asked.title
        case QuestionAsked():
            return asked.question
        case LimitReached():
            return f"The limit {asked.limit} of the {asked.scope} was reached"
        case PlanAsked():
            return f"Approve the plan? {asked.summary}"
        case SignInAsked():
            return f"Sign in at the MCP server {asked.server} ({asked.address})"
        case SwitchAsked():
            return f"{asked.model} is at its limit. Continue with another model?"


def _bounded(whole: dict[str, Any], least: dict[str, Any], redactor: Redactor) -> bytes:
    """As JSON without secrets, with texts cut as far as it takes; then only what it is about."""
    clean = _each_text(whole, redactor.text)
    body = _json(clean)
    for length in _LENGTHS:
        if len(body) <= MOST_BYTES:
            return body
        cut = _each_text(clean, lambda text, length=length: _cut(text, length))
        body = _json({**cut, "cut": True})
    return body if len(body) <= MOST_BYTES else _json({**least, "cut": True})


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(part, change) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _each_text(part, change) for name, part in fields.items()}
    return value


def take_secret(settings: Settings, environ: MutableMapping[str, str]) -> str | None:
    """What webhooks are signed with: from the environment, which then has it no longer, or from
    the file that the settings name."""
    given = environ.pop(SECRET_VARIABLE, "").strip()
    if settings.webhook_url is None:
        return given or None
    secret = given or _read_secret(settings)
    if len(secret) < _SHORTEST_SECRET:
        raise SettingsInvalid(
            f"A webhook needs a secret of at least {_SHORTEST_SECRET} characters. Set "
            f"{SECRET_VARIABLE}, or webhook_secret_file in the settings. "
            "To create a secret, run `openssl rand -hex 32`."
        )
    return secret


def _read_secret(settings: Settings) -> str:
    if settings.webhook_secret_file is None:
        return ""
    try:
        return settings.webhook_secret_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"Could not read webhook_secret_file: {error}") from error
