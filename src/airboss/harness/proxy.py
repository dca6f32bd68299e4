"""The proxy between the runtime and providers and MCP servers, so that no agent has their keys.

A session gets an address of its own on this machine, which is gone when the session is. What is
sent there goes to the provider or the server by the guarded way out, with the key.
"""

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.background import Background
from airboss.harness.lent_address import LentAddress
from airboss.harness.provider_health import ProviderHealth
from airboss.harness.providers import Upstream
from airboss.harness.proxy_terms import ProxyLimits, ProxyRefused, refuse
from airboss.net.loopback import HOST, LoopbackServer, Receive, Scope, Send, listen, served

if TYPE_CHECKING:
    import httpx2

_NONCE_BYTES: Final = 12


@dataclass
class ProviderProxy:
    """One listener for all sessions of a server. It starts with the first that needs it."""

    limits: ProxyLimits = field(default_factory=ProxyLimits)
    health: ProviderHealth = field(default_factory=ProviderHealth)
    _lent: dict[str, LentAddress] = field(default_factory=dict[str, LentAddress])
    _clients: dict[bool, "httpx2.AsyncClient"] = field(
        default_factory=dict[bool, "httpx2.AsyncClient"]
    )
    _background: Background = field(default_factory=lambda: Background("proxy"))
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _server: LoopbackServer | None = None
    _host: str = ""

    async def lend(self, upstream: Upstream) -> LentAddress:
        async with self._starting:
            if self._server is None:
                await self._start()
        nonce = secrets.token_hex(_NONCE_BYTES)
        url = f"http://{self._host}/{nonce}{upstream.path}"
        lent = self._lent[nonce] = LentAddress(upstream, url, nonce, self._forget)
        return lent

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
        return [lent for lent in self._lent.values() if lent.upstream.name == provider]

    def _forget(self, nonce: str) -> None:
        self._lent.pop(nonce, None)

    async def close(self) -> None:
        for lent in list(self._lent.values()):
            lent.give_back()
        self._over.set()
        await self._background.close()
        for client in self._clients.values():
            await client.aclose()

    async def _start(self) -> None:
        listening = listen()
        self._host = f"{HOST}:{listening.getsockname()[1]}"
        ready = asyncio.Event()

        async def live() -> None:
            async with served(self._answer, listening) as self._server:
                ready.set()
                await self._over.wait()

        self._background.start(live(), "listener")
        await ready.wait()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request of the runtime, whatever becomes of it."""
        if scope["type"] != "http" or self._server is None:
            return
        try:
            lent = self._addressed(scope)
        except ProxyRefused as refused:
            await refuse(send, refused)
            return
        # Here, for a server that has no provider of one's own loads no HTTP client.
        from airboss.harness.proxy_call import ProxyCall

        call = ProxyCall(
            lent,
            self._client(lent.upstream),
            self.limits,
            scope,
            receive,
            send,
            self._server.cut,
            self.health,
        )
        await call.answer()

    def _addressed(self, scope: Scope) -> LentAddress:
        """Whose address it is. Who does not know one learns nothing."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if hosts != [self._host.encode()]:
            raise ProxyRefused(421, "This server is called by its own address only.")
        nonce = scope["raw_path"].decode("latin-1").removeprefix("/").partition("/")[0]
        lent = self._lent.get(nonce)
        if lent is None:
            raise ProxyRefused(404, "There is nothing here, or no longer.")
        if scope["method"] not in lent.upstream.methods:
            raise ProxyRefused(405, f"{scope['method']} is not passed on.")
        return lent

    def _client(self, upstream: Upstream) -> "httpx2.AsyncClient":
        import httpx2

        from airboss.net.egress import Egress, guarded_client

        allows = upstream.allows_private
        if allows not in self._clients:
            most = self.limits
            timeout = httpx2.Timeout(60.0, connect=most.connect_seconds, read=most.answer_seconds)
            self._clients[allows] = guarded_client(Egress(allows), timeout)
        return self._clients[allows]
