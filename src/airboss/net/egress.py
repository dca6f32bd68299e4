"""The way out: a client that connects only to addresses that were looked at.

A name is looked up once, all of its answers are checked, and only those are connected to: it cannot
lead elsewhere a moment later. Nothing follows a redirect, and no proxy of the environment stands in
between, as it would look the name up again.
"""

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

from airboss.errors import AirbossError
from airboss.net.addresses import is_local_name, is_metadata, is_metadata_name, is_public

# Of the addresses of a name so many are tried.
_MOST_ADDRESSES: Final = 3
_LONGEST_HOST: Final = 100
# How much goes on at once is up to whoever asks; so many connections stay for the next request.
_LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=20)


class AddressBlocked(AirbossError):
    """The host is in it, and no more of the address: a path may hold a secret. Where `is_private`,
    whoever means it to be reached can allow it."""

    def __init__(self, host: str, *, is_private: bool) -> None:
        self.is_private = is_private
        what = "not a public address" if is_private else "where a cloud keeps its machines' keys"
        super().__init__(f"{host} is {what}")


class NameNotFound(AirbossError):
    """It may be found later."""


@dataclass(frozen=True)
class Egress:
    """Where requests may go. `allows_private` is for what is meant to be on this machine or in this
    network; where clouds keep their machines' keys nobody goes at all."""

    allows_private: bool = False

    async def addresses(self, host: str, port: int) -> list[str]:
        """Where to connect to for a name or an address, those of IPv4 first."""
        name = host.strip("[]")
        if self.check(name):  # there is nothing to look up, which would take a thread
            return [name]
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NameNotFound(f"{name} was not found: {error}") from error
        found.sort(key=lambda one: one[0] != socket.AF_INET)
        known = list(dict.fromkeys(str(one[4][0]) for one in found))
        for address in known:  # one bad answer is enough
            self._check_address(name, address)
        return known[:_MOST_ADDRESSES]

    def check(self, name: str) -> bool:
        """What can be said before a name is looked up. Whether it is an address."""
        self._check_name(name)
        is_address = _is_address(name)
        if is_address:
            self._check_address(name, name)
        return is_address

    def _check_name(self, name: str) -> None:
        if is_metadata_name(name):
            raise AddressBlocked(name, is_private=False)
        if is_local_name(name) and not self.allows_private:
            raise AddressBlocked(name, is_private=True)

    def _check_address(self, name: str, address: str) -> None:
        if is_metadata(address):
            raise AddressBlocked(name, is_private=False)
        if not self.allows_private and not is_public(address):
            raise AddressBlocked(name, is_private=True)


def _is_address(name: str) -> bool:
    """As computers write it: other ways of writing one are left to the system to read."""
    try:
        return str(ipaddress.ip_address(name)) == name
    except ValueError:
        return False


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
