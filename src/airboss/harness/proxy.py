"""The proxy between the runtime and providers and MCP servers, so that no agent has their keys.

A session gets an address of its own on this machine, which is gone when the session is. What is
sent there goes to the provider or the server by the guarded way out, with the key. A runtime
without a network hands its calls over by its own wire instead, and they go the same way.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.background import Background
from airboss.harness.lent_account import (
    CopilotService,
    LentAccount,
    UserAnswer,
    account_pass,
    nonce_in,
    word_in,
)
from airboss.harness.lent_address import LentAddress
from airboss.harness.provider_health import ProviderHealth
from airboss.harness.providers import RawHeaders, Upstream, is_model_call
from airboss.harness.proxy_terms import ProxyLimits, ProxyRefused, refuse, with_body
from airboss.net.loopback import (
    HOST,
    LoopbackServer,
    Peer,
    Receive,
    Scope,
    Send,
    listen,
    pump,
    served,
)
from airboss.runtime.cage.variables import SERVERS_PORT
from airboss.runtime.handed_calls import COPILOT_HOST, MODEL_HOST

if TYPE_CHECKING:
    import httpx2

    from airboss.harness.accounts import Grant

_NONCE_BYTES: Final = 12
# What MCP servers outside of a cage are called by inside.
_DOOR: Final = f"{HOST}:{SERVERS_PORT}"
# Where the models of an account could not be listed, the runtime asks the usual address, whatever
# it was told.
_COPILOT_HOSTS: Final = (COPILOT_HOST, "api.githubcopilot.com")


@dataclass
class ProviderProxy:
    """One listener for all sessions of a server. It starts with the first that needs it."""

    limits: ProxyLimits = field(default_factory=ProxyLimits)
    health: ProviderHealth = field(default_factory=ProviderHealth)
    copilot: CopilotService = field(default_factory=CopilotService)
    _lent: dict[str, LentAddress] = field(default_factory=dict[str, LentAddress])
    _clients: dict[bool, "httpx2.AsyncClient"] = field(
        default_factory=dict[bool, "httpx2.AsyncClient"]
    )
    _background: Background = field(default_factory=lambda: Background("proxy"))
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _accounts: dict[str, LentAccount] = field(default_factory=dict[str, LentAccount])
    _server: LoopbackServer | None = None
    _door_server: LoopbackServer | None = None
    _host: str = ""
    _behind: int = 0

    async def lend(
        self, upstream: Upstream, *, handed: bool = False, in_cage: bool = False
    ) -> LentAddress:
        """An address of this machine, or one whose calls the runtime hands over, or one behind the
        door of a cage: only so they are served there."""
        if not handed:
            await self._started()
        host = MODEL_HOST if handed else _DOOR if in_cage else self._host
        nonce = secrets.token_hex(_NONCE_BYTES)
        url = f"http://{host}/{nonce}{upstream.path}"
        lent = self._lent[nonce] = LentAddress(upstream, url, nonce, self._forget)
        return lent

    def lend_account(self, grant: "Grant") -> LentAccount:
        """Copilot's service, with the token of the account added here."""
        nonce, entry = secrets.token_hex(_NONCE_BYTES), account_pass(grant)
        api = LentAddress(self.copilot.api, f"http://{COPILOT_HOST}", nonce, self._forget)
        user = LentAddress(self.copilot.user, "", nonce, self._forget)
        api.entry = user.entry = entry
        self._lent[nonce] = api
        lent = self._accounts[nonce] = LentAccount(api, user, self.copilot)
        return lent

    async def user(self, word: str, headers: RawHeaders) -> UserAnswer:
        """Who the account is that was lent under this word."""
        lent = self._accounts.get(nonce_in(word))
        if lent is None:
            return UserAnswer(401, b'{"message": "Nobody was lent this."}')
        return await lent.who(headers, self._call)

    def replace(self, upstream: Upstream) -> None:
        """The provider has another key or address, for open sessions too."""
        for lent in self._of(upstream.name):
            lent.replace(upstream)

    def end(self, provider: str, why: str) -> None:
        """The provider is no longer there, for open sessions neither."""
        for lent in self._of(provider):
            lent.end(why)

    def sessions_on(self, provider: str) -> int:
        """How many addresses of it are lent: one to each open session on its models."""
        return len(self._of(provider))

    def _of(self, provider: str) -> list[LentAddress]:
        lent = self._lent.values()
        return [
            one for one in lent if (one.upstream.what, one.upstream.name) == ("provider", provider)
        ]

    def _forget(self, nonce: str) -> None:
        self._lent.pop(nonce, None)
        self._accounts.pop(nonce, None)

    async def close(self) -> None:
        for lent in list(self._lent.values()):
            lent.give_back()
        self._over.set()
        await self._background.close()
        for client in self._clients.values():
            await client.aclose()

    async def door(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection that came through the door of a cage. Every shell in there may knock: who
        does not know an address learns nothing, and none is served but those of cages."""
        port = await self._started()
        theirs, ours = await asyncio.open_connection(HOST, port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(pump(reader, ours))
                group.create_task(pump(theirs, writer))
        finally:
            ours.close()

    async def _started(self) -> int:
        """The port of what is behind doors."""
        async with self._starting:
            if self._server is None:
                await self._start()
        return self._behind

    async def _start(self) -> None:
        listening, behind = listen(), listen()
        self._host, self._behind = f"{HOST}:{listening.getsockname()[1]}", behind.getsockname()[1]
        ready = asyncio.Event()

        async def live() -> None:
            async with (
                served(self._answer_door, behind) as self._door_server,
                served(self._answer, listening) as self._server,
            ):
                ready.set()
                await self._over.wait()

        self._background.start(live(), "listener")
        await ready.wait()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request of the runtime, whatever becomes of it."""
        if scope["type"] == "http" and self._server is not None:
            await self._serve(scope, receive, send, self._server.cut, self._host)

    async def _answer_door(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The same of one in a cage."""
        if scope["type"] == "http" and self._door_server is not None:
            await self._serve(scope, receive, send, self._door_server.cut, _DOOR)

    async def answer_handed(
        self, scope: Scope, receive: Receive, send: Send, cut: Callable[[Peer], None]
    ) -> None:
        """One call that a runtime hands over."""
        await self._serve(scope, receive, send, cut, MODEL_HOST, *_COPILOT_HOSTS)

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, cut: Callable[[Peer], None], *hosts: str
    ) -> None:
        try:
            lent = self._addressed(scope, hosts)
            if lent.checked is not None and scope["method"] == "POST":
                scope, receive = with_body(scope, receive, await lent.checked(receive))
        except ProxyRefused as refused:
            await refuse(send, refused)
            return
        await self._call(lent, scope, receive, send, cut)

    async def _call(
        self,
        lent: LentAddress,
        scope: Scope,
        receive: Receive,
        send: Send,
        cut: Callable[[Peer], None],
    ) -> None:
        if lent.answer is not None:
            answering = lent.calls.call(lent.answer(scope, receive, send), "answer")
            await asyncio.wait({answering})
            if answering.cancelled():  # it was given back
                cut(scope["client"])
            else:
                answering.result()
            return
        # Here, for a server that has no provider of one's own loads no HTTP client.
        from airboss.harness.proxy_call import ProxyCall

        # How Copilot's service is, the accounts know; how MCP servers are, their sessions.
        health = self.health if lent.upstream.what == "provider" else ProviderHealth()
        client = self._client(lent.upstream)
        await ProxyCall(lent, client, self.limits, scope, receive, send, cut, health).answer()

    def _addressed(self, scope: Scope, known: tuple[str, ...]) -> LentAddress:
        """Whose address it is. Who does not know one learns nothing."""
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1 or given[0] not in known:
            raise ProxyRefused(421, "This server is called by its own address only.")
        if given[0] in _COPILOT_HOSTS:
            nonce, host = nonce_in(word_in(scope["headers"])), COPILOT_HOST
        else:
            nonce, host = scope["raw_path"].decode("latin-1")[1:].partition("/")[0], given[0]
        lent = self._lent.get(nonce)
        if lent is None or lent.host != host:
            raise ProxyRefused(404, "There is nothing here, or no longer.")
        if host == MODEL_HOST and not is_model_call(_below(lent, scope)):
            raise ProxyRefused(404, "This is no call of a model, and others are not handed over.")
        if scope["method"] not in lent.upstream.methods:
            raise ProxyRefused(405, f"{scope['method']} is not passed on.")
        return lent

    def _client(self, upstream: Upstream) -> "httpx2.AsyncClient":
        import httpx2

        from airboss.net.address_guard import Egress
        from airboss.net.egress import guarded_client

        allows = upstream.allows_private
        if allows not in self._clients:
            most = self.limits
            timeout = httpx2.Timeout(60.0, connect=most.connect_seconds, read=most.answer_seconds)
            self._clients[allows] = guarded_client(Egress(allows), timeout)
        return self._clients[allows]


def _below(lent: LentAddress, scope: Scope) -> str:
    """What is asked for, below the address of the provider."""
    path: str = scope["raw_path"].decode("latin-1")
    return path.removeprefix(f"/{lent.nonce}").removeprefix(lent.path)
