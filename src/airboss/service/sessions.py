"""Sessions: start one, ask it, stop it, read it, resume it."""

import asyncio
import base64
import binascii
import contextlib
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakValueDictionary

from airboss.errors import (
    AirbossError,
    Conflict,
    Invalid,
    NotFound,
    RuntimeUnavailable,
    StoreUnavailable,
    TooMuch,
)
from airboss.harness.conversation import Conversation, OpenSession, Receipt
from airboss.harness.models import Catalog, Route
from airboss.harness.permissions import PolicyRule
from airboss.log.log import EventLog, Follower, Writer
from airboss.model.events import (
    Event,
    MessageEnded,
    MessageStarted,
    PromptDropped,
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
from airboss.model.views import OPEN_STATES, QueuedPrompt, SessionState, SessionView, View
from airboss.service.folders import Folders
from airboss.settings import Policy
from airboss.store.views import Place, ViewIndex

_SHOWN_SECONDS = 1.0
_RESTARTED = "The server ended while this session was open."
_STOPPED = "The server was stopped."
_NOT_OURS = "This cursor is not one of ours. Begin again without it."
_BEFORE_END = "The session was interrupted before this tool ended."


@dataclass(frozen=True)
class SessionPage:
    """Some sessions, newest first, and where the next ones are."""

    items: list[SessionView]
    next_cursor: str | None


@dataclass(frozen=True)
class EventPage:
    """Some events of a stream, in order, and whether there are more behind them."""

    items: list[Recorded]
    more: bool


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
    _coming: int = 0
    # A lock is there as long as somebody holds it or waits for it.
    _locks: "WeakValueDictionary[SessionId, asyncio.Lock]" = field(
        default_factory=WeakValueDictionary["SessionId", asyncio.Lock]
    )
    _stopping: bool = False

    async def start(self, model: str | None, cwd: str | None, who: str) -> SessionView:
        """Checked in the order model, folder; on disk before the runtime hears of it."""
        wanted = await self.catalog.default() if model is None else model
        route = await self.catalog.route(wanted)
        folder = await asyncio.to_thread(self.folders.check, cwd)
        session = new_session_id()
        opened = SessionOpened(model=wanted, cwd=str(folder), policy=self.policy, who=who)
        async with self._alone(session):
            with self._room():
                writer = await self.log.writer(session)
                await writer.append(opened)
                talk = self._open[session] = self._conversation(session, writer, route, folder)
            try:
                await talk.open(self.open_session, self.quiet_seconds)
            except BaseException as error:
                self._forget(session)
                await asyncio.shield(self._give_up(writer, error))
                raise
        return await self.show(session)

    @contextlib.contextmanager
    def _room(self) -> Generator[None]:
        """A place for one more session, until it is among the open ones."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        if len(self._open) + self._coming >= self.max_sessions:
            raise TooMuch(
                f"{self.max_sessions} sessions are open, as many as this server allows. "
                "Close one, or raise max_sessions in the settings."
            )
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    def _conversation(
        self,
        session: SessionId,
        writer: Writer,
        route: Route,
        folder: Path,
        queue: tuple[QueuedPrompt, ...] = (),
    ) -> Conversation:
        rule = PolicyRule(self.policy, folder)
        return Conversation(session, writer, route, rule, self.redactor, self._forget, queue)

    async def _give_up(self, writer: Writer, error: BaseException) -> None:
        reason = str(error) if isinstance(error, AirbossError) else "The start was cut off."
        with contextlib.suppress(StoreUnavailable):  # the next server finds it unfinished
            await writer.append(SessionClosed(reason=self.redactor.text(reason), who="airboss"))
        writer.release()

    def _forget(self, session: SessionId) -> None:
        self._open.pop(session, None)

    async def show(self, session: str) -> SessionView:
        """The session as of its own seq: a stream that begins there misses and repeats nothing."""
        return _session(await self.log.view(session), session)

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
        talk = await self._talk(session)
        if not text.strip():
            raise Invalid("A request needs some text.")
        await asyncio.to_thread(self.folders.check, str(talk.cwd))
        return await talk.prompt(text, who)

    async def abort(self, session: str) -> SessionView:
        """The answer shows the session behind the end of the turn that was running."""
        talk = await self._talk(session)
        turn = await talk.abort()
        view = await self.show(session)
        async with self.log.follow(session, view.seq) as follower:
            while turn and view.turn == turn and await follower.next(_SHOWN_SECONDS):
                view = await self.show(session)
        return view

    async def close(self, session: str, who: str) -> SessionView:
        """Twice is as good as once."""
        async with self._alone(session):
            view = await self.show(session)
            talk = self._open.get(view.id)
            if talk is not None:
                try:
                    await talk.close(who, f"Closed by {who}.")
                finally:
                    self._forget(view.id)
            elif view.state != "closed":
                writer = await self.log.writer(session)
                # A request may have been accepted since: the writer has waited for it.
                await writer.append(*closing(_session(writer.view, session), who))
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
            with self._room():
                writer = await self.log.writer(session)
                # As in `close`: the writer has waited for what was accepted meanwhile.
                queue = _session(writer.view, session).queue
                talk = self._conversation(view.id, writer, route, folder, queue)
                self._open[view.id] = talk
            try:
                await talk.resume(self.open_session, self.quiet_seconds, who)
            except BaseException:
                self._forget(view.id)
                writer.release()
                raise
        return await self.show(session)

    @contextlib.asynccontextmanager
    async def _alone(self, session: str) -> AsyncGenerator[None]:
        """One at a time opens, closes or resumes a session."""
        lock = self._locks.setdefault(SessionId(session), asyncio.Lock())
        async with lock:
            yield

    async def _talk(self, session: str) -> Conversation:
        talk = self._open.get(SessionId(session))
        if talk is None:
            view = await self.show(session)
            raise Conflict(f"The session is {view.state}. Resume it, or start a new one.")
        return talk

    async def events(self, session: str, after: int, limit: int) -> EventPage:
        found = await self.log.after(session, after, limit + 1)
        return EventPage(found[:limit], len(found) > limit)

    def follow(self, session: str, after: int) -> AbstractAsyncContextManager[Follower]:
        return self.log.follow(session, after)

    async def recover(self) -> list[SessionId]:
        """Sessions that an earlier server had open are interrupted; answers which they were."""
        found: list[SessionId] = []
        before: Place | None = None
        while bodies := await self.index.page("session", OPEN_STATES, before, 100):
            views = [SessionView.model_validate_json(body) for body in bodies]
            before = Place(views[-1].created_at, views[-1].id)
            found.extend(view.id for view in views)
            async with asyncio.TaskGroup() as group:  # together: one write for many
                for view in views:
                    group.create_task(self._interrupt(view))
        return found

    async def _interrupt(self, view: SessionView) -> None:
        writer = await self.log.writer(view.id)
        ends: list[Event] = [_cut(left.start, left.text) for left in writer.left_open]
        if view.turn:
            ends.append(TurnEnded(turn=view.turn, outcome="interrupted"))
        await writer.append(*ends, SessionInterrupted(reason=_RESTARTED))
        writer.release()

    async def stop(self) -> None:
        """The server ends: every open session is interrupted, all at the same time. One that is
        still opening loses its runtime, or its caller, a moment later."""
        self._stopping = True
        async with asyncio.TaskGroup() as group:
            for talk in list(self._open.values()):
                if talk.is_ready:
                    group.create_task(self._stop_one(talk))

    async def _stop_one(self, talk: Conversation) -> None:
        async with self._alone(talk.session):
            with contextlib.suppress(AirbossError):  # it ended by itself, or the disk is full
                await talk.interrupt(_STOPPED)
        self._forget(talk.session)


def _session(view: View | None, name: str) -> SessionView:
    if not isinstance(view, SessionView):
        raise NotFound("session", name)
    return view


def closing(view: SessionView, who: str) -> list[Event]:
    """What ends a session that no runtime has, with what was still in its queue."""
    dropped = [
        PromptDropped(prompt=queued.prompt, reason="The session was closed.")
        for queued in view.queue
    ]
    return [*dropped, SessionClosed(reason=f"Closed by {who}.", who=who)]


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
        place = Place(int(at), stream)
    except (binascii.Error, ValueError):
        raise Invalid(_NOT_OURS) from None
    if not 0 <= place.created_at < 2**63:  # what the store can hold
        raise Invalid(_NOT_OURS)
    return place
