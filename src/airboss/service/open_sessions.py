"""Which sessions are open, how many may be, and what each is opened with."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from weakref import WeakValueDictionary

from airboss.errors import RuntimeUnavailable, TooMuch
from airboss.harness.conversation import Conversation
from airboss.harness.earlier_decisions import earlier_decisions_of
from airboss.harness.file_waits import FileWaits
from airboss.harness.models import Catalog, Route
from airboss.harness.pending_items import RulesInForce
from airboss.harness.permissions import PolicyRule
from airboss.harness.session_state import SessionState, SharedBudgets
from airboss.harness.session_terms import OpenSession, SessionTerms
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.excerpt import MOST_CHARACTERS
from airboss.model.ids import SessionId
from airboss.model.redaction import Redactor
from airboss.model.setup import Setup
from airboss.model.views import QueuedPrompt, SessionView
from airboss.service.folders import Folders
from airboss.service.session_setup import setup_of
from airboss.session_keys import NOTHING_SAID, SessionKeys
from airboss.settings import LoopDetection, Policy
from airboss.store.images import Images
from airboss.store.places import Places
from airboss.store.views import ViewIndex

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy


@dataclass
class OpenSessions:
    """The conversations of this server, one for each session that is open."""

    log: EventLog
    index: ViewIndex
    catalog: Catalog
    folders: Folders
    policy: Policy
    redactor: Redactor
    open_session: OpenSession
    proxy: "ProviderProxy"
    inbox: Writer
    rules: RulesInForce
    budgets: SharedBudgets
    # So long a decision is waited for in a person's session, where somebody set a limit.
    approval_seconds: float | None
    quiet_seconds: float
    max_sessions: int
    loop_detection: LoopDetection = field(default_factory=LoopDetection)
    images: Images | None = None
    places: Places | None = None
    max_block: int = MOST_CHARACTERS
    # What is said about every session, in the settings.
    session_keys: SessionKeys = NOTHING_SAID
    _open: dict[SessionId, Conversation] = field(default_factory=dict[SessionId, Conversation])
    _coming: int = 0
    _files: FileWaits = field(default_factory=FileWaits)
    # A lock is there as long as somebody holds it or waits for it.
    _locks: "WeakValueDictionary[SessionId, asyncio.Lock]" = field(
        default_factory=WeakValueDictionary["SessionId", asyncio.Lock]
    )
    _stopping: bool = False

    @contextlib.asynccontextmanager
    async def alone(self, session: str) -> AsyncGenerator[None]:
        """One at a time opens, closes or resumes a session."""
        lock = self._locks.setdefault(SessionId(session), asyncio.Lock())
        async with lock:
            yield

    def open_count(self) -> tuple[int, int]:
        """How many sessions are open, and how many of them work."""
        return len(self._open), sum(1 for talk in self._open.values() if talk.is_working)

    def is_open(self, session: str) -> bool:
        return SessionId(session) in self._open

    @contextlib.contextmanager
    def _room(self) -> Generator[None]:
        """A place for one more session, until it is among the open ones."""
        if self._stopping:
            raise RuntimeUnavailable("The server is stopping.")
        if len(self._open) + self._coming >= self.max_sessions:
            raise TooMuch(
                f"The limit of {self.max_sessions} open sessions is reached. "
                "Close one, or raise max_sessions in the settings."
            )
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    def _rule(
        self, policy: Policy | None, folder: Path, session: SessionId, setup: Setup
    ) -> PolicyRule:
        given, own = policy is not None, self.places.own(session) if self.places else ()
        beside = tuple(Path(path) for path in setup.directories)
        return PolicyRule(policy or self.policy, folder, given, self.folders.protected, own, beside)

    def _conversation(
        self,
        writer: Writer,
        route: Route,
        setup: Setup,
        rule: PolicyRule,
        again: QueuedPrompt | None = None,
    ) -> Conversation:
        state = SessionState(writer, self.inbox, self.redactor, self.budgets, again, self._files)
        terms = SessionTerms(
            route=route,
            setup=setup,
            rule=rule,
            rules=self.rules,
            open_session=self.open_session,
            proxy=self.proxy,
            find_earlier=partial(earlier_decisions_of, self.log),
            approval_seconds=self._approval_seconds(state),
            quiet_seconds=self.quiet_seconds,
            loop_detection=self.loop_detection,
            max_block=self.max_block,
            images=self.images,
        )
        return Conversation(state, terms, self._forget)

    def _approval_seconds(self, state: SessionState) -> float | None:
        """What is set for the server holds over what the session was opened with."""
        if state.task is not None:
            return None
        own = state.view.approval_seconds if state.view else None
        return own if self.approval_seconds is None else self.approval_seconds

    def _forget(self, session: SessionId) -> None:
        self._open.pop(session, None)

    @contextlib.asynccontextmanager
    async def _reopened(
        self,
        writer: Writer,
        view: SessionView,
        policy: Policy | None,
        again: QueuedPrompt | None = None,
    ) -> AsyncGenerator[Conversation]:
        try:
            route = await self.catalog.route(view.model)
            folder = await asyncio.to_thread(self.folders.check, view.cwd)
            setup = await setup_of(self.log, view)
            # Checked anew, as the working directory is.
            await asyncio.to_thread(
                lambda: [self.folders.check(path) for path in setup.directories]
            )
            rule = self._rule(_own_policy(view) or policy, folder, view.id, setup)
            with self._room():
                talk = self._conversation(writer, route, setup, rule, again)
                self._open[view.id] = talk
            yield talk
        except BaseException:
            self._forget(view.id)
            writer.release()
            raise


def _own_policy(view: SessionView) -> Policy | None:
    return cast("Policy", view.policy) if view.own_policy else None
