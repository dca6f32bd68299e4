"""The part of an open session that has its extensions, where it has any: to its other parts it is
the same without."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from airboss.background import Background
from airboss.harness.extension_door import ExtensionDoor
from airboss.harness.pending_items import PendingItems
from airboss.harness.prompts import Delivery, Extras
from airboss.harness.session_extensions import (
    NamedCalls,
    OwnOrBrought,
    answer_with,
    joined_hooks,
    overhearing,
)
from airboss.harness.session_opening import TOOLS
from airboss.harness.session_state import SessionState
from airboss.harness.turn import Receipt
from airboss.runtime.hooks import MoreHooks
from airboss.runtime.permission import Decide
from airboss.runtime.requests import CutOffRequests
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import Overhear
from airboss.runtime.tools import AnswerCall, ToolOffer

if TYPE_CHECKING:
    from airboss.harness.switching import Switching

Send = Callable[[str, str, Delivery, Extras], Awaitable[Receipt]]


class ExtensionPart:
    """`send` and `abort` are the session's own verbs."""

    def __init__(
        self,
        state: SessionState,
        terms: "Switching",
        pending: PendingItems,
        decide: Decide,
        send: Send,
        abort: Callable[[], Awaitable[object]],
        background: Background,
    ) -> None:
        now = terms.now

        async def send_checked(text: str, who: str, steer: bool, more: Extras) -> str:
            if more.files:
                more = await asyncio.to_thread(now.check_attached, terms.now.rule.cwd, more)
            return (await send(text, who, "steer" if steer else "queue", more)).prompt

        self._pending = pending
        self._hooks = state.hooks
        self._door = ExtensionDoor(
            state,
            pending,
            TOOLS,
            decide,
            send_checked,
            abort,
            lambda: terms.now.rule.cwd,
            lambda: tuple(terms.latest.setup.mcp_servers),
            now.caging,
            background,
            lambda: state.hooks.names if state.hooks else frozenset(),
        )
        self.host = now.extensions and now.extensions(self._door)
        state.keeps_cage = lambda: self.host is not None and self.host.is_in_cage
        self.name = NamedCalls(self.host).name
        self.ours = OwnOrBrought(TOOLS, self.host)

    @property
    def answer(self) -> AnswerCall:
        return answer_with(self.host, self._pending.answer)

    @property
    def hooks(self) -> MoreHooks | None:
        return joined_hooks(self._hooks, self.host)

    @property
    def overhear(self) -> Overhear | None:
        return None if self.host is None else overhearing(self.host, self._door)

    def tools(self) -> tuple[ToolOffer, ...]:
        """All that Airboss offers now."""
        return (*TOOLS, *(self.host.offers if self.host else ()))

    def heard_from(self, who: str) -> None:
        """Somebody has sent a prompt."""
        self._door.heard_from(who)

    def begin(self) -> None:
        if self.host is not None:
            self.host.begin()

    def entered(self) -> None:
        """The runtime has opened the session."""
        self._door.is_open.set()

    async def ready(self) -> None:
        """Before a turn: all that are to come are there, and the agent has their tools."""
        if self.host is not None:
            await self.host.ready()
            await self.host.offer()

    async def go_on(self, agent: RuntimeSession, pending: CutOffRequests) -> None:
        """With what was asked for when the session was cut off."""
        await self.ready()
        if self.host is None:
            self._pending.expect(len(pending))
            agent.go_on(pending)
            return
        calls = self.host.asking(call.get("toolName") for call in pending.calls)
        self._pending.expect(len(pending.permissions) + calls)
        agent.go_on(pending, self.host.is_told_again)

    def leave(self) -> None:
        """The session is gone, and nobody waits for their end."""
        self._door.questions.end()
        if self.host is not None:
            self.host.leave()

    async def stop(self) -> None:
        self._door.questions.end()
        if self.host is not None:
            await self.host.stop()
