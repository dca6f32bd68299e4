"""Sessions that go on where they were cut off: asked by a person, or with what one decided."""

import contextlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from airboss.background import Background
from airboss.errors import AirbossError, Conflict, SessionGone, StoreUnavailable
from airboss.harness.item_lines import with_inbox
from airboss.harness.limit_waits import until_decided
from airboss.harness.pending_items import NOT_WAITED_FOR
from airboss.harness.retry_questions import (
    CRASHED,
    RetrySettled,
    retry_question,
    retry_question_of,
    retry_settled,
)
from airboss.harness.turn import AcceptedPrompt, Pause, Receipt, Request
from airboss.log.doubt import once_known
from airboss.model.events import (
    Event,
    SessionResumed,
)
from airboss.model.ids import PromptId, SessionId
from airboss.model.inbox_events import ItemSettled
from airboss.model.views import SessionView
from airboss.service.cut_calls import cut_call_of, is_of
from airboss.service.open_sessions import OpenSessions
from airboss.service.session_ends import (
    interrupt_left_open,
    interrupt_sessions,
    pending_items_of,
    session_of,
    stay_interrupted,
)
from airboss.service.turn_effects import effect_calls_of
from airboss.service.unanswered_items import resumes, unanswered_items_of
from airboss.service.verbs import OPEN_SECONDS, at_owner, nothing
from airboss.settings import Policy

_log = logging.getLogger(__name__)


