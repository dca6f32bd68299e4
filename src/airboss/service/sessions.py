"""Sessions: start one, ask it, stop it, read it, resume it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakValueDictionary

from airboss.errors import AirbossError, Conflict, Invalid, RuntimeUnavailable, SessionGone, TooMuch
from airboss.harness.conversation import Conversation, OpenSession
from airboss.harness.desk import Delivery
from airboss.harness.loops import Loops
from airboss.harness.models import Catalog, Route
from airboss.harness.people import NOT_WAITED_FOR, Office
from airboss.harness.permissions import PolicyRule
from airboss.harness.turn import Asked, Pause, Receipt, Request
from airboss.log.log import EventLog, Follower
from airboss.log.writer import Writer
from airboss.model.events import SessionOpened
from airboss.model.excerpt import MOST_CHARACTERS
from airboss.model.ids import PromptId, RunId, SessionId, TaskRunId, new_prompt_id, new_session_id
from airboss.model.inbox_events import ItemSettled
from airboss.model.limits import Limits
from airboss.model.redaction import Redactor
from airboss.model.views import QueuedPrompt, SessionState, SessionView
from airboss.service.folders import Folders
from airboss.service.held import held_back, until_decided
from airboss.service.pages import EventPage, Page, page_of_events, page_of_views
from airboss.service.session_ends import (
    closing,
    give_up,
    interrupt_left_open,
    session_of,
    tell_office,
)
from airboss.settings import LoopDetection, Policy
from airboss.store.images import Images, Pictures
from airboss.store.places import Places
from airboss.store.views import ALL, ViewIndex, Wanted

_SHOWN_SECONDS = 1.0
_STOPPED = "The server was stopped."


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
    office: Office
    # How long somebody who sits in front of a session is waited for.
    approval_seconds: float
    quiet_seconds: float
    max_sessions: int
    loop_detection: LoopDetection = field(default_factory=LoopDetection)
    images: Images | None = None
    places: Places | None = None
    max_block: int = MOST_CHARACTERS
    _open: dict[SessionId, Conversation] = field(default_factory=dict[SessionId, Conversation])
    _coming: int = 0
    # A lock is there as long as somebody holds it or waits for it.
    _locks: "WeakValueDictionary[SessionId, asyncio.Lock]" = field(
        default_factory=WeakValueDictionary["SessionId", asyncio.Lock]
    )
    _stopping: bool = False

    async def start(
        self,
        model: str | None,
        cwd: str | None,
        who: str,
        policy: Policy | None = None,
        *,
        task: TaskRunId | None = None,
        run: RunId | None = None,
        limits: Limits | None = None,
        waits: bool = True,
    ) -> SessionView:
        """Checked in the order model, folder; on disk before the runtime hears of it. `policy` is
        this session's own, instead of the server's. Nobody sits in front of one that works for a
        task, so what it asks waits for as long as it takes. Who asks it at once need not wait
        until it is shown as ready: that is on disk with the request."""
        wanted = await self.catalog.default() if model is None else model
        route = await self.catalog.route(wanted)
        folder = await asyncio.to_thread(self.folders.check, cwd)
        session = new_session_id()
        rule = self._rule(policy, folder, session)
        opened = SessionOpened(
            model=wanted,
            cwd=str(folder),
            policy=rule.policy,
            who=who,
            task=task,
            run=run,
            limits=limits or Limits(),
        )
        async with self.alone(session):
            with self._room():
                writer = self.log.new_writer(session)
                try:
                    await writer.commit(opened)
                except asyncio.CancelledError as error:  # it may be on disk, or will be
                    await asyncio.shield(give_up(writer, self.redactor, error))
                    raise
                talk = self._open[session] = self._conversation(session, writer, route, rule)
            try:
                await talk.open(self.open_session, self.quiet_seconds, waits=waits)
            except BaseException as error:
                self._forget(session)
                await asyncio.shield(give_up(writer, self.redactor, error))
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

    def _rule(self, policy: Policy | None, folder: Path, session: SessionId) -> PolicyRule:
        given, own = policy is not None, self.places.own(session) if self.places else ()
        return PolicyRule(policy or self.policy, folder, given, self.folders.protected, own)

    def _conversation(
        self,
        session: SessionId,
        writer: Writer,
        route: Route,
        rule: PolicyRule,
        queue: tuple[QueuedPrompt, ...] = (),
    ) -> Conversation:
        view = writer.view
        attended = isinstance(view, SessionView) and view.task is None
        seconds = self.approval_seconds if attended else None
        return Conversation(
            session,
            writer,
            route,
            rule,
            self.redactor,
            self.office,
            seconds,
            self._forget,
            queue,
            Loops(self.loop_detection),
            self.images,
            self.max_block,
        )

    def _forget(self, session: SessionId) -> None:
        self._open.pop(session, None)

    async def show(self, session: str) -> SessionView:
        """The session as of its own seq: a stream that begins there misses and repeats nothing."""
        return session_of(await self.log.view(session), session)

    async def page(
        self, states: tuple[SessionState, ...], cursor: str | None, limit: int, wanted: Wanted = ALL
    ) -> Page[SessionView]:
        return await page_of_views(self.index, SessionView, states, cursor, limit, wanted)

    def open_count(self) -> tuple[int, int]:
        """How many sessions are open, and how many of them work."""
        return len(self._open), sum(1 for talk in self._open.values() if talk.is_working)

    def is_open(self, session: str) -> bool:
        return SessionId(session) in self._open

    async def prompt(
        self, session: str, text: str, who: str, delivery: Delivery = "queue", shown: Pictures = ()
    ) -> Receipt:
        talk = await self._to_be_asked(session, text)
        return await talk.prompt(text, who, delivery, shown)

    async def aside(self, session: str, question: str, who: str) -> str:
        """Answered from the history of an open session, without a turn."""
        return await (await self._talk(session)).aside(question, who)

    async def queue(self, session: str) -> tuple[QueuedPrompt, ...]:
        """What waits, in the order in which it will be worked on."""
        return (await self.show(session)).queue

    async def change(
        self, session: str, prompt: str, text: str | None, position: int | None, who: str
    ) -> tuple[QueuedPrompt, ...]:
        """What a request that waits says, or its place; the queue behind that."""
        talk = await self._talk(session)
        await talk.desk.change(PromptId(prompt), text, position, who)
        return await self.queue(session)

    async def drop(self, session: str, prompt: str | None, who: str) -> tuple[QueuedPrompt, ...]:
        """One request that waits, or all that people made; the queue behind that."""
        desk = (await self._talk(session)).desk
        await (desk.clear(who) if prompt is None else desk.drop(PromptId(prompt), who))
        return await self.queue(session)

    async def ask(
        self,
        session: str,
        text: str,
        who: str,
        task: TaskRunId,
        prompt: PromptId | None = None,
        pause: Pause | None = None,
    ) -> Asked:
        """A request of a task: on disk like a person's, and it can be waited for."""
        talk = await self._to_be_asked(session, text)
        return await talk.ask(text, who, task, prompt or new_prompt_id(), pause)

    async def withdraw(self, session: str, prompt: PromptId) -> None:
        """What was asked is not worked on, or no longer; the session goes on."""
        if not self.is_open(session) and (asked := held_back(await self.show(session), prompt)):
            await self.settle(session, ItemSettled(item=asked.item, outcome="cancelled"))
        await (await self._talk(session)).withdraw(prompt)

    async def _to_be_asked(self, session: str, text: str) -> Conversation:
        talk = await self._talk(session)
        if not text.strip():
            raise Invalid("A request needs some text.")
        await asyncio.to_thread(self.folders.check, str(talk.cwd))
        return talk

    async def abort(self, session: str) -> SessionView:
        """The answer shows the session behind the end of the turn that was running."""
        talk = await self._talk(session)
        turn = await talk.abort()
        view = await self.show(session)
        async with self.log.follow(session, view.seq) as follower:
            while turn and view.turn == turn and await follower.next(_SHOWN_SECONDS):
                view = await self.show(session)
        return view

    async def close(self, session: str, who: str, *, waits: bool = True) -> SessionView:
        """Twice is as good as once. Who writes down something else at once need not wait until it
        is on disk; the agent is gone in any case when this answers."""
        async with self.alone(session):
            view = await self.show(session)
            talk = self._open.get(view.id)
            if talk is not None:
                try:
                    await talk.close(who, f"Closed by {who}.", waits=waits)
                finally:
                    self._forget(view.id)
            elif view.state != "closed":
                await self._close_remembered(session, who)
        return await self.show(session)

    async def _close_remembered(self, session: str, who: str) -> None:
        writer = await self.log.writer(session)
        # The writer has waited for what was said meanwhile: a request, or the end.
        view = session_of(writer.view, session)
        if view.state != "closed":
            ends = closing(view, who)
            await writer.commit(*ends)
            tell_office(self.office, view.id, ends)
        writer.release()

    async def resume(self, session: str, who: str, policy: Policy | None = None) -> SessionView:
        """Go on with an interrupted session, when the runtime still has it. As when it was
        started, `policy` is its own; without one it has what the server allows now."""
        async with self.alone(session):
            view = await self.show(session)
            if view.id in self._open:
                return view
            if view.state != "interrupted":
                raise Conflict(f"The session is {view.state}; only interrupted ones are resumed.")
            route = await self.catalog.route(view.model)
            folder = await asyncio.to_thread(self.folders.check, view.cwd)
            rule = self._rule(policy, folder, view.id)
            with self._room():
                writer = await self.log.writer(session)
                # As in `close`: the writer has waited for what was accepted meanwhile.
                queue = session_of(writer.view, session).queue
                talk = self._conversation(view.id, writer, route, rule, queue)
                self._open[view.id] = talk
            try:
                await talk.resume(self.open_session, self.quiet_seconds, who)
            except BaseException:
                self._forget(view.id)
                writer.release()
                raise
        return await self.show(session)

    async def go_on(
        self, session: str, prompt: PromptId, who: str, policy: Policy, pause: Pause | None
    ) -> Asked | None:
        """Resume an interrupted session in the middle of a turn that waits for a person. None where
        it does not, or the runtime does not know it any more."""
        await until_decided(self.log, self.office, session, prompt, pause)
        async with self.alone(session):
            # It waits for what was said a moment ago: that the session was cut off.
            writer = await self.log.writer(session)
            view = session_of(writer.view, session)
            if view.state != "interrupted" or not (view.items or view.asking == prompt):
                return None
            route = await self.catalog.route(view.model)
            folder = await asyncio.to_thread(self.folders.check, view.cwd)
            rule = self._rule(policy, folder, view.id)
            request = Request("", view.task, pause)
            with self._room():
                talk = self._conversation(view.id, writer, route, rule)
                talk.people.keep(view.items)
                self._open[view.id] = talk
            try:
                goes_on = await talk.go_on(
                    self.open_session, self.quiet_seconds, who, prompt, request
                )
            except BaseException as error:
                self._forget(view.id)
                writer.release()
                if isinstance(error, SessionGone):
                    return None
                raise
        receipt = Receipt(prompt, view.seq, 0)
        return Asked(receipt, request.answer) if goes_on else None

    async def settle(self, session: str, settled: ItemSettled) -> None:
        """A person's word on what the session asked; also while it waits to be resumed."""
        if self.is_open(session):
            await self._open[SessionId(session)].people.settle(settled)
            return
        async with self.alone(session):
            if self.is_open(session):  # meanwhile
                await self._open[SessionId(session)].people.settle(settled)
                return
            view = await self.show(session)
            if all(item.id != settled.item for item in view.items):
                raise Conflict(NOT_WAITED_FOR)
            writer = await self.log.writer(session)
            await writer.commit(settled)
            writer.release()
            self.office.settled(view.id, settled)

    @contextlib.asynccontextmanager
    async def alone(self, session: str) -> AsyncGenerator[None]:
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
        return await page_of_events(self.log, session, after, limit)

    def follow(self, session: str, after: int) -> AbstractAsyncContextManager[Follower]:
        return self.log.follow(session, after)

    async def recover(self) -> list[SessionId]:
        """Sessions that an earlier server had open are interrupted; answers which they were."""
        return await interrupt_left_open(self.log, self.index, self.office)

    async def stop(self) -> None:
        """The server ends: every open session is interrupted, all at the same time. One that is
        still opening loses its runtime, or its caller, a moment later."""
        self._stopping = True
        async with asyncio.TaskGroup() as group:
            for talk in list(self._open.values()):
                if talk.is_ready:
                    group.create_task(self._stop_one(talk))

    async def _stop_one(self, talk: Conversation) -> None:
        async with self.alone(talk.session):
            with contextlib.suppress(AirbossError):  # it ended by itself, or the disk is full
                await talk.interrupt(_STOPPED)
        self._forget(talk.session)
