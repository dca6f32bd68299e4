"""The work of one session: its requests become turns, one after another."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from airboss.errors import AirbossError, RuntimeUnavailable
from airboss.harness.hook_facts import built_prompt
from airboss.harness.limit_guard import LIMIT_REACHED, LimitGuard
from airboss.harness.prompts import Prompts
from airboss.harness.server_sign_ins import SignInRequests
from airboss.harness.session_state import SessionState
from airboss.harness.turn import Turn
from airboss.harness.turn_events import TurnEvents
from airboss.model.traces import traced
from airboss.model.views import QueuedPrompt
from airboss.runtime.runtime_process import RuntimeRefused
from airboss.runtime.session import RuntimeSession

# A runtime that died is noticed within this time, and told to us as a loss.
_NOTICED_SECONDS = 2.0

_log = logging.getLogger(__name__)


class TurnWork:
    """Takes requests from the queue and sees each through. `doors` are held while a turn begins:
    a compaction and an abort are over by then, or wait."""

    def __init__(
        self,
        state: SessionState,
        prompts: Prompts,
        events: TurnEvents,
        guard: LimitGuard,
        agent: Callable[[], Awaitable[RuntimeSession]],
        doors: tuple[asyncio.Lock, asyncio.Lock],
        sign_ins: SignInRequests,
    ) -> None:
        self._state = state
        self._prompts = prompts
        self._events = events
        self._guard = guard
        self._agent = agent
        self._doors = doors
        self._sign_ins = sign_ins

    async def go_on(self) -> None:
        """Until it is cancelled."""
        while True:
            turn, asked = await self._begin()
            try:
                await self._take_turn(turn, asked)
            except Exception as error:  # noqa: BLE001  # a fault of ours ends one turn only
                _log.exception("A turn of session %s failed", self._state.session)
                self._state.fail_turn(turn, type(error).__name__, f"A bug in Airboss: {error}")
                self._events.end_if_still(turn, None)

    async def _begin(self) -> tuple[Turn, QueuedPrompt]:
        """The turn of the next request."""
        queue = self._state.queue
        compacting, aborting = self._doors
        while True:
            await queue.some()
            if self._state.turn is not None:  # the runtime woke the agent by itself: let it finish
                await self._state.turn.over.wait()
            await self._prompts.settled()
            # An abort sweeps: what the next turn starts is not meant.
            async with compacting, aborting:
                if prompt := queue.first:
                    await self._prompts.take_back(prompt)
                if prompt and self._state.turn is None:
                    asked, request = queue.waiting(prompt), queue.take(prompt)
                    if request and asked:
                        return self._events.start_turn(prompt, request, asked.mode), asked

    async def _take_turn(self, turn: Turn, asked: QueuedPrompt) -> None:
        refusal = await self._guard.hold(turn, before_turn=True)
        if refusal is not None:
            if refusal.reason is not None:
                self._state.fail_turn(turn, LIMIT_REACHED, refusal.reason)
            self._events.end_if_still(turn, "aborted")
            turn.put.set()
            return
        try:
            with traced(turn.trace):
                await self._send(turn, asked)
        except AirbossError as error:
            if isinstance(error, RuntimeUnavailable) and not isinstance(error, RuntimeRefused):
                await asyncio.sleep(_NOTICED_SECONDS)  # a loss is told once, and ends this task
            if not turn.over.is_set():
                self._state.fail_turn(turn, type(error).__name__, str(error))
                self._events.end_if_still(turn, None)
        turn.put.set()
        await self._events.see_through(turn)

    async def _send(self, turn: Turn, asked: QueuedPrompt) -> None:
        agent = await self._agent()
        if turn.over.is_set():
            return
        if not await self._sign_ins.hold(turn, agent):
            self._events.end_if_still(turn, "aborted")
            return
        # A task's request has no attachments, and looking for them takes a thread.
        more = None if turn.is_of_task else await self._prompts.attachments_of(asked)
        turn.images = len(asked.images or ())
        text = await built_prompt(self._state.hooks, asked.text, turn.images, turn.over)
        if text is not None:
            self._guard.sent(turn)
            await agent.send(text, more, plan=turn.planning, is_wanted=turn.claim)
