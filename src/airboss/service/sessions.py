"""Sessions: start one, ask it, stop it, read it, resume it."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from airboss.errors import AirbossError, Conflict, Invalid, NotFound
from airboss.extensions.seen import SeenExtension
from airboss.harness.agents import must_have_agent, must_serve_agents
from airboss.harness.cage_terms import InCage, Uncaged
from airboss.harness.cages import must_stay
from airboss.harness.compaction import COMPACT_SECONDS
from airboss.harness.conversation import Conversation
from airboss.harness.item_lines import with_inbox
from airboss.harness.limit_waits import held_back
from airboss.harness.prompts import NOTHING_MORE, Delivery, Extras
from airboss.harness.session_cage import check_cage
from airboss.harness.setup import Said
from airboss.harness.switching import Switch, switched
from airboss.harness.turn import AcceptedPrompt, Pause, Receipt, TurnReport
from airboss.log.follower import Follower
from airboss.model.events import (
    PromptAccepted,
    Recorded,
    SessionOpened,
    SessionPinned,
    SessionRenamed,
)
from airboss.model.ids import (
    PromptId,
    RunId,
    SessionId,
    TaskRunId,
    new_prompt_id,
    new_session_id,
    runtime_session_name,
)
from airboss.model.inbox_events import ItemSettled
from airboss.model.limits import UsageLimits
from airboss.model.setup import USUAL
from airboss.model.views import QueuedPrompt, SessionStateName, SessionView
from airboss.runtime.errands import CommandAnswer, Compaction
from airboss.service.attached import checked, must_be_seen
from airboss.service.forked_sessions import ForkedSessions
from airboss.service.open_sessions import cage_owner, runtime_names
from airboss.service.pages import StreamPage, ViewPage, page_of_events, page_of_views
from airboss.service.session_ends import (
    closing,
    give_up,
    session_of,
    withdrawn,
)
from airboss.service.session_plan import NewChat, planned_session
from airboss.service.session_setup import (
    EffectiveSetup,
    caged_setup,
    effective_setup,
    setup_of,
)
from airboss.service.turn_reports import report_of_prompt
from airboss.service.verbs import OPEN_SECONDS, at_owner, untold
from airboss.settings import Policy
from airboss.store.images import Picture
from airboss.store.views import ALL, Wanted

_SHOWN_SECONDS = 1.0
_STOPPED = "The server was stopped."
_NOT_OPEN = "The session is {}. Resume it, or start a new one."

_log = logging.getLogger(__name__)


async def _receipt(sessions: "Sessions", session: str, said: Recorded) -> Receipt:
    """Of a request that an owner before this one accepted."""
    if not isinstance(said.event, PromptAccepted):
        return await untold(sessions, session, said)
    return Receipt(said.event.prompt, said.seq, 0)


async def _queue(sessions: "Sessions", session: str, said: Recorded) -> tuple[QueuedPrompt, ...]:
    del said
    return await sessions.queue(session)


@dataclass
class Sessions(ForkedSessions):
    """All sessions of this server: those that are open, and those that are only remembered."""

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
        """Checked, then on disk before the runtime hears of it. `policy` is
        this session's own, instead of the server's. What it asks waits for as long as it takes,
        or `approval_seconds` where whoever opens it cannot decide. `said` goes over what the
        settings say about sessions. Who asks it at once need not
        wait until it is shown as ready: that is on disk with the request."""
        plan = await planned_session(self, model, cwd, said, is_of_task=task is not None)
        session, setup = new_session_id(), await self._trusted(plan.setup)
        terms = await self.cages.terms(policy or self.policy, plan.wish)
        if isinstance(terms, InCage):
            setup = await caged_setup(self.log, task, plan.folder, setup, terms.cage)
            await self._check_guests(setup, terms.kind)
            check_cage(setup.cage or terms.cage, self.homes.folder.path)
        cage = await self.cages.plan(setup, plan.folder, cage_owner(session, task))
        await self._must_have_runtime(plan.route, setup, cage)
        names = (session, runtime_session_name(session, 2))
        is_own = policy is not None or terms.policy != self.policy
        rule = self._rule(terms.policy if is_own else None, plan.folder, names, setup)
        opened = SessionOpened(
            model=plan.model,
            cwd=str(plan.folder),
            policy=rule.policy,
            who=who,
            task=task,
            run=run,
            limits=limits or UsageLimits(),
            approval_seconds=approval_seconds,
            setup=None if setup == USUAL else setup,
            uncaged=terms.why or None if isinstance(terms, Uncaged) else None,
        )
        async with self.alone(session):
            with self._room():
                writer = self.log.new_writer(session)
                try:
                    await writer.commit(opened)
                except asyncio.CancelledError as error:  # it may be on disk, or will be
                    await asyncio.shield(give_up(writer, self.redactor, error))
                    raise
                talk = self._conversation(writer, plan.route, setup, rule, cage=cage)
                self._open[session] = talk
            try:
                await talk.open(waits=waits)
            except BaseException as error:
                self._forget(session)
                await asyncio.shield(give_up(writer, self.redactor, error))
                raise
        return await self.show(session)

    async def start_chat(self, chat: NewChat) -> SessionView:
        """A person's own: here, or by a worker who has the folder where this machine has not."""
        worker = await self.find_worker(chat.cwd) if self.find_worker else None
        return await (self.start_at(worker, chat) if worker else self._start_here(chat))

    @at_owner(OPEN_SECONDS, untold)
    async def start_at(self, worker: str, chat: NewChat) -> SessionView:
        """Where the worker is whose name this is."""
        del worker
        return await self._start_here(chat)

    async def _start_here(self, chat: NewChat) -> SessionView:
        return await self.start(
            *(chat.model, chat.cwd, chat.who, chat.policy),
            limits=chat.limits,
            approval_seconds=chat.approval_seconds,
            said=chat.said,
        )

    async def setup(self, session: str) -> EffectiveSetup:
        """What it was given, and the tools that it has; also of one that is not open."""
        view = await self.show(session)
        binding = await self._binding(view)
        talk = self._open.get(view.id)
        return await effective_setup(self.log, view, talk, binding, self.grants)

    async def page(
        self,
        states: tuple[SessionStateName, ...],
        cursor: str | None,
        limit: int,
        wanted: Wanted = ALL,
    ) -> ViewPage[SessionView]:
        return await page_of_views(self.index, SessionView, states, cursor, limit, wanted)

    @at_owner(again=_receipt)
    async def prompt(
        self,
        session: str,
        text: str,
        who: str,
        delivery: Delivery = "queue",
        more: Extras = NOTHING_MORE,
    ) -> Receipt:
        """What is attached is checked first: it is there, and agents may look at it."""
        talk = await self._to_be_asked(session, text)
        if more.files or more.selection:
            more = await asyncio.to_thread(checked, self.folders, talk.setup, talk.cwd, more)
        if more.pictures or more.files:
            model = (await self.show(session)).model
            must_be_seen(more, model, self.catalog.sees(model))
        return await talk.prompt(text, who, delivery, more)

    async def picture(self, session: str, name: str) -> Picture:
        """An image of a request, as it was sent."""
        if self.images is None:
            raise NotFound("image", name)
        return await self.images.read(session, name)

    @at_owner(OPEN_SECONDS, untold)
    async def aside(self, session: str, question: str, who: str) -> str:
        """Answered from the history of an open session, without a turn."""
        return await (await self._talk(session)).aside(question, who)

    @at_owner(OPEN_SECONDS, untold)
    async def command(self, session: str, name: str, words: str) -> CommandAnswer:
        """One of the runtime's own; whoever calls this has looked whether it may be used."""
        return await (await self._talk(session)).command(name, words)

    @at_owner(COMPACT_SECONDS + OPEN_SECONDS, untold)
    async def compact(self, session: str, instructions: str | None, who: str) -> Compaction | None:
        """Replace the history of an idle session by a summary; None where there is nothing to."""
        return await (await self._talk(session)).compact(instructions, who)

    @at_owner(again=untold)
    async def shown_extensions(self, session: str) -> Sequence[SeenExtension]:
        """As they are now, in an open session."""
        host = (await self._talk(session)).extensions.host
        return await host.look() if host else ()

    @at_owner(OPEN_SECONDS, untold)
    async def reload_extensions(self, session: str) -> Sequence[SeenExtension]:
        """Stop them, look again, start them; in a running turn too."""
        if host := (await self._talk(session)).extensions.host:
            await host.reload()
        return await self.shown_extensions(session)

    async def queue(self, session: str) -> tuple[QueuedPrompt, ...]:
        """What waits, in the order in which it will be worked on."""
        return (await self.show(session)).queue

    @at_owner(again=_queue)
    async def change(
        self, session: str, prompt: str, text: str | None, position: int | None, who: str
    ) -> tuple[QueuedPrompt, ...]:
        """What a request that waits says, or its place; the queue behind that."""
        talk = await self._talk(session)
        await talk.prompts.change(PromptId(prompt), text, position, who)
        return await self.queue(session)

    @at_owner(again=_queue)
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
        *,
        plan: bool = False,
    ) -> AcceptedPrompt:
        """A request of a task: on disk like a person's, and it can be waited for. With `plan` a
        person approves what the agent is going to do first."""
        talk = await self._to_be_asked(session, text)
        return await talk.ask(text, who, task, prompt or new_prompt_id(), pause, plan=plan)

    async def report(self, session: str, prompt: PromptId) -> TurnReport:
        """What came of a request, for who was not there to wait for it."""
        return await report_of_prompt(self.log, session, prompt)

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

    @at_owner()
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

    @at_owner()
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

    @at_owner()
    async def switch(self, session: str, wanted: Switch, who: str) -> SessionView:
        """Another model, effort or policy, from the next turn on, also of one that was cut off."""
        async with self.alone(session):
            view = await self.show(session)
            own = view.instead_of or view.model
            model = own if wanted.model is None else wanted.model
            account = (await setup_of(self.log, view)).account
            route = await self.catalog.route(model, account)
            must_stay(await setup_of(self.log, view), wanted.permissions)
            said = switched(view, wanted, route.efforts, who)
            if said is not None and said.agent:
                must_have_agent(await setup_of(self.log, view), said.agent)
            if said is not None and said.model is not None:
                agents = await setup_of(self.log, view)
                await must_serve_agents(agents, self.catalog.route, route)
            if said is not None and (talk := self._open.get(view.id)):
                rule = said.policy and self._rule(
                    wanted.permissions, talk.cwd, runtime_names(view), talk.setup
                )
                await talk.change(said, route, rule or None)
            elif said is not None:
                await self._say_remembered(session, said)
        return await self.show(session)

    @at_owner()
    async def say_of(self, session: str, *said: SessionRenamed | SessionPinned) -> SessionView:
        """What people note about a session, whether it is open or not."""
        async with self.alone(session):
            view = await self.show(session)
            if talk := self._open.get(view.id):
                await talk.writer.commit(*said)
            else:
                await self._say_remembered(session, *said)
        return await self.show(session)

    async def _talk(self, session: str) -> Conversation:
        talk = self._open.get(SessionId(session))
        if talk is None:
            raise Conflict(_NOT_OPEN.format((await self.show(session)).state))
        return talk

    async def events(self, session: str, after: int, limit: int) -> StreamPage:
        return await page_of_events(self.log, session, after, limit)

    def follow(self, session: str, after: int) -> AbstractAsyncContextManager[Follower]:
        return self.log.follow(session, after)

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