@dataclass
class ResumedSessions(OpenSessions):
    """Those that an earlier server had open, or a runtime that died."""

    # Those that a decision resumes: what the recovery found, and the work on it.
    _decided: dict[SessionId, str] = field(default_factory=dict[SessionId, str])
    _resuming: Background = field(default_factory=lambda: Background("sessions"))

    async def show(self, session: str) -> SessionView:
        """The session as of its own seq: a stream that begins there misses and repeats nothing."""
        return session_of(await self.log.view(session), session)

    @at_owner(OPEN_SECONDS, opens=True)
    async def resume(self, session: str, who: str, policy: Policy | None = None) -> SessionView:
        """Go on with an interrupted session, when the runtime still has it. As when it was
        started, `policy` is its own; without one it has what the server allows now. One that
        waited for a person when it was cut off goes on with that turn."""
        async with self.alone(session):
            view = await self.show(session)
            if view.id in self._open:
                return view
            # Opening, and nobody opens it: somebody decided, and it is resumed for that.
            if view.state not in ("interrupted", "opening"):
                raise Conflict(
                    f"The session is {view.state}. You can resume only an interrupted session."
                )
            try:
                await self._resume(session, who, policy)
            except AirbossError as error:
                if not self._stopping:  # else the next server resumes it
                    await stay_interrupted(self.log, self.inbox, self.redactor, session, error)
                    if self.on_unresumed:
                        with contextlib.suppress(StoreUnavailable):
                            await self.on_unresumed(view.id)
                raise
        return await self.show(session)

    async def _resume(self, session: str, who: str, policy: Policy | None) -> None:
        writer = await self.log.writer(session)
        # As in `close`: the writer has waited for what was accepted meanwhile.
        view = session_of(writer.view, session)
        pending = await unanswered_items_of(self.log, view)
        cut = await cut_call_of(self.log, view)
        told_of = None if view.state == "opening" else who
        async with self._reopened(writer, view, policy, pending.held) as talk:
            if pending:
                talk.pending.keep(pending.waiting, pending.decided)
            if (not pending and cut is None) or pending.held:
                await talk.resume(told_of)
                return
            prompt = pending.prompt or (cut.prompt if cut else None)
            if not await talk.go_on(told_of, prompt, Request()):
                talk.pending.withdraw_kept()

    async def go_on(
        self, session: str, prompt: PromptId, who: str, policy: Policy, pause: Pause | None
    ) -> AcceptedPrompt | None:
        """Resume an interrupted session in the middle of a turn that waits for a person. None where
        it does not, or the runtime does not know it any more."""
        await until_decided(self.log, self.budgets, session, prompt, pause)
        async with self.alone(session):
            # It waits for what was said a moment ago: that the session was cut off.
            writer = await self.log.writer(session)
            view = session_of(writer.view, session)
            is_asking = view.items or view.asking == prompt
            if view.state != "interrupted" or not (
                is_asking or is_of(await cut_call_of(self.log, view), prompt)
            ):
                return None
            request = Request(view.task, pause)
            try:
                async with self._reopened(writer, view, policy) as talk:
                    talk.pending.keep(view.items)
                    goes_on = await talk.go_on(who, prompt, request)
            except SessionGone:
                return None
        receipt = Receipt(prompt, view.seq, 0)
        return AcceptedPrompt(receipt, request.answer) if goes_on else None

    @at_owner(again=nothing, opens=True)
    async def settle(self, session: str, settled: ItemSettled) -> None:
        """A person's word on what the session asked; also while it waits to be resumed. It resumes
        a session that is a person's own."""
        if talk := self._open.get(SessionId(session)):
            await talk.pending.settle(settled)
            return
        async with self.alone(session):
            if talk := self._open.get(SessionId(session)):  # meanwhile
                await talk.pending.settle(settled)
                return
            view = await self.show(session)
            asked = next((item.asked for item in view.items if item.id == settled.item), None)
            if asked is None:
                raise Conflict(NOT_WAITED_FOR)
            who = settled.who if view.task is None and resumes(asked, settled) else None
            # On disk with the decision: where this server ends, the next one resumes it.
            resumed = [SessionResumed(who=who)] if who and not view.is_open else []
            try:
                await self._say_remembered(session, settled, *resumed, keeps=bool(resumed))
            except StoreUnavailable as error:
                if who:
                    once_known(error, partial(self._resume_soon, view.id, who))
                raise
        if who:
            self._resume_soon(view.id, who)

    async def ask_retry(
        self, session: str, effects: Sequence[str], pause: Pause | None
    ) -> RetrySettled:
        """Whether what was asked in a session that crashed may be asked in another one. The agent
        is gone while a person thinks about that; the question outlives this server."""
        async with self.alone(session):
            if talk := self._open.get(SessionId(session)):
                with contextlib.suppress(AirbossError):  # it ended by itself
                    await talk.interrupt(CRASHED)
                self._forget(talk.session)
            found = await retry_question_of(self.log, session)
            if found is None:
                calls = await effect_calls_of(self.log, session)
                await self._say_remembered(session, retry_question(effects, calls))
        return await retry_settled(self.log, session, pause)

    async def withdraw_retry(self, session: str) -> None:
        found = await retry_question_of(self.log, session)
        if found is not None and found.settled is None:
            with contextlib.suppress(Conflict):  # somebody was faster
                settled = ItemSettled(item=found.asked.item, outcome="cancelled")
                await self.settle(session, settled)

    def come_in(self, url: str) -> None:
        """Somebody signed in at a server: the open sessions that have it try it again."""
        for talk in self._open.values():
            for name, server in talk.setup.mcp_servers.items():
                if server.url == url:
                    work = f"{name} of {talk.session}"
                    self._resuming.start_if_open(talk.come_in(name), work)

    async def _say_remembered(self, session: str, *said: Event, keeps: bool = False) -> None:
        """In a session that is not open. What nobody had is nobody's again, unless this server
        `keeps` it, to go on with it."""
        if keeps:
            writer = await self.log.writer(session)
            await self.log.commit(*with_inbox(writer, self.inbox, *said))
            writer.release()
            return
        async with self.log.word(session) as writer:
            await self.log.commit(*with_inbox(writer, self.inbox, *said))

    async def recover(self) -> dict[SessionId, str]:
        """Sessions that an earlier server had open are interrupted; answers which they were, with
        what the runtime calls each."""
        found = await interrupt_left_open(self.log, self.index, self.inbox)
        self._decided = {name: left.decided_by for name, left in found.items() if left.decided_by}
        return {name: left.runtime_id for name, left in found.items()}

    async def interrupt(self, views: Iterable[SessionView]) -> None:
        """Sessions of a worker that is gone. Nobody resumes one here with a decision that its agent
        was not told: its history may be elsewhere."""
        await interrupt_sessions(self.log, self.inbox, views, resumes=False)

    async def decided_by(self, view: SessionView) -> str | None:
        """Who decided something that the agent of this session, which is left open, was not
        told."""
        return (await pending_items_of(self.log, view)).who

    async def leave(self, names: Iterable[SessionId], reason: str) -> None:
        """Open ones that another worker goes on with."""
        for name in names:
            talk = self._open.get(name)
            if talk is None:
                continue
            async with self.alone(name):
                with contextlib.suppress(AirbossError):  # it ended by itself
                    await talk.interrupt(reason)
            self._forget(name)

    def resume_decided(self) -> None:
        """Behind the recovery: the sessions whose agents were not told yet what was decided."""
        for session, who in self._decided.items():
            self._resume_soon(session, who)

    def _resume_soon(self, session: SessionId, who: str, is_said: bool = True) -> None:
        if is_said:
            self._resuming.start_if_open(self._resume_decided(session, who), f"resume {session}")

    async def _resume_decided(self, session: SessionId, who: str) -> None:
        try:
            await self.resume(session, who)
        except AirbossError as error:  # the session says so as well
            _log.info("Session %s was not resumed with a decision: %s", session, error)
