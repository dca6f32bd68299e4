"""The way out: a client that connects only to addresses that were looked at.

A name is looked up once, all of its answers are checked, and only those are connected to: it cannot
lead elsewhere a moment later. Nothing follows a redirect, and no proxy of the environment stands in
between, as it would look the name up again.
"""

import asyncio
import contextlib
import ssl
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

from airboss.net.address_guard import Egress

_LONGEST_HOST: Final = 100
# How much goes on at once is up to whoever asks; so many connections stay for the next request.
_LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=20)


@dataclass
class GuardedTransport(httpx2.AsyncBaseTransport):
    """One pool of connections for each host: two hosts at one address have certificates of their
    own, which are checked when a connection begins."""

    egress: Egress
    _pools: dict[str, httpx2.AsyncHTTPTransport] = field(
        default_factory=dict[str, httpx2.AsyncHTTPTransport]
    )
    _tls: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        host = url.raw_host.decode("ascii").strip("[]")
        is_tls = url.scheme == "https"
        pool = await self._pool(host, is_tls=is_tls)
        trouble: httpx2.ConnectError | None = None
        for address in await self.egress.addresses(host, url.port or (443 if is_tls else 80)):
            sent = request if address == host else _sent_to(request, address, host)
            try:
                return await pool.handle_async_request(sent)
            except httpx2.ConnectError as error:
                trouble = error
        raise trouble or httpx2.ConnectError(f"{host} has no address.")

    async def _pool(self, host: str, *, is_tls: bool) -> httpx2.AsyncHTTPTransport:
        key = f"{host} {is_tls}"
        if key not in self._pools:
            # Plain HTTP needs no certificates, and reading them takes a while.
            verify = await self._certificates() if is_tls else False
            if key not in self._pools:  # nobody else was faster
                self._pools[key] = httpx2.AsyncHTTPTransport(
                    verify=verify, trust_env=False, limits=_LIMITS
                )
        return self._pools[key]

    async def _certificates(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        return self._tls

    async def aclose(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            with contextlib.suppress(httpx2.TransportError):
                await pool.aclose()


def _sent_to(request: httpx2.Request, address: str, host: str) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,  # the Host among them
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


def guarded_client(egress: Egress, seconds: float | httpx2.Timeout) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=GuardedTransport(egress),
        trust_env=False,
        follow_redirects=False,
        timeout=seconds,
    )


def redirect_host(answer: httpx2.Response) -> str | None:
    """Where a redirect leads, by its host: a path may hold a secret."""
    try:
        host = urlsplit(answer.headers.get("location", "")).hostname
    except ValueError:
        return None
    return host[:_LONGEST_HOST] if host else None
