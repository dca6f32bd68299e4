"""Which sessions are open, how many may be, and what each is opened with."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from weakref import WeakValueDictionary

from airboss.errors import AirbossError, Invalid, RuntimeUnavailable, TooMuch
from airboss.extensions.host import ExtensionHost
from airboss.extensions.room import ExtensionRoom
from airboss.harness.accounts import Accounts
from airboss.harness.binding import Bindings, Holder, bound_to, default_holder, wishes
from airboss.harness.cage_guests import check_folders, check_guests, outside
from airboss.harness.cages import Cages
from airboss.harness.conversation import Conversation
from airboss.harness.earlier_decisions import earlier_decisions_of
from airboss.harness.file_waits import FileWaits
from airboss.harness.homes import Homes
from airboss.harness.models import Catalog, Route
from airboss.harness.open_cages import OpenCages
from airboss.harness.pending_items import RulesInForce
from airboss.harness.permissions import PolicyRule
from airboss.harness.server_grants import ServerGrants
from airboss.harness.session_state import SessionState, SharedBudgets
from airboss.harness.session_terms import OpenSession, SessionTerms
from airboss.harness.switching import AIRBOSS
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.context_events import SessionChanged
from airboss.model.excerpt import MOST_CHARACTERS
from airboss.model.ids import SessionId, runtime_session_name
from airboss.model.policies import may_be_caged
from airboss.model.redaction import Redactor
from airboss.model.setup import Setup
from airboss.model.views import QueuedPrompt, SessionView
from airboss.runtime.cage.plan import CageKind, CagePlan
from airboss.runtime.pool import Pool
from airboss.service.attached import checked
from airboss.service.folders import Folders
from airboss.service.named_files import must_be_as_trusted, must_be_trusted, trusted_hooks
from airboss.service.session_setup import EffectiveBinding, setup_of
from airboss.service.trust import Trust
from airboss.session_keys import NOTHING_SET, SessionSettings
from airboss.settings import LoopDetection, OnRateLimit, Policy
from airboss.store.images import Images
from airboss.store.places import Places
from airboss.store.views import ViewIndex

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy
    from airboss.service.owners import Owners


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
    accounts: Accounts
    homes: Homes
    pool: Pool
    inbox: Writer
    rules: RulesInForce
    budgets: SharedBudgets
    # So long a decision is waited for in a person's session, where somebody set a limit.
    approval_seconds: float | None
    quiet_seconds: float
    mcp_wait_seconds: float
    max_sessions: int
    loop_detection: LoopDetection = field(default_factory=LoopDetection)
    images: Images | None = None
    places: Places | None = None
    max_block: int = MOST_CHARACTERS
    auto_switch: OnRateLimit = "ask"
    # What is said about every session, in the settings.
    session_keys: SessionSettings = NOTHING_SET
    # The server's own environment, of which MCP servers are given what is named.
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    # What lets sessions in at MCP servers where a person signed in.
    grants: ServerGrants | None = None
    # Who trusts which skills and programs of entries.
    trust: Trust | None = None
    # What each is bound to, and whose it is on a route.
    bindings: Bindings | None = None
    holder: Callable[[Route, Setup], Holder] = default_holder
    # Which of them work in a cage.
    cages: Cages = field(default_factory=Cages)
    open_cages: OpenCages = field(default_factory=OpenCages)
    # The way to sessions of other processes on the same database.
    owners: "Owners | None" = None
    # Of several on one database, this machine, by its name.
    machine: str | None = None
    # Which other worker opens a chat in a folder; None: this one does.
    find_worker: Callable[[str | None], Awaitable[str | None]] | None = None
    # Told of one that could not be resumed here, where another server may be able to.
    on_unresumed: Callable[[SessionId], Awaitable[None]] | None = None
    # Whether somebody follows the work as traces.
    is_traced: bool = False
    # What the programs of hooks run in: as agents' commands, without secrets.
    hook_environ: Mapping[str, str] = field(default_factory=dict[str, str])
    # Who hosts their extensions.
    extensions: ExtensionRoom | None = None
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

    async def room(self) -> None:
        """Until a runtime may have become free."""
        await self.pool.room()

    async def spare_cage(self) -> bool:
        """The cage of the chat that is idle for longest ends; whether there was one."""
        idle = [talk for talk in self._open.values() if talk.is_ready and talk.rest.may_rest]
        for talk in sorted(idle, key=lambda talk: talk.rest.last_at):
            if not talk.rest.is_resting and await talk.rest.rest():
                return True
        return False

    async def _must_have_runtime(self, route: Route, setup: Setup, cage: CagePlan | None) -> None:
        """Refused where there are as many runtimes as there may be, and all are in use."""
        logins = self.accounts.order(setup.account, route.accounts)
        login = None if route.provider is not None else next(iter(logins), None)
        grant = login and self.accounts.unread(login)
        await self.pool.must_have_room(self.homes.key(setup.identity, grant, cage))

    def _rule(
        self, policy: Policy | None, folder: Path, names: Sequence[str], setup: Setup
    ) -> PolicyRule:
        """`names` are those that the runtime has for the session, or will have."""
        given, own = policy is not None, self.places.own(*names) if self.places else ()
        beside = tuple(map(Path, setup.beside))
        return PolicyRule(
            policy or self.policy,
            folder,
            given,
            self.folders.protected,
            own,
            beside,
            is_caged=setup.cage is not None,
            outside=outside(setup),
        )

    async def _check_guests(self, setup: Setup, kind: CageKind) -> None:
        """Refused where the session brings what does not fit into its cage."""
        check_guests(setup, kind)
        if setup.cage is not None and setup.beside:
            await asyncio.to_thread(check_folders, setup, self.homes.folder.path)

    def _kept_policy(self, view: SessionView, setup: Setup) -> Policy | None:
        """One that was opened in a cage asks nobody there, as long as the server lets it."""
        is_kept = setup.cage is not None and may_be_caged(self.policy, view.policy)
        return "caged" if is_kept else None

    async def _trusted(self, setup: Setup) -> Setup:
        """Refused where a file of its skills, servers or hooks is not what somebody trusted."""
        if self.trust is not None:
            if setup.skills_need_trust:
                await must_be_trusted(self.trust, setup.skills)
            scripts = [Path(one) for server in setup.mcp_servers.values() for one in server.scripts]
            await must_be_as_trusted(self.trust, "mcpServers", scripts)
        return await trusted_hooks(self.trust, setup)

    def _conversation(
        self,
        writer: Writer,
        route: Route,
        setup: Setup,
        rule: PolicyRule,
        again: QueuedPrompt | None = None,
        cage: CagePlan | None = None,
    ) -> Conversation:
        state = SessionState(
            writer,
            self.inbox,
            self.redactor,
            self.budgets,
            again,
            self._files,
            is_traced=self.is_traced,
        )
        terms = SessionTerms(
            route=route,
            setup=setup,
            rule=rule,
            rules=self.rules,
            open_session=self.open_session,
            proxy=self.proxy,
            environ=self.environ,
            accounts=self.accounts,
            homes=self.homes,
            find_earlier=partial(earlier_decisions_of, self.log),
            approval_seconds=self._approval_seconds(state),
            quiet_seconds=self.quiet_seconds,
            mcp_wait_seconds=self.mcp_wait_seconds,
            loop_detection=self.loop_detection,
            max_block=self.max_block,
            auto_switch=self.auto_switch,
            machine=self.machine,
            images=self.images,
            grants=self.grants,
            bindings=self.bindings,
            holder=self.holder,
            cage=cage,
            open_cages=self.open_cages,
            route_of=self.catalog.route,
            hook_environ=self.hook_environ,
            extensions=self.extensions and partial(ExtensionHost, self.extensions),
            check_attached=partial(checked, self.folders, setup),
            end_cages=self.pool.end_cages,
            caging=cage and partial(self.pool.programs, self.homes.key(setup.identity, None, cage)),
        )
        return Conversation(state, terms, self._forget)

    def _approval_seconds(self, state: SessionState) -> float | None:
        """What is set for the server holds over what the session was opened with."""
        if state.task is not None:
            return None
        own = state.view.approval_seconds if state.view else None
        return own if self.approval_seconds is None else self.approval_seconds

    async def _binding(self, view: SessionView) -> EffectiveBinding:
        """As it is known, and whether all of it is still so."""
        row, fits = None, None
        with contextlib.suppress(AirbossError):
            row = await self.bindings.find(view) if self.bindings else None
            setup = await setup_of(self.log, view)
            route = await self.catalog.route(view.instead_of or view.model, setup.account)
            cwd = await asyncio.to_thread(self.folders.check, view.cwd)
            now = bound_to(route, str(cwd), self.holder(route, setup))
            fits = row is None or now.why_not(row.parts, wishes(view, row)) is None
        parts = dict(row.parts) if row else {}
        return EffectiveBinding(view.runtime_number, view.runtime_id, parts, fits)

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
            setup = await setup_of(self.log, view)
            route = await self.catalog.route(view.instead_of or view.model, setup.account)
            folder = await asyncio.to_thread(self.folders.check, view.cwd)
            await asyncio.to_thread(_check_beside, self.folders, setup)
            setup = await self._trusted(setup)
            own = _own_policy(view) or policy or self._kept_policy(view, setup)
            rule = self._rule(own, folder, runtime_names(view), setup)
            cage = await self.cages.plan(setup, folder, cage_owner(view.id, view.task))
            if view.instead_of is not None:
                await writer.commit(SessionChanged(model=view.instead_of, who=AIRBOSS))
            with self._room():
                talk = self._conversation(writer, route, setup, rule, again, cage)
                self._open[view.id] = talk
            yield talk
        except BaseException:
            self._forget(view.id)
            writer.release()
            raise


def _check_beside(folders: Folders, setup: Setup) -> None:
    """Anew, as the working directory is."""
    for key, paths in (("directories", setup.directories), ("skills", setup.skills)):
        for path in paths:
            try:
                folders.check(path)
            except Invalid as error:
                again = "Put it back, or start a new session."
                raise Invalid(f"{key}: {error} {again}") from None


def cage_owner(session: str, task: str | None) -> str:
    """Whose a cage is: the sessions of a task run share one, and a person's has its own."""
    return task or session


def runtime_names(view: SessionView) -> tuple[str, ...]:
    """Of the runtime's session in use, and of the next one, should it be gone."""
    return view.runtime_id, runtime_session_name(view.id, view.runtime_number + 1)


def _own_policy(view: SessionView) -> Policy | None:
    return cast("Policy", view.policy) if view.own_policy else None
