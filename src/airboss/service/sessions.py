"""Sessions: start one, ask it, stop it, read it, resume it."""

import asyncio
import base64
import binascii
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from airboss.errors import AirbossError, Conflict, Invalid, NotFound, TooMuch
from airboss.harness.conversation import Conversation, OpenSession, Receipt
from airboss.harness.models import Catalog
from airboss.harness.permissions import PolicyRule
from airboss.log.log import EventLog, Follower, Writer
from airboss.model.events import (
    Event,
    MessageEnded,
    MessageStarted,
    ReasoningEnded,
    ReasoningStarted,
    Recorded,
    SessionClosed,
    SessionInterrupted,
    SessionOpened,
    ToolEnded,
    ToolError,
    ToolStarted,
    TurnEnded,
)
from airboss.model.ids import SessionId, new_session_id
from airboss.model.redaction import Redactor
from airboss.model.views import OPEN_STATES, SessionState, SessionView
from airboss.service.folders import Folders
from airboss.settings import Policy
from airboss.store.views import Place, ViewIndex

_RESTARTED = "The server ended while this session was open."
_STOPPED = "The server was stopped."
_BEFORE_END = "The session was interrupted before this tool ended."


@dataclass(frozen=True)
class SessionPage:
    """Some sessions, newest first, and where the next ones are."""

    items: list[SessionView]
    next_cursor: str | None


