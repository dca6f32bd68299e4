"""Keeps one session within its limits: counts what it uses, asks where one is reached."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from airboss.background import Background
from airboss.harness.limits import Budget, Reached
from airboss.harness.pending_items import PendingItems
from airboss.harness.permissions import record
from airboss.harness.session_state import SessionState
from airboss.harness.turn import CalledAway, Pause, Turn, within
from airboss.model.events import TurnUsage
from airboss.model.inbox_events import ItemSettled, granted_by
from airboss.model.usage import Spent, Usage
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.signals import UsageSeen

LIMIT_REACHED: Final = "LimitReached"


@dataclass(frozen=True)
class Refusal:
    """The work does not go on. Without a reason it was stopped, and needs none."""

    reason: str | None = None


class LimitGuard:
    """`multiplier` is that of the session's model."""

    def __init__(
        self, state: SessionState, pending: PendingItems, multiplier: float | None
    ) -> None:
        self._state = state
        self._pending = pending
        self.multiplier = multiplier
        # Where another session of the same work asks: it waits for the same answer.
        self._shared: set[asyncio.Future[None]] = set()
        self._heard_at = 0.0
        self._sign_of_life = asyncio.Event()
        self._listening = Background("limits", state.session)

    # What is used.

    def begin(self, turn: Turn) -> None:
        self._state.watch.start()
        self._heard_at = time.monotonic()
        if any(budget.limits.idle_minutes is not None for budget in self._state.budgets):
            self._listening.start(self._listen(turn), turn.id)

    def sent(self, turn: Turn) -> None:
        self._spend(turn, Usage(turns=1, multiplier=self.multiplier))

    def count(self, turn: Turn | None, seen: UsageSeen) -> None:
        """Every call counts, also one that is told behind the end of its turn."""
        spent = Spent(
            requests=1,
            input_tokens=seen.input_tokens,
            output_tokens=seen.output_tokens,
            cached_tokens=seen.cached_tokens,
            cost=seen.cost,
        )
        usage = Usage(sub_agents=spent) if seen.sub_agent else Usage(**dict(spent))
        if turn is not None:
            usage += Usage(milliseconds=self._state.watch.lap())
        self._spend(turn, usage)
        said = TurnUsage(turn=turn.id if turn else None, usage=usage, parent=seen.parent)
        self._state.writer.say(said, urgent=False)

    def end(self, turn: Turn) -> None:
        self._lap(turn)
        self._listening.cancel()

    async def close(self) -> None:
        """The session ends, and what was begun for it."""
        await self._listening.close(cancel=True)

    def _lap(self, turn: Turn) -> None:
        if milliseconds := self._state.watch.lap():
            self._spend(turn, Usage(milliseconds=milliseconds))

    def _spend(self, turn: Turn | None, usage: Usage) -> None:
        if turn is not None:
            turn.usage += usage
        for budget in self._state.budgets:
            budget.spend(usage)

    # Where a limit is reached.

    async def decide(self, request: PermissionRequest) -> PermissionAnswer:
        """What an agent wishes for is looked at when it may go on at all."""
        turn = self._state.turn
        refusal = None if turn is None else await self.hold(turn)
        if turn is None or refusal is None:
            return await self._pending.decide(request)
        if refusal.reason is None:
            return PermissionAnswer(allowed=False, reason="It was stopped.")
        answer = PermissionAnswer(allowed=False, reason=refusal.reason)
        self._state.say_decided(record(request, answer, "limit", self._state.redactor))
        self._state.stop_turn(turn, LIMIT_REACHED, refusal.reason)
        return answer

    async def hold(self, turn: Turn, *, before_turn: bool = False) -> Refusal | None:
        """Comes when the work may go on, or is not to."""
        self._lap(turn)
        for budget in self._state.budgets:
            while reached := budget.reached(before_turn=before_turn):
                if budget.is_asked:
                    may_go_on = await self._wait_for_others(budget, reached)
                    if not may_go_on or turn.over.is_set() or self._state.turn is not turn:
                        return Refusal()
                    continue
                settled = await self._ask(budget, reached)
                if settled.outcome != "go-on":
                    return Refusal(_reason(reached, settled))
        return None

    async def _ask(self, budget: Budget, reached: Reached) -> ItemSettled:
        budget.is_asked = True
        try:
            asked, settled = await self._pending.ask_limit(reached)
            if settled.outcome == "go-on":
                budget.grant([granted_by(asked)])
            return settled
        finally:
            budget.release()

    async def _wait_for_others(self, budget: Budget, reached: Reached) -> bool:
        """Another session of the same work asks just now: one answer is enough."""
        answered = asyncio.get_running_loop().create_future()
        budget.waiting.append(answered)
        self._shared.add(answered)
        reason = f"your decision: {reached} is reached"
        try:
            async with self._state.paused(self._state.pause, reason, answered):
                await answered
        except CalledAway:
            return False
        finally:
            self._shared.discard(answered)
        return True

    def cancel(self) -> None:
        """The turn is stopped: it waits for nobody."""
        for answered in self._shared:
            if not answered.done():
                answered.set_result(None)

    # An agent that says nothing.

    def hear(self) -> None:
        self._heard_at = time.monotonic()
        self._sign_of_life.set()

    async def _listen(self, turn: Turn) -> None:
        while not turn.over.is_set():
            if self._state.is_held:
                self._heard_at = time.monotonic()
            quiet = time.monotonic() - self._heard_at
            reached = [budget.idle(quiet / 60) for budget in self._state.budgets]
            first = next((one for one in reached if one), None)
            if first is None:
                await within(self._until_due(quiet), turn.over)
            elif not await self._goes_on(first, turn):
                return

    def _until_due(self, quiet: float) -> float:
        limits = [budget.limits.idle_minutes for budget in self._state.budgets]
        least = min((limit for limit in limits if limit is not None), default=1.0)
        return max(0.05, least * 60 - quiet)

    async def _goes_on(self, reached: Reached, turn: Turn) -> bool:
        """Whoever speaks first is heard: the person, or the agent."""
        self._sign_of_life.clear()
        pause = self._state.pause
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(self._pending.ask_limit(reached))
            alive = group.create_task(self._sign_of_life.wait())
            over = group.create_task(turn.over.wait())
            await asyncio.wait({asking, alive, over}, return_when=asyncio.FIRST_COMPLETED)
            for waiting in (asking, alive, over):
                waiting.cancel()
        if asking.cancelled():
            return await self._has_place(pause, turn)
        _, settled = asking.result()
        self._heard_at = time.monotonic()
        if settled.outcome == "go-on" or turn.over.is_set():
            return True
        if reason := _reason(reached, settled):
            self._state.stop_turn(turn, LIMIT_REACHED, reason)
        return False

    async def _has_place(self, pause: Pause | None, turn: Turn) -> bool:
        """The agent goes on before anybody could give it a place: it takes one behind that."""
        if pause is not None and not turn.over.is_set():
            try:
                await pause.end()
            except CalledAway:
                return False
        return not turn.over.is_set()


def _reason(reached: Reached, settled: ItemSettled) -> str | None:
    if not settled.who:
        return None
    return f"{settled.who} denied more work at {reached} ({reached.used:g} used)."
