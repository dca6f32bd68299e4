"""Sessions that begin as a copy of another one: made whole, or not at all."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from airboss.errors import AirbossError, Conflict, RuntimeUnavailable
from airboss.harness.session_cage import SessionCage
from airboss.harness.setup import in_settings
from airboss.log.writer import LogLine, now_ms
from airboss.model.context_events import SessionChanged
from airboss.model.events import Event, SessionOpened
from airboss.model.ids import PromptId, SessionId, is_runtime_session_name, new_session_id
from airboss.model.lineage_events import SessionForked
from airboss.model.setup import USUAL, Setup
from airboss.model.views import SessionView
from airboss.runtime.pool_key import PoolKey
from airboss.service.open_sessions import cage_owner
from airboss.service.resumed_sessions import ResumedSessions
from airboss.service.session_copy import SessionCopy, copy_of, unsettled
from airboss.service.verbs import OPEN_SECONDS, at_owner, untold
from airboss.settings import Policy
from airboss.store.bindings import BindingRow
from airboss.store.fork_leftovers import remove_fork
from airboss.store.histories import move_history

# The runtime's own copy: by which process, of which session, under which name, before when.
ForkOnRuntime: TypeAlias = Callable[[PoolKey, str, str, int | None], Awaitable[str]]
# Another process than its own finds the history of an open session on disk a moment later.
_WRITTEN_SECONDS = 1.0

_BUSY = "You can fork a session only while its agent does nothing and nothing waits. It is {}."

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ForkWish:
    """What the copy is to be: of all, or of what was before a request. What is left out is as in
    the other session."""

    before: PromptId | None = None
    policy: Policy | None = None
    setup: Setup | None = None


@dataclass
class ForkedSessions(ResumedSessions):
    fork_on_runtime: ForkOnRuntime | None = None

    @at_owner(OPEN_SECONDS, untold, opens=True)
    async def fork(self, session: str, wish: ForkWish, who: str) -> SessionView:
        """A new session with the history of this one, which stays as it is."""
        async with self.alone(session):
            view = await self.show(session)
            self._must_be_idle(view)
            copy = await copy_of(self.log, view, wish.before)
            policy = wish.policy or cast("Policy", view.policy)
            setup = await self._setup_of_copy(copy.opened.setup or USUAL, wish, policy)
            made = await self._copied(view, copy, replace(wish, setup=setup), who)
        return await self.resume(made, who, policy)

    async def _setup_of_copy(self, setup: Setup, wish: ForkWish, policy: Policy) -> Setup:
        """With other permissions it may enter a cage, or leave it."""
        setup = wish.setup or setup
        if wish.policy is None and (setup.cage is not None or self.cages.said.use != "always"):
            return setup
        said = SessionCage((in_settings(self.session_keys),), self.cages.said)
        copied = await self.cages.copied(setup, policy, said.wish(is_of_task=False))
        is_narrow = copied.cage is not None and (await self.cages.held()).kind == "narrow"
        await self._check_guests(copied, "narrow" if is_narrow else "strong")
        return copied

    def _must_be_idle(self, view: SessionView) -> None:
        talk = self._open.get(view.id)
        is_idle = view.state in ("idle", "interrupted") and not (view.turn or view.items)
        if not is_idle or view.asking or (talk is not None and talk.is_working):
            raise Conflict(_BUSY.format("working" if view.state == "idle" else view.state))

    async def _copied(
        self, view: SessionView, copy: SessionCopy, wish: ForkWish, who: str
    ) -> SessionId:
        if self.fork_on_runtime is None:
            raise Conflict("Sessions cannot be forked here.")
        new = new_session_id()
        # First: should this server end in between, the next one finds by it what is left.
        if self.bindings:
            await self.bindings.store.keep(BindingRow(new, 0, "", view.model, {}))
        try:
            await asyncio.sleep(_WRITTEN_SECONDS - min(_WRITTEN_SECONDS, _age(view)))
            runtime = await self._copied_on_runtime(view, copy, wish, new)
            if self.images:
                await self.images.copy(view.id, new)
            await self._bind(view, new, runtime, wish.setup or USUAL)
            self._must_be_idle(await self.show(view.id))  # somebody may have asked it meanwhile
            await self._write(view, new, copy, wish, runtime, who)
        except BaseException:
            await asyncio.shield(self._remove_fork(new))
            raise
        if self.bindings:
            with contextlib.suppress(AirbossError):
                await self.bindings.store.forget_half(new)
        return new

    async def _copied_on_runtime(
        self, view: SessionView, copy: SessionCopy, wish: ForkWish, new: SessionId
    ) -> str:
        """What the runtime calls it. A cage has a state of its own, which the copy is taken to."""
        if self.fork_on_runtime is None:
            raise Conflict("Sessions cannot be forked here.")
        before, setup, cwd = copy.opened.setup or USUAL, wish.setup or USUAL, Path(view.cwd)
        source = await self.cages.place(before, cwd, cage_owner(view.id, view.task))
        target = await self.cages.place(setup, cwd, cage_owner(new, None))
        place = self.homes.key(before.identity, None, source)  # any that has its home
        runtime = await self.fork_on_runtime(place, view.runtime_id, new, copy.until)
        if not is_runtime_session_name(runtime):
            raise RuntimeUnavailable("The agent runtime gave the copy a name that cannot be used.")
        if source or target:
            folders = (
                self.homes.state(before.identity, source),
                self.homes.state(setup.identity, target),
            )
            if target is not None:
                await asyncio.to_thread(self.homes.folders(target).make, target.owner)
            await asyncio.to_thread(move_history, *folders, runtime)
        return runtime

    async def _bind(self, view: SessionView, new: SessionId, runtime: str, setup: Setup) -> None:
        """The copy is bound to what the other was: its history was made for that."""
        row = await self.bindings.find(view) if self.bindings else None
        if row and self.bindings:
            home = {"home": self.homes.home(setup.identity, setup.cage)} if row.parts else {}
            changed = replace(row, session=new, number=1, runtime=runtime)
            await self.bindings.keep(replace(changed, parts={**row.parts, **home}))

    async def _write(
        self,
        view: SessionView,
        new: SessionId,
        copy: SessionCopy,
        wish: ForkWish,
        runtime: str,
        who: str,
    ) -> None:
        """In one piece: all of the new stream, and the word on it in the other."""
        talk = self._open.get(view.id)
        writer = self.log.new_writer(new)
        source = talk.writer if talk else await self.log.writer(view.id)
        changes = {"who": who, "task": None, "run": None}
        policy = {"policy": wish.policy} if wish.policy else {}
        setup = None if wish.setup == USUAL else wish.setup
        opened: SessionOpened = copy.opened.model_copy(
            update={**changes, **policy, "setup": setup, "uncaged": None}
        )
        forked = SessionForked(who=who, source=view.id, before=wish.before, runtime=runtime)
        told = SessionForked(who=who, copy_id=new, before=wish.before)
        # Over what was changed in the other one, which is copied with its events.
        switched = [SessionChanged(policy=wish.policy, who=who)] if wish.policy else []
        ends: list[Event] = [*unsettled(copy.events), forked, *switched]
        lines = [
            writer.line(opened),
            *(LogLine(writer, event, at=at) for at, event in copy.events),
            *(writer.line(event) for event in ends),
            source.line(told),
        ]
        try:
            await self.log.commit(*lines)
        finally:
            writer.release()
            if talk is None:
                source.release()

    async def _remove_fork(self, new: SessionId) -> None:
        """A fork that did not come to be."""
        try:
            if self.places:
                await asyncio.to_thread(remove_fork, self.places.folder, new)
            if self.images:
                await self.images.forget(new)
            if self.bindings:
                await self.bindings.store.forget([new])
        except AirbossError as error:  # the next server does so
            _log.warning("What is left of the fork %s cannot be removed: %s", new, error)

    async def remove_half_forks(self) -> None:
        """What an earlier server began, and did not come to the end of."""
        if self.bindings is None:
            return
        for new in await self.bindings.store.half_forks():
            if await self.log.view(new) is None:
                await self._remove_fork(SessionId(new))


def _age(view: SessionView) -> float:
    """In seconds, since it was last told something."""
    return max(0, now_ms() - view.updated_at) / 1000
