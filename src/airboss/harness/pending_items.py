"""Where one session's agent waits for people: approvals and questions, each settled once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict
from typing import Final, Protocol, TypeAlias, TypeVar

from airboss.errors import Conflict, StoreUnavailable, TooLarge
from airboss.harness.allowances import ruling_of
from airboss.harness.approvals import answer_of, approval_of
from airboss.harness.item_lines import (
    is_asked_again,
    not_used,
    reason_of,
    why_withdrawn,
    with_inbox,
)
from airboss.harness.item_marks import call_mark, mark_of, plain_mark
from airboss.harness.limits import Reached
from airboss.harness.permissions import MustAsk, PolicyRule, record, unread
from airboss.harness.plans import (
    EXIT_PLAN_MODE,
    NOT_PLANNING,
    answer_text_of_plan,
    plan_of,
    while_planning,
)
from airboss.harness.questions import answer_text_of, question_of
from airboss.harness.risks import risk_of
from airboss.harness.rule_options import rule_options
from airboss.harness.session_state import SessionState, WaitingItem
from airboss.harness.subjects import was_cut
from airboss.harness.turn import CalledAway, Pause
from airboss.log.doubt import once_known
from airboss.log.writer import LogLine, commit, now_ms, say
from airboss.model.events import Event
from airboss.model.ids import PromptId, SessionId, new_item_id
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    InboxItem,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.rules import KeptRule
from airboss.runtime.hooks import ToolUse
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.tools import OutsideCall, ToolRefusal

Held = TypeVar("Held", LimitReached, SignInAsked)

# The kind of a request that a check of the gate made, not the runtime.
_BY_A_HOOK: Final = "hook"
# How often the same was decided before, in an earlier attempt at the same mission.
EarlierDecisions: TypeAlias = "dict[str, list[ItemSettled]]"
_RULING_SECONDS: Final = 15.0
NOT_ASKED_AGAIN: Final = "The agent was resumed and no longer asks for this."
NOT_WAITED_FOR: Final = "This is no longer needed: the agent continued or was stopped."


class RulesInForce(Protocol):
    """The rules that people wrote down, as they are now: they are kept above this layer."""

    @property
    def current(self) -> tuple[KeptRule, ...]: ...


# Reads them from what earlier sessions of the same task said: above this layer, too.
FindEarlierDecisions: TypeAlias = Callable[[SessionId, PromptId], Awaitable[EarlierDecisions]]


class PendingItems:
    """What one session asks of people. An approval counts as a no after `seconds`; without them it
    waits for as long as it takes."""

    def __init__(
        self,
        state: SessionState,
        rule: PolicyRule,
        rules: RulesInForce,
        find_earlier: FindEarlierDecisions,
        seconds: float | None,
    ) -> None:
        self._state = state
        self.rule = rule
        self._rules = rules
        self._find_earlier = find_earlier
        self._seconds = seconds
        # What was asked before the session was cut off, by the call that it is about and what that
        # does. The runtime asks for it again, `_to_come` times in all.
        self._kept: dict[str, WaitingItem] = {}
        self._to_come = 0
        self._earlier: tuple[PromptId, EarlierDecisions] | None = None
        # Left as it is: the next server goes on with it.
        self._is_left = False

    @property
    def _rule(self) -> PolicyRule:
        """The one that counts now."""
        turn = self._state.turn
        return while_planning(self.rule) if turn and turn.planning else self.rule

    def keep(
        self, items: Iterable[InboxItem], decided: Iterable[tuple[Asked, ItemSettled]] = ()
    ) -> None:
        """What was asked before the session was cut off, and what was decided since."""
        for asked in (item.asked for item in items):
            if mark := mark_of(asked):
                self._kept[mark] = WaitingItem(asked)
            else:  # nothing asks for it again
                self._withdraw(WaitingItem(asked), why_withdrawn(asked) or NOT_ASKED_AGAIN)
        for asked, settled in decided:
            if mark := mark_of(asked):
                waiting = self._kept[mark] = WaitingItem(asked, is_taken=True)
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
                self._state.writer.say(not_used(waiting.asked, settled))

    async def decide(self, request: PermissionRequest) -> PermissionAnswer:
        """By rules, by policy, or by a person; written down in any case."""
        async with asyncio.timeout(_RULING_SECONDS):  # a disk may hang; no answer is a no
            rules, view, allowed = self._rules.current, self._state.view, self._state.allowed
            ruling = await asyncio.to_thread(ruling_of, self._rule, request, rules, view, allowed)
        ruling = unread(request, ruling) or ruling
        answer, by, rule = ruling.answer, ruling.by, ruling.rule
        if isinstance(answer, MustAsk) or (answer.allowed and self._is_decided(request.call)):
            why = answer.why if isinstance(answer, MustAsk) else ""
            try:
                settled = await self.ask_person(request, why)
            except TooLarge as refused:
                return self._refuse(request, refused)
            answer = answer_of(settled)
            by, rule = f"person {settled.who}" if settled.who else "nobody", None
        else:
            self._asked_again()
        if not self._is_left:
            await self._state.decided(record(request, answer, by, self._state.redactor, rule))
        return answer

    def _refuse(self, request: PermissionRequest, refused: TooLarge) -> PermissionAnswer:
        """Nobody is asked, also not by what an earlier version had shown a part of."""
        self._withdraw_cut(request.call)
        if request.kind != _BY_A_HOOK:
            self._asked_again()
        answer = PermissionAnswer(False, str(refused))
        self._state.say_decided(record(request, answer, "size", self._state.redactor))
        return answer

    async def ask_person(self, requested: PermissionRequest, why: str) -> ItemSettled:
        prompt, pause, redactor = self._state.prompt, self._state.pause, self._state.redactor
        options = await asyncio.to_thread(rule_options, requested, self._rule, redactor)
        risk = await asyncio.to_thread(risk_of, requested, self._rule.cwd)
        fresh = await asyncio.to_thread(
            approval_of,
            requested,
            why=why,
            options=options,
            risk=risk,
            prompt=prompt,
            expires_at=self.expires_at(),
            redactor=redactor,
        )
        self._withdraw_cut(requested.call)
        kept = self._kept.pop(call_mark(requested.call, fresh.fingerprint), None)
        if requested.kind != _BY_A_HOOK:
            self._asked_again()
        if kept is not None:
            return await self._wait(kept, pause)
        settled = await self._decided_before(fresh.fingerprint, prompt, requested.call)
        return settled or await self._ask(fresh, pause)

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
            return answer_of(await self.ask_person(request, why)).allowed
        except TooLarge as refused:
            return self._refuse(request, refused).allowed

    async def answer(self, call: OutsideCall) -> str | ToolRefusal:
        """The agent's question gets a person's answer, and its plan a person's word."""
        if call.tool == EXIT_PLAN_MODE:
            return await self._answer_plan(call)
        prompt, pause = self._state.prompt, self._state.pause
        # There is no deadline for a question unless somebody sets one.
        question = question_of(call, prompt=prompt, expires_at=None, redactor=self._state.redactor)
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
            return answer_text_of(await self._ask(question, pause))
        return answer_text_of(await self._wait(kept, pause))

    async def _answer_plan(self, call: OutsideCall) -> str | ToolRefusal:
        prompt, pause, turn = self._state.prompt, self._state.pause, self._state.turn
        text = await self._state.opened_agent.plan()
        plan = plan_of(call, text, prompt=prompt, redactor=self._state.redactor)
        mark = plain_mark(plan) if isinstance(plan, PlanAsked) else ""
        kept = self._kept.pop(call_mark(call.call, mark), None)
        self._asked_again()
        if isinstance(plan, ToolRefusal):
            return plan
        if kept is not None:
            settled = await self._wait(kept, pause)
        else:
            settled = await self._decided_before(mark, prompt, call.call)
        if settled is None and not (turn and turn.planning):
            return ToolRefusal(NOT_PLANNING)
        settled = settled or await self._ask(plan, pause)
        # The same turn goes on; from here on it may do what its session may.
        if turn is not None:
            turn.planning = turn.planning and settled.outcome != "approved"
        return answer_text_of_plan(settled)

    async def ask_limit(self, reached: Reached) -> tuple[LimitReached, ItemSettled]:
        """A person says whether the work goes on, however long that takes."""
        said = asdict(reached)
        return await self.ask_by_mark(
            LimitReached(item=new_item_id(), prompt=self._state.prompt, **said)
        )

    async def ask_by_mark(self, asked: Held) -> tuple[Held, ItemSettled]:
        """What no call of the agent is about; the one that was asked before, where there is one."""
        mark, pause = plain_mark(asked), self._state.pause
        kept = self._kept.pop(mark, None)
        if kept is not None and isinstance(kept.asked, type(asked)):
            return kept.asked, await self._wait(kept, pause)
        if settled := await self._decided_before(mark, self._state.prompt):
            return asked, settled
        return asked, await self._ask(asked, pause)

    async def ask_switch(self, model: str, reason: str | None, seconds: int | None) -> ItemSettled:
        """A person says whether the turn goes on with another model."""
        asked = SwitchAsked(
            item=new_item_id(),
            model=model,
            reason=reason,
            retry_seconds=seconds,
            prompt=self._state.prompt,
            expires_at=self.expires_at(),
        )
        return await self._ask(asked, self._state.pause)

    def expires_at(self) -> int | None:
        return None if self._seconds is None else now_ms() + int(self._seconds * 1000)

    def _withdraw_questions(self) -> None:
        """There is one question at a time: a new one takes the place of the one before."""
        for waiting in self._state.waiting.values():
            if isinstance(waiting.asked, QuestionAsked):
                self._withdraw(waiting)

    async def _ask(self, asked: Asked, pause: Pause | None) -> ItemSettled:
        # Whoever reads it in the log may decide at once.
        waiting = self._state.wait_for(asked)
        try:
            # One moment for both: the item is the same, wherever it is read.
            await commit(*self._lines(asked, at=(at := now_ms())), at=at)
        except asyncio.CancelledError:  # it may be on disk, or will be
            del self._state.waiting[asked.item]
            self._give_up(waiting)
            raise
        except BaseException:
            del self._state.waiting[asked.item]
            raise
        return await self._wait(waiting, pause)

    def _lines(self, *events: Event, at: int | None = None) -> list[LogLine]:
        return with_inbox(self._state.writer, self._state.inbox, *events, at=at)

    async def _decided_before(
        self, mark: str, prompt: PromptId | None, call: str | None = None
    ) -> ItemSettled | None:
        """In an attempt that was cut off: nobody decides twice."""
        if prompt is None:
            return None
        if self._earlier is None or self._earlier[0] != prompt:
            self._earlier = (prompt, await self._find_earlier(self._state.session, prompt))
        found = self._earlier[1]
        decided = found.get(call_mark(call, mark)) or found.get(mark)
        return decided.pop(0) if decided else None

    async def _wait(self, waiting: WaitingItem, pause: Pause | None) -> ItemSettled:
        asked = waiting.asked
        self._state.waiting[asked.item] = waiting
        self._state.files.asked(self._state.writer, asked)
        try:
            async with self._state.paused(pause, reason_of(asked), asked.item):
                return await self._heard(waiting)
        except CalledAway:  # whatever was decided, nothing goes on
            return ItemSettled(item=asked.item, outcome="cancelled")

    async def _heard(self, waiting: WaitingItem) -> ItemSettled:
        try:
            return await self._settled(waiting)
        except asyncio.CancelledError:
            self._give_up(waiting)
            raise
        finally:
            self._state.waiting.pop(waiting.asked.item, None)
            self._state.files.settled(waiting.asked)

    def _give_up(self, waiting: WaitingItem) -> None:
        """Nobody waits for it any more; unless it was left for the next server."""
        if not waiting.is_taken and not self._is_left:
            self._say(ItemSettled(item=waiting.asked.item, outcome="cancelled"))

    async def _settled(self, waiting: WaitingItem) -> ItemSettled:
        expires_at = waiting.asked.expires_at
        seconds = None if expires_at is None else max(0.0, (expires_at - now_ms()) / 1000)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(waiting.answer)
        except TimeoutError:
            if said := await waiting.said_in_time():
                return said
            late = ItemSettled(item=waiting.asked.item, outcome="timeout")
            self._say(late)
            return late

    def _say(self, settled: ItemSettled) -> None:
        say(*self._lines(settled))

    async def settle(self, settled: ItemSettled) -> None:
        """A person's word; of several the first counts, and it is on disk when this answers."""
        # Also in the moment before the resumed agent asks for it again.
        kept = {waiting.asked.item: waiting for waiting in self._kept.values()}
        waiting = (kept | self._state.beside | self._state.waiting).get(settled.item)
        if waiting is None or waiting.is_taken:
            raise Conflict(NOT_WAITED_FOR)
        waiting.is_taken = True
        try:
            await commit(*self._lines(settled))
        except StoreUnavailable as error:
            once_known(error, lambda is_written: waiting.decide(settled, is_written))
            raise
        waiting.decide(settled, True)

    def cancel(self) -> None:
        """Whoever asked needs no answer any more; also what an earlier server had asked."""
        for waiting in (*self._kept.values(), *self._state.waiting.values()):
            self._withdraw(waiting)
        self._kept.clear()

    def _withdraw(self, waiting: WaitingItem, reason: str | None = None) -> None:
        if not waiting.is_taken:
            waiting.is_taken = True
            cancelled = ItemSettled(item=waiting.asked.item, outcome="cancelled", reason=reason)
            self._say(cancelled)
            waiting.answer.set_result(cancelled)

    def leave(self) -> None:
        """The session is cut off; what it asked stays asked if it will be asked for again."""
        if self._state.is_lent:
            self.cancel()
        for waiting in () if self._state.task else self._state.waiting.values():
            if not is_asked_again(waiting.asked):
                self._withdraw(waiting, why_withdrawn(waiting.asked))
        self._is_left = not self._state.is_lent
