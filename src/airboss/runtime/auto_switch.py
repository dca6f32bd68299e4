"""The runtime's offer to go on with a model of the service's choice where one is at its limit."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.model.events import Event
from airboss.runtime.amounts import known_count_of
from airboss.runtime.requests import SayToRuntime
from airboss.runtime.signals import Compacted, Retrying, Signal, TurnFailed, TurnIdle

Told: TypeAlias = Event | Signal | Compacted

# The runtime changes the model and ends its turn: what was asked stands in the history, unanswered.
_GO_ON: Final = "Go on with the request above. Another model was busy; you take its place."
_SWITCHED: Final = "the model is at its rate limit, so the service chooses another (auto)"


@dataclass(frozen=True)
class SwitchOffer:
    """In the service's words, and after how many seconds the model can be asked again."""

    reason: str | None
    retry_seconds: int | None


DecideSwitch: TypeAlias = Callable[[SwitchOffer], Awaitable[bool]]


class AutoSwitch:
    """Of one session. Until it is decided whether the turn goes on, its failure is not told."""

    def __init__(
        self,
        decide: DecideSwitch | None,
        say: SayToRuntime,
        send: Callable[[str], Awaitable[object]],
        tell: Callable[[Told], None],
        beside: Background,
    ) -> None:
        self._decide = decide
        self._say = say
        self._send = send
        self._tell = tell
        self._beside = beside
        self._failed: list[Told] = []
        self._is_asked = False
        self._said_yes = False
        self._settled = asyncio.Event()

    def for_the_sdk(self) -> Callable[..., Awaitable[str]] | None:
        """Its presence makes the runtime ask; the answer is ours, from the raw event."""

        async def no_answer(*_: object) -> str:
            await self._settled.wait()
            return "no"

        return no_answer if self._decide else None

    def hear(self, raw: Mapping[str, Any], said: Sequence[Told]) -> Sequence[Told]:
        """What is to be told of it now."""
        if self._decide is None or raw.get("agentId"):
            return said
        data: Mapping[str, Any] = raw.get("data") or {}
        match raw.get("type"):
            case "auto_mode_switch.requested":
                self._is_asked = True
                self._settled.clear()
                self._beside.start(self._answer(self._decide, data), "auto switch")
            case "auto_mode_switch.completed" if self._is_asked:
                self._is_asked = False
                self._said_yes = str(data.get("response")).startswith("yes")
                self.release()
                return [*said, Retrying(_SWITCHED)] if self._said_yes else said
            case "session.error" if data.get("eligibleForAutoSwitch"):
                self._failed = [one for one in said if isinstance(one, TurnFailed)]
                return [one for one in said if not isinstance(one, TurnFailed)]
            case "assistant.turn_start":
                self._failed, self._is_asked, self._said_yes = [], False, False
            case "session.idle":
                return self._end(said)
            case _:
                pass
        return said

    def release(self) -> None:
        """Nobody decides any more."""
        self._settled.set()

    def _end(self, said: Sequence[Told]) -> Sequence[Told]:
        failed, self._failed = self._failed, []
        goes_on, self._said_yes = self._said_yes, False
        # On a busy machine the end of the turn comes before the word that our answer was heard.
        is_untold, self._is_asked = self._is_asked, False
        self.release()
        is_aborted = any(isinstance(one, TurnIdle) and one.aborted for one in said)
        if is_aborted:
            return said
        if not goes_on:
            return [*failed, *said]
        self._beside.start(self._go_on(), "goes on")
        told = [one for one in said if not isinstance(one, TurnIdle)]
        return [*told, Retrying(_SWITCHED)] if is_untold else told

    async def _go_on(self) -> None:
        try:
            await self._send(_GO_ON)
        except AirbossError as error:
            self._tell(TurnFailed(type(error).__name__, str(error)))
            self._tell(TurnIdle())

    async def _answer(self, decide: DecideSwitch, data: Mapping[str, Any]) -> None:
        """Where deciding fails, the answer is no."""
        from copilot import rpc

        seconds, reason = known_count_of(data.get("retryAfterSeconds")), data.get("errorCode")
        offer = SwitchOffer(reason and str(reason), seconds)
        try:
            yes = await decide(offer) is True
        except Exception:  # noqa: BLE001  # the border: whatever failed, the answer is no
            yes = False
        self._said_yes = yes
        word = rpc.UIAutoModeSwitchResponse.YES if yes else rpc.UIAutoModeSwitchResponse.NO
        answer = rpc.UIHandlePendingAutoModeSwitchRequest(str(data.get("requestId")), word)
        with contextlib.suppress(AirbossError):
            await self._say(lambda to: to.ui.handle_pending_auto_mode_switch(answer))
