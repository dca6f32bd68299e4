"""Where one session's agent waits for people: approvals and questions, each settled once."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Final, Protocol, TypeAlias

from airboss.errors import Conflict, StoreUnavailable, TooLarge
from airboss.harness.approvals import answer_of, approval_of
from airboss.harness.item_marks import call_mark, mark_of, plain_mark
from airboss.harness.limits import Budget, Reached, Stopwatch
from airboss.harness.permissions import MustAsk, PolicyRule, record, unread
from airboss.harness.questions import answer_text_of, question_of
from airboss.harness.subjects import was_cut
from airboss.harness.turn import Request
from airboss.log.writer import Writer, now_ms
from airboss.model.events import SessionError
from airboss.model.ids import ItemId, PromptId, SessionId, TaskRunId, new_item_id
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    InboxItem,
    ItemSettled,
    LimitReached,
    QuestionAsked,
)
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule
from airboss.model.views import SessionView
from airboss.runtime.hooks import ToolUse
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.tools import OutsideCall, ToolRefusal

_log = logging.getLogger(__name__)

# The kind of a request that a check of the gate made, not the runtime.
_BY_A_HOOK: Final = "hook"
# How often the same was decided before, in an earlier attempt at the same mission.
EarlierDecisions: TypeAlias = "dict[str, list[ItemSettled]]"
_RULING_SECONDS: Final = 15.0
NOT_ASKED_AGAIN: Final = "The agent was resumed, and does not ask for this any more."
NOT_WAITED_FOR: Final = "Nobody waits for this any more: whoever asked went on or was stopped."


class Office(Protocol):
    """What all sessions have in common: rules, the one list, limits, what was decided before."""

    @property
    def rules(self) -> tuple[KeptRule, ...]: ...

    def arrived(self, item: InboxItem) -> None: ...

    def settled(self, session: SessionId, settled: ItemSettled) -> None: ...

    async def earlier_decisions(self, session: SessionId, prompt: PromptId) -> EarlierDecisions: ...

    def budgets(self, task: TaskRunId | None) -> tuple[Budget, ...]:
        """What whoever works for this task run may use, the narrowest first."""
        ...


@dataclass
class _Waiting:
    """An item that waits. `is_taken` while what was decided is being written down."""

    asked: Asked
    answer: "asyncio.Future[ItemSettled]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    is_taken: bool = False


@dataclass
class PendingItems:
    """What one session asks of people. `seconds` is how long somebody who is there is waited for;
    without it nobody is there, and it waits for as long as it takes."""

    session: SessionId
    writer: Writer
    rule: PolicyRule
    redactor: Redactor
    office: Office
    seconds: float | None
    # The request that is being worked on, with its prompt.
    at_work: Callable[[], tuple[PromptId | None, Request | None]]
    # The time at work: it stands still while something is asked here.
    watch: Stopwatch = field(default_factory=Stopwatch)
    _open: dict[ItemId, _Waiting] = field(default_factory=dict[ItemId, _Waiting])
    # What was asked before the session was cut off, by the call that it is about and what that
    # does. The runtime asks for it again, `_to_come` times in all.
    _kept: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    _to_come: int = 0
    _earlier_decisions: "tuple[PromptId, EarlierDecisions] | None" = None
    # Left as it is: the next server goes on with it.
    _is_left: bool = False

    def keep(
        self, items: Iterable[InboxItem], decided: Iterable[tuple[Asked, ItemSettled]] = ()
    ) -> None:
        """What was asked before the session was cut off, and what was decided since."""
        for asked in (item.asked for item in items):
            if mark := mark_of(asked):
                self._kept[mark] = _Waiting(asked)
        for asked, settled in decided:
            if mark := mark_of(asked):
                waiting = self._kept[mark] = _Waiting(asked, is_taken=True)
                waiting.answer.set_result(settled)

    def expect(self, requests: int) -> None:
        """The runtime asks again for so much. What it has asked for by then is all there is."""
        self._to_come = requests

    def _asked_again(self) -> None:
        self._to_come -= 1
        if self._to_come == 0:
            self.withdraw_kept()

    def withdraw_kept(self) -> None:
        """What is not asked for again: nobody can decide it, and what was decided is not used."""
        kept, self._kept = self._kept, {}
        for waiting in kept.values():
            self._withdraw(waiting, NOT_ASKED_AGAIN)
            if waiting.answer.done() and (settled := waiting.answer.result()).who:
                self.writer.say(_not_used(waiting.asked, settled))

    @property
    def items(self) -> tuple[Asked, ...]:
        return tuple(waiting.asked for waiting in self._open.values())

    async def decide(self, request: PermissionRequest) -> PermissionAnswer:
        """By rules, by policy, or by a person; written down in any case."""
        async with asyncio.timeout(_RULING_SECONDS):  # a disk may hang; no answer is a no
            ruling = await asyncio.to_thread(self.rule.decide, request, self.office.rules)
        answer, by = unread(request, ruling) or ruling.answer, ruling.by
        if isinstance(answer, MustAsk) or (answer.allowed and self._is_decided(request.call)):
            why = answer.why if isinstance(answer, MustAsk) else ""
            try:
                settled = await self._leave(request, why)
            except TooLarge as refused:
                return self._refuse(request, refused)
            answer = answer_of(settled)
            by = f"person {settled.who}" if settled.who else "nobody"
        else:
            self._asked_again()
        if not self._is_left:
            self.writer.say(record(request, answer, by, self.redactor))
        return answer

    def _refuse(self, request: PermissionRequest, refused: TooLarge) -> PermissionAnswer:
        """Nobody is asked, also not by what an earlier version had shown a part of."""
        self._withdraw_cut(request.call)
        if request.kind != _BY_A_HOOK:
            self._asked_again()
        answer = PermissionAnswer(False, str(refused))
        self.writer.say(record(request, answer, "size", self.redactor))
        return answer

    async def _leave(self, requested: PermissionRequest, why: str) -> ItemSettled:
        prompt, request = self.at_work()
        rule = await asyncio.to_thread(self.rule.suggest, requested, self.redactor)
        fresh = await asyncio.to_thread(
            approval_of,
            requested,
            why=why,
            rule=rule,
            prompt=prompt,
            expires_at=self._expires_at(),
            redactor=self.redactor,
        )
        self._withdraw_cut(requested.call)
        kept = self._kept.pop(call_mark(requested.call, fresh.fingerprint), None)
        if requested.kind != _BY_A_HOOK:
            self._asked_again()
        if kept is not None:
            return await self._wait(kept, request)
        settled = await self._decided_before(fresh.fingerprint, prompt, requested.call)
        return settled or await self._ask(fresh, request)

    def _withdraw_cut(self, call: str | None) -> None:
        """What an earlier version showed only a part of decides about nothing."""
        for mark, kept in list(self._kept.items()):
            asked = kept.asked
            if isinstance(asked, ApprovalAsked) and asked.call == call and was_cut(asked):
                self._withdraw(self._kept.pop(mark))

    def _is_decided(self, call: str | None) -> bool:
        """By a person, about this call: what rules and policy say by now comes too late for it."""
        return any(
            isinstance(kept.asked, ApprovalAsked) and kept.asked.call == call and kept.is_taken
            for kept in self._kept.values()
        )

    async def permit(self, use: ToolUse, why: str) -> bool:
        """For a check of the gate that wants a person asked, whatever rules and policy say."""
        raw = {"toolName": use.tool, "toolArgs": dict(use.arguments)}
        request = PermissionRequest("", None, _BY_A_HOOK, use.tool, (), None, None, use.tool, raw)
        try:
            return answer_of(await self._leave(request, why)).allowed
        except TooLarge as refused:
            return self._refuse(request, refused).allowed

    async def answer(self, call: OutsideCall) -> str | ToolRefusal:
        """The agent's question gets a person's answer."""
        prompt, request = self.at_work()
        # There is no deadline for a question unless somebody sets one.
        question = question_of(call, prompt=prompt, expires_at=None, redactor=self.redactor)
        if isinstance(question, ToolRefusal):
            return question
        mark = plain_mark(question)
        kept = self._kept.pop(call_mark(call.call, mark), None)
        self._asked_again()
        if kept is None:
            settled = await self._decided_before(mark, prompt, call.call)
            if settled is not None:
                return answer_text_of(settled)
            self._withdraw_questions()
            return answer_text_of(await self._ask(question, request))
        return answer_text_of(await self._wait(kept, request))

    async def ask_limit(self, reached: Reached) -> tuple[LimitReached, ItemSettled]:
        """A person says whether the work goes on, however long that takes."""
        prompt, request = self.at_work()
        asked = LimitReached(item=new_item_id(), prompt=prompt, **asdict(reached))
        mark = plain_mark(asked)
        kept = self._kept.pop(mark, None)
        if kept is not None and isinstance(kept.asked, LimitReached):
            return kept.asked, await self._wait(kept, request)
        if settled := await self._decided_before(mark, prompt):
            return asked, settled
        return asked, await self._ask(asked, request)

    def _expires_at(self) -> int | None:
        return None if self.seconds is None else now_ms() + int(self.seconds * 1000)

    def _withdraw_questions(self) -> None:
        """There is one question at a time: a new one takes the place of the one before."""
        for waiting in self._open.values():
            if isinstance(waiting.asked, QuestionAsked):
                self._withdraw(waiting)

    async def _ask(self, asked: Asked, request: Request | None) -> ItemSettled:
        # Whoever reads it in the log may decide at once.
        waiting = self._open[asked.item] = _Waiting(asked)
        try:
            await self.writer.commit(asked)
        except BaseException:
            del self._open[asked.item]
            raise
        if not waiting.is_taken:  # meanwhile: then nobody is to be called for it
            self._announce(asked)
        return await self._wait(waiting, request)

    def _announce(self, asked: Asked) -> None:
        view = self.writer.view
        items = view.items if isinstance(view, SessionView) else ()
        for item in items:
            if item.id == asked.item:
                try:
                    self.office.arrived(item)
                except Exception:  # noqa: BLE001 (the border: it waits all the same)
                    _log.exception("Nobody could be told that %s waits.", item.id)

    async def _decided_before(
        self, mark: str, prompt: PromptId | None, call: str | None = None
    ) -> ItemSettled | None:
        """In an attempt that was cut off: nobody decides twice."""
        if prompt is None:
            return None
        if self._earlier_decisions is None or self._earlier_decisions[0] != prompt:
            self._earlier_decisions = (
                prompt,
                await self.office.earlier_decisions(self.session, prompt),
            )
        found = self._earlier_decisions[1]
        decided = found.get(call_mark(call, mark)) or found.get(mark)
        return decided.pop(0) if decided else None

    async def _wait(self, waiting: _Waiting, request: Request | None) -> ItemSettled:
        asked = waiting.asked
        self._open[asked.item] = waiting
        self.watch.hold()
        pause = request.pause if request else None
        if pause is not None:
            pause.begin(reason_of(asked))
        try:
            settled = await self._settled(waiting)
        except asyncio.CancelledError:
            if not waiting.is_taken and not self._is_left:
                self._say(ItemSettled(item=asked.item, outcome="cancelled"))
            raise
        finally:
            self._open.pop(asked.item, None)
            if not self._open:
                self.watch.go_on()
        if pause is not None and not self._open:
            await pause.end()
        return settled

    async def _settled(self, waiting: _Waiting) -> ItemSettled:
        expires_at = waiting.asked.expires_at
        seconds = None if expires_at is None else max(0.0, (expires_at - now_ms()) / 1000)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(waiting.answer)
        except TimeoutError:
            if waiting.is_taken:
                return await waiting.answer
            late = ItemSettled(item=waiting.asked.item, outcome="timeout")
            self._say(late)
            return late

    def _say(self, settled: ItemSettled) -> None:
        self.writer.say(settled)
        self.office.settled(self.session, settled)

    async def settle(self, settled: ItemSettled) -> None:
        """A person's word; of several the first counts, and it is on disk when this answers."""
        # Also in the moment before the resumed agent asks for it again.
        kept = {waiting.asked.item: waiting for waiting in self._kept.values()}
        waiting = self._open.get(settled.item) or kept.get(settled.item)
        if waiting is None or waiting.is_taken:
            raise Conflict(NOT_WAITED_FOR)
        waiting.is_taken = True
        try:
            await self.writer.commit(settled)
        except StoreUnavailable:
            waiting.is_taken = False
            raise
        if not waiting.answer.done():
            waiting.answer.set_result(settled)
        self.office.settled(self.session, settled)

    def cancel(self) -> None:
        """Whoever asked needs no answer any more; also what an earlier server had asked."""
        for waiting in (*self._kept.values(), *self._open.values()):
            self._withdraw(waiting)
        self._kept.clear()

    def _withdraw(self, waiting: _Waiting, reason: str | None = None) -> None:
        if not waiting.is_taken:
            waiting.is_taken = True
            cancelled = ItemSettled(item=waiting.asked.item, outcome="cancelled", reason=reason)
            self._say(cancelled)
            waiting.answer.set_result(cancelled)

    def leave(self, *, is_sent_again: bool) -> None:
        """The session is cut off; what it asked stays asked. Unless the request `is_sent_again`,
        that holds only for what the runtime asks for again."""
        if not is_sent_again:
            for waiting in self._open.values():
                if not is_asked_again(waiting.asked):
                    self._withdraw(waiting)
        self._is_left = True


def is_asked_again(asked: Asked) -> bool:
    """Whether a session that is resumed in the middle of its turn comes back to it. It does not
    where a check of the gate asked, and where the agent only said nothing for long."""
    if isinstance(asked, LimitReached):
        return asked.limit != "idleMinutes"
    return asked.call is not None


def _not_used(asked: Asked, settled: ItemSettled) -> SessionError:
    message = (
        f"The agent was resumed, and does not ask any more for what {settled.who} decided "
        f"({settled.outcome}). Nothing was done with that; ask it again for what you want."
    )
    return SessionError(name="DecisionNotUsed", message=message, cause=reason_of(asked))


def reason_of(asked: Asked) -> str:
    match asked.kind:
        case "approval.asked":
            return f"a person to decide: {asked.title}"
        case "question.asked":
            return f"a person to answer: {asked.question}"
        case "limit.reached":
            limit = f"{asked.allowed:g} {asked.limit} of the {asked.scope}"
            return f"a person to decide: the limit of {limit} is reached"
