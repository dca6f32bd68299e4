"""Sessions: start one, ask it, stop it, read it, resume it."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from airboss.background import Background
from airboss.errors import AirbossError, Conflict, Invalid, SessionGone
from airboss.harness.conversation import Conversation
from airboss.harness.limit_waits import held_back, until_decided
from airboss.harness.pending_items import NOT_WAITED_FOR, with_inbox
from airboss.harness.prompts import Delivery
from airboss.harness.setup import Said, SetupPlan, in_settings
from airboss.harness.switching import Switch, switched
from airboss.harness.turn import AcceptedPrompt, Pause, Receipt, Request
from airboss.log.log import Follower
from airboss.model.events import (
    Event,
    SessionOpened,
    SessionPinned,
    SessionRenamed,
    SessionResumed,
)
from airboss.model.ids import PromptId, RunId, SessionId, TaskRunId, new_prompt_id, new_session_id
from airboss.model.inbox_events import ItemSettled
from airboss.model.limits import UsageLimits
from airboss.model.setup import USUAL
from airboss.model.views import QueuedPrompt, SessionStateName, SessionView
from airboss.runtime.errands import Compaction
from airboss.service.open_sessions import OpenSessions
from airboss.service.pages import StreamPage, ViewPage, page_of_events, page_of_views
from airboss.service.session_ends import (
    closing,
    give_up,
    interrupt_left_open,
    session_of,
    stay_interrupted,
    withdrawn,
)
from airboss.service.session_setup import EffectiveSetup, effective_setup
from airboss.service.turn_effects import effects_of_prompt
from airboss.service.unanswered_items import resumes, unanswered_items_of
from airboss.settings import Policy
from airboss.store.images import Pictures
from airboss.store.views import ALL, Wanted

_SHOWN_SECONDS = 1.0
_STOPPED = "The server was stopped."
_NOT_OPEN = "The session is {}. Resume it, or start a new one."

_log = logging.getLogger(__name__)


@dataclass
class Sessions(OpenSessions):
    """All sessions of this server: those that are open, and those that are only remembered."""

    # Those that a decision resumes: what the recovery found, and the work on it.
    _decided: dict[SessionId, str] = field(default_factory=dict[SessionId, str])
    _resuming: Background = field(default_factory=lambda: Background("sessions"))

    async def start(
        self,
        model: str | None,
        cwd: str | None,
        who: str,
        policy: Policy | None = None,
        *,
        task: TaskRunId | None = None,
        run: RunId | None = None,
        limits: UsageLimits | None = None,
        approval_seconds: float | None = None,
        waits: bool = True,
        said: Sequence[Said] = (),
    ) -> SessionView:
        """Checked in the order model, folder; on disk before the runtime hears of it. `policy` is
        this session's own, instead of the server's. What it asks waits for as long as it takes,
        or `approval_seconds` where whoever opens it cannot decide. `said` goes over what the
        settings say about sessions. Who asks it at once need not
        wait until it is shown as ready: that is on disk with the request."""
        wanted = await self.catalog.default() if model is None else model
        route = await self.catalog.route(wanted)
        folder = await asyncio.to_thread(self.folders.check, cwd)
        session = new_session_id()
        plan = SetupPlan((in_settings(self.session_keys), *said))
        plan.check_effort(wanted, route.efforts)
        plan.check_tools()
        beside = await asyncio.to_thread(plan.find_directories, folder, self.folders.check)
        setup = plan.made(self.redactor.text, beside)
        rule = self._rule(policy, folder, session, setup)
        opened = SessionOpened(
            model=wanted,
            cwd=str(folder),
            policy=rule.policy,
            who=who,
            task=task,
            run=run,
            limits=limits or UsageLimits(),
            approval_seconds=approval_seconds,
            setup=None if setup == USUAL else setup,
        )
        async with self.alone(session):
            with self._room():
                writer = self.log.new_writer(session)
                try:
                    await writer.commit(opened)
                except asyncio.CancelledError as error:  # it may be on disk, or will be
                    await asyncio.shield(give_up(writer, self.redactor, error))
                    raise
                talk = self._open[session] = self._conversation(writer, route, setup, rule)
            try:
                await talk.open(waits=waits)
            except BaseException as error:
                self._forget(session)
                await asyncio.shield(give_up(writer, self.redactor, error))
                raise
        return await self.show(session)

    async def show(self, session: str) -> SessionView:
        """The session as of its own seq: a stream that begins there misses and repeats nothing."""
        return session_of(await self.log.view(session), session)

    async def setup(self, session: str) -> EffectiveSetup:
        """What it was given, and the tools that it has; also of one that is not open."""
        view = await self.show(session)
        return await effective_setup(self.log, view, self._open.get(view.id))

    async def page(
        self,
        states: tuple[SessionStateName, ...],
        cursor: str | None,
        limit: int,
        wanted: Wanted = ALL,
    ) -> ViewPage[SessionView]:
        return await page_of_views(self.index, SessionView, states, cursor, limit, wanted)

    async def prompt(
        self, session: str, text: str, who: str, delivery: Delivery = "queue", shown: Pictures = ()
    ) -> Receipt:
        talk = await self._to_be_asked(session, text)
        return await talk.prompt(text, who, delivery, shown)

    async def aside(self, session: str, question: str, who: str) -> str:
        """Answered from the history of an open session, without a turn."""
        return await (await self._talk(session)).aside(question, who)

    async def compact(self, session: str, instructions: str | None, who: str) -> Compaction | None:
        """Replace the history of an idle session by a summary; None where there is nothing to."""
        return await (await self._talk(session)).compact(instructions, who)

    async def queue(self, session: str) -> tuple[QueuedPrompt, ...]:
        """What waits, in the order in which it will be worked on."""
        return (await self.show(session)).queue

    async def change(
        self, session: str, prompt: str, text: str | None, position: int | None, who: str
    ) -> tuple[QueuedPrompt, ...]:
        """What a request that waits says, or its place; the queue behind that."""
        talk = await self._talk(session)
        await talk.prompts.change(PromptId(prompt), text, position, who)
        return await self.queue(session)

    async def drop(self, session: str, prompt: str | None, who: str) -> tuple[QueuedPrompt, ...]:
        """One request that waits, or all that people made; the queue behind that."""
        prompts = (await self._talk(session)).prompts
        await (prompts.clear(who) if prompt is None else prompts.drop(PromptId(prompt), who))
        return await self.queue(session)

    async def ask(
        self,
        session: str,
        text: str,
        who: str,
        task: TaskRunId,
        prompt: PromptId | None = None,
        pause: Pause | None = None,
    ) -> AcceptedPrompt:
        """A request of a task: on disk like a person's, and it can be waited for."""
        talk = await self._to_be_asked(session, text)
        return await talk.ask(text, who, task, prompt or new_prompt_id(), pause)

    async def effects(self, session: str, prompt: PromptId) -> tuple[str, ...]:
        """The tools that may have done something for this request, if it was the last."""
        return await effects_of_prompt(self.log, session, prompt)

    async def withdraw(self, session: str, prompt: PromptId) -> None:
        """What was asked is not worked on, or no longer; the session goes on."""
        if not self.is_open(session) and (asked := held_back(await self.show(session), prompt)):
            await self.settle(session, ItemSettled(item=asked.item, outcome="cancelled"))
        await (await self._talk(session)).withdraw(prompt)

    async def _to_be_asked(self, session: str, text: str) -> Conversation:
        talk = await self._talk(session)
        if not text.strip():
            raise Invalid("The message must not be empty.")
        await asyncio.to_thread(self.folders.check, str(talk.cwd))
        return talk

    async def abort(self, session: str) -> SessionView:
        """The answer shows the session behind the end of the turn that was running."""
        if not self.is_open(session):
            return await self._abort_remembered(session)
        turn = await (await self._talk(session)).abort()
        view = await self.show(session)
        async with self.log.follow(session, view.seq) as follower:
            while turn and view.turn == turn and await follower.next(_SHOWN_SECONDS):
                view = await self.show(session)
        return view

    async def _abort_remembered(self, session: str) -> SessionView:
        """A turn that was cut off while it waited for a person: it does not go on."""
        async with self.alone(session):
            view = await self.show(session)
            if self.is_open(session) or view.task is not None or not view.items:
                raise Conflict(_NOT_OPEN.format(view.state))
            await self._say_remembered(session, *withdrawn(view.items))
        return await self.show(session)

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
            await self.log.commit(*with_inbox(writer, self.inbox, *closing(view, who)))
        writer.release()

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
                raise
        return await self.show(session)

    async def _resume(self, session: str, who: str, policy: Policy | None) -> None:
        writer = await self.log.writer(session)
        # As in `close`: the writer has waited for what was accepted meanwhile.
        view = session_of(writer.view, session)
        pending = await unanswered_items_of(self.log, view)
        told_of = None if view.state == "opening" else who
        async with self._reopened(writer, view, policy, pending.held) as talk:
            if pending:
                talk.pending.keep(pending.waiting, pending.decided)
            if not pending or pending.held:
                await talk.resume(told_of)
                return
            if not await talk.go_on(told_of, pending.prompt, Request()):
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
            if view.state != "interrupted" or not (view.items or view.asking == prompt):
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
            await self._say_remembered(session, settled, *resumed)
        if who:
            self._resume_soon(view.id, who)

    async def switch(self, session: str, wanted: Switch, who: str) -> SessionView:
        """Another model, effort or policy, from the next turn on, also of one that was cut off."""
        async with self.alone(session):
            view = await self.show(session)
            model = view.model if wanted.model is None else wanted.model
            route = await self.catalog.route(model)
            said = switched(view, wanted, route.efforts, who)
            if said is not None and (talk := self._open.get(view.id)):
                rule = said.policy and self._rule(wanted.permissions, talk.cwd, view.id, talk.setup)
                await talk.change(said, route, rule or None)
            elif said is not None:
                await self._say_remembered(session, said)
        return await self.show(session)

    async def say_of(self, session: str, *said: SessionRenamed | SessionPinned) -> SessionView:
        """What people note about a session, whether it is open or not."""
        async with self.alone(session):
            view = await self.show(session)
            if talk := self._open.get(view.id):
                await talk.note(*said)
            else:
                await self._say_remembered(session, *said)
        return await self.show(session)

    async def _say_remembered(self, session: str, *said: Event) -> None:
        """In a session that is not open."""
        writer = await self.log.writer(session)
        await self.log.commit(*with_inbox(writer, self.inbox, *said))
        writer.release()

    def _resume_soon(self, session: SessionId, who: str) -> None:
        self._resuming.start_if_open(self._resume_decided(session, who), f"resume {session}")

    async def _resume_decided(self, session: SessionId, who: str) -> None:
        try:
            await self.resume(session, who)
        except AirbossError as error:  # the session says so as well
            _log.info("Session %s was not resumed with a decision: %s", session, error)

    async def _talk(self, session: str) -> Conversation:
        talk = self._open.get(SessionId(session))
        if talk is None:
            raise Conflict(_NOT_OPEN.format((await self.show(session)).state))
        return talk

    async def events(self, session: str, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, session, after, limit)

    def follow(self, session: str, after: int) -> AbstractAsyncContextManager[Follower]:
        return self.log.follow(session, after)

    async def recover(self) -> list[SessionId]:
        """Sessions that an earlier server had open are interrupted; answers which they were."""
        found = await interrupt_left_open(self.log, self.index, self.inbox)
        self._decided = {session: who for session, who in found.items() if who}
        return list(found)

    def resume_decided(self) -> None:
        """Behind the recovery: the sessions whose agents were not told yet what was decided."""
        for session, who in self._decided.items():
            self._resume_soon(session, who)

    async def stop(self) -> None:
        """The server ends: every open session is interrupted, all at the same time. One that is
        still opening loses its runtime, or its caller, a moment later."""
        self._stopping = True
        await self._resuming.close(cancel=True)  # the next server does so
        async with asyncio.TaskGroup() as group:
            for talk in list(self._open.values()):
                if talk.is_ready:
                    group.create_task(self._stop_one(talk))

    async def _stop_one(self, talk: Conversation) -> None:
        async with self.alone(talk.session):
            with contextlib.suppress(AirbossError):  # it ended by itself, or the disk is full
                await talk.interrupt(_STOPPED)
        self._forget(talk.session)