@dataclass
class Sessions:
    """All sessions of this server: those that are open, and those that are only remembered."""

    log: EventLog
    index: ViewIndex
    catalog: Catalog
    folders: Folders
    policy: Policy
    redactor: Redactor
    open_session: OpenSession
    quiet_seconds: float
    max_sessions: int
    _open: dict[SessionId, Conversation] = field(default_factory=dict[SessionId, Conversation])
    _busy: dict[SessionId, asyncio.Lock] = field(default_factory=dict[SessionId, asyncio.Lock])
    _stopping: bool = False

    async def start(self, model: str | None, cwd: str | None, who: str) -> SessionView:
        """Checked in the order model, folder; on disk before the runtime hears of it."""
        if self._stopping:
            raise Conflict("The server is stopping.")
        wanted = model or await self.catalog.default()
        route = await self.catalog.route(wanted)
        folder = await asyncio.to_thread(self.folders.check, cwd)
        if len(self._open) >= self.max_sessions:
            raise TooMuch(
                f"{self.max_sessions} sessions are open, as many as this server allows. "
                "Close one, or raise max_sessions in the settings."
            )
        session = new_session_id()
        writer = await self.log.writer(session)
        opened = SessionOpened(model=wanted, cwd=str(folder), policy=self.policy, who=who)
        await writer.append(opened)
        rule = PolicyRule(self.policy, folder)
        talk = Conversation(session, writer, route, rule, self.redactor, self._forget)
        self._open[session] = talk
        try:
            await talk.open(self.open_session, self.quiet_seconds)
        except BaseException as error:
            self._forget(session)
            await asyncio.shield(self._give_up(writer, error))
            raise
        return await self.show(session)

    async def _give_up(self, writer: Writer, error: BaseException) -> None:
        reason = str(error) if isinstance(error, AirbossError) else "The start was cut off."
        await writer.append(SessionClosed(reason=self.redactor.text(reason), who="airboss"))
        writer.release()

    def _forget(self, session: SessionId) -> None:
        self._open.pop(session, None)

    async def show(self, session: str) -> SessionView:
        """The session as of its own seq: a stream that begins there misses and repeats nothing."""
        view = await self.log.view(session)
        if view is None:
            raise NotFound("session", session)
        return view

    async def page(
        self, states: tuple[SessionState, ...], cursor: str | None, limit: int
    ) -> SessionPage:
        before = _place(cursor) if cursor else None
        bodies = await self.index.page("session", states, before, limit + 1)
        views = [SessionView.model_validate_json(body) for body in bodies]
        more = len(views) > limit
        views = views[:limit]
        return SessionPage(views, _cursor(views[-1]) if more else None)

    def open_count(self) -> tuple[int, int]:
        """How many sessions are open, and how many of them work."""
        return len(self._open), sum(1 for talk in self._open.values() if talk.is_working)

    def is_open(self, session: str) -> bool:
        return SessionId(session) in self._open

    async def prompt(self, session: str, text: str, who: str) -> Receipt:
        if not text.strip():
            raise Invalid("A request needs some text.")
        talk = await self._talk(session)
        await asyncio.to_thread(self.folders.check, str(talk.cwd))
        return await talk.prompt(text, who)

    async def abort(self, session: str) -> SessionView:
        await (await self._talk(session)).abort()
        return await self.show(session)

    async def close(self, session: str, who: str) -> SessionView:
        """Twice is as good as once."""
        async with self._alone(session):
            view = await self.show(session)
            talk = self._open.get(view.id)
            if talk is not None:
                await talk.close(who, f"Closed by {who}.")
                self._forget(view.id)
            elif view.state != "closed":
                writer = await self.log.writer(session)
                await writer.append(SessionClosed(reason=f"Closed by {who}.", who=who))
                writer.release()
        return await self.show(session)

    async def resume(self, session: str, who: str) -> SessionView:
        """Go on with an interrupted session, when the runtime still has it."""
        async with self._alone(session):
            view = await self.show(session)
            if view.id in self._open:
                return view
            if view.state != "interrupted":
                raise Conflict(f"The session is {view.state}; only interrupted ones are resumed.")
            route = await self.catalog.route(view.model)
            folder = await asyncio.to_thread(self.folders.check, view.cwd)
            writer = await self.log.writer(session)
            rule = PolicyRule(self.policy, folder)
            talk = Conversation(view.id, writer, route, rule, self.redactor, self._forget)
            self._open[view.id] = talk
            try:
                await talk.resume(self.open_session, self.quiet_seconds, who)
            except BaseException:
                self._forget(view.id)
                writer.release()
                raise
        return await self.show(session)

    @contextlib.asynccontextmanager
    async def _alone(self, session: str) -> AsyncIterator[None]:
        """One at a time closes or resumes a session."""
        key = SessionId(session)
        lock = self._busy.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._busy.pop(key, None)

    async def _talk(self, session: str) -> Conversation:
        talk = self._open.get(SessionId(session))
        if talk is None:
            view = await self.show(session)
            raise Conflict(f"The session is {view.state}. Resume it, or start a new one.")
        return talk

    async def events(self, session: str, after: int, limit: int) -> list[Recorded]:
        await self.show(session)
        return await self.log.after(session, after, limit)

    def follow(self, session: str, after: int) -> AbstractAsyncContextManager[Follower]:
        return self.log.follow(session, after)

    async def recover(self) -> list[SessionId]:
        """Sessions that an earlier server had open are interrupted; answers which they were."""
        found: list[SessionId] = []
        before: Place | None = None
        while bodies := await self.index.page("session", OPEN_STATES, before, 100):
            for body in bodies:
                view = SessionView.model_validate_json(body)
                found.append(view.id)
                before = Place(view.created_at, view.id)
                await self._interrupt(view)
        return found

    async def _interrupt(self, view: SessionView) -> None:
        writer = await self.log.writer(view.id)
        closing: list[Event] = [_cut(left.start, left.text) for left in writer.left_open]
        if view.turn:
            closing.append(TurnEnded(turn=view.turn, outcome="interrupted"))
        await writer.append(*closing, SessionInterrupted(reason=_RESTARTED))
        writer.release()

    async def stop(self) -> None:
        """The server ends: every open session is interrupted, all at the same time."""
        self._stopping = True
        async with asyncio.TaskGroup() as group:
            for talk in list(self._open.values()):
                group.create_task(self._stop_one(talk))
        self._open.clear()

    async def _stop_one(self, talk: Conversation) -> None:
        with contextlib.suppress(AirbossError):  # it ended by itself, or the disk is full
            await talk.interrupt(_STOPPED)


def _cut(start: Event, text: str) -> Event:
    match start:
        case ReasoningStarted():
            return ReasoningEnded(block=start.block, text=text, cut=True)
        case MessageStarted():
            return MessageEnded(block=start.block, text=text, cut=True)
        case ToolStarted():
            error = ToolError(message=_BEFORE_END, code="interrupted")
            return ToolEnded(block=start.block, text=text, error=error, cut=True)
        case _:
            raise TypeError(f"{start.kind} starts no block")


def _cursor(view: SessionView) -> str:
    return base64.urlsafe_b64encode(f"{view.created_at}:{view.id}".encode()).decode().rstrip("=")


def _place(cursor: str) -> Place:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        at, _, stream = base64.urlsafe_b64decode(padded).decode().partition(":")
        return Place(int(at), stream)
    except (binascii.Error, ValueError):
        raise Invalid("This cursor is not one of ours. Begin again without it.") from None
