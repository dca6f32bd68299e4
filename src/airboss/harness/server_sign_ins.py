"""Servers of one session that want a person to sign in: asked for before a request is sent."""

from collections.abc import Callable
from urllib.parse import urlsplit

from airboss.errors import SignInFailed
from airboss.harness.pending_items import PendingItems
from airboss.harness.server_launch import ServerLaunch
from airboss.harness.session_state import SessionState
from airboss.harness.turn import Turn
from airboss.model.excerpt import MOST_OF_A_REASON, excerpt
from airboss.model.ids import new_item_id
from airboss.model.inbox_events import ItemSettled, SignInAsked
from airboss.model.mcp_events import McpChanged
from airboss.runtime.session import RuntimeSession


class SignInRequests:
    """A server that nobody signs in at stays off, and the session goes on. It is asked for once,
    until the session is resumed; a person can sign in at any time. `tell` says what a server is
    at, where the runtime has not noticed."""

    def __init__(
        self,
        state: SessionState,
        pending: PendingItems,
        launch: ServerLaunch,
        tell: Callable[[McpChanged], None],
    ) -> None:
        self._state = state
        self._pending = pending
        self._launch = launch
        self._tell = tell
        self._declined: set[str] = set()
        # Those that somebody is asked about just now.
        self._asking: set[str] = set()

    async def hold(self, turn: Turn, agent: RuntimeSession) -> bool:
        """Comes when the request may be sent. No: it was stopped meanwhile."""
        if not self._launch.can_ask:
            return True
        await agent.servers.come()
        for name, url in self._launch.wanting().items():
            if name not in self._declined and not await self._goes_on(name, url, turn, agent):
                return False
        return True

    async def _goes_on(self, name: str, url: str, turn: Turn, agent: RuntimeSession) -> bool:
        if (why := await self._why_not(name, url)) is not None:
            self._tell(McpChanged(server=name, state="needs-sign-in", error=why))
            self._declined.add(name)
            return True
        self._note(name)
        self._asking.add(name)
        try:
            settled = await self._ask(name, urlsplit(url).netloc)
            if turn.over.is_set() or self._state.turn is not turn or settled.outcome == "cancelled":
                return False
            if settled.outcome == "signed-in":
                await agent.servers.restart(name)
            else:
                self._declined.add(name)
        finally:
            self._asking.discard(name)
        return True

    async def _why_not(self, name: str, url: str) -> str | None:
        """Why nobody can sign in there; then nobody is asked to, and no work waits for it."""
        # Here, for a server where nobody signs in loads no HTTP client.
        from airboss.harness.oauth import look

        lent = self._launch.lent[name]
        known = lent.entry is not None and lent.entry.has_client
        try:
            await look(url, allows_private=lent.upstream.allows_private, has_client=known)
        except SignInFailed as failed:
            words = f"The MCP server {name} wants a sign-in, which is not possible. {failed}"
            return excerpt(self._state.redactor, words, MOST_OF_A_REASON)
        return None

    async def _ask(self, server: str, address: str) -> ItemSettled:
        asked = SignInAsked(
            item=new_item_id(),
            server=server,
            address=address,
            prompt=self._state.prompt,
            expires_at=self._pending.expires_at(),
        )
        return (await self._pending.ask_by_mark(asked))[1]

    async def come_in(self, name: str, agent: RuntimeSession) -> None:
        """Somebody signed in, asked or not: the server is tried again."""
        self._declined.discard(name)
        lent = self._launch.lent.get(name)
        if lent is not None and lent.wants_sign_in and name not in self._asking:
            await agent.servers.restart(name)

    def _note(self, name: str) -> None:
        view, lent = self._state.view, self._launch.lent[name]
        known = next((one for one in view.mcp_servers if one.name == name), None) if view else None
        if known is not None and known.state == "connected":
            self._tell(McpChanged(server=name, state="needs-sign-in", error=lent.trouble))
