"""The way out of a cage: what is inside reaches named hosts through it, and nothing else.

It speaks CONNECT and plain http. A name is judged before it is looked up, since a look-up tells it
to others; then it is looked up once, here, and only what was found and checked is connected to. TLS
goes through as it is, once its first message names the host that was asked for.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from airboss.cage_settings import CageProfile
from airboss.errors import AirbossError
from airboss.net.address_guard import AddressBlocked, Egress, NameNotFound
from airboss.net.host_lists import WEB_PORTS, HostList, host_list
from airboss.net.package_hosts import PackageHosts, PackageHostsUnknown
from airboss.runtime.cage.host_request import HostPermission, HostRequest
from airboss.runtime.cage.http_head import HeadInvalid, RequestHead, read_head
from airboss.runtime.cage.tls_hello import (
    LONGEST_HELLO,
    UNRECOGNIZED_NAME,
    NoHello,
    begins_like_tls,
    named_host,
)
from airboss.runtime.cage.traffic import Hear, Traffic
from airboss.runtime.cage.tunnel import Stream, Tunnel, TunnelOver

_MOST_PINNED: Final = 1000
# What a client that was refused still says is heard, up to here.
_MOST_UNREAD: Final = 1_000_000
_UNREAD_SECONDS: Final = 1.0
_LONGEST_PHRASE: Final = 200
_TLS_PORT: Final = 443
_WAY: Final = "Ask a person to name it in the profile of this cage."
_NOT_LISTED: Final = "It is not among the hosts of this cage."
_IS_ASKED: Final = "a person is asked, try again later"

Connect: TypeAlias = Callable[
    [str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
]


@dataclass(frozen=True)
class Bounds:
    """What one cage may take of the server. Seconds without a byte end a connection."""

    connections: int = 128
    head_bytes: int = 32_768
    head_seconds: float = 15
    look_ups: int = 2
    look_up_seconds: float = 15
    connect_seconds: float = 10
    hello_seconds: float = 10
    idle_seconds: float = 600
    # Where one side has said all that it has to say.
    half_closed_seconds: float = 60


class _Refused(Exception):
    """Said to whoever asked, and told unless a person is asked about it."""

    def __init__(self, why: str, status: int = 403, *, is_told: bool = True) -> None:
        super().__init__(why)
        self.why, self.status, self.is_told = why, status, is_told


@dataclass
class WayOut:
    """Of one cage. `permission` is asked about each host that is called, also those of the profile:
    rules narrow it. Hosts are connected to with `connect`, by addresses that were checked."""

    terms: CageProfile
    permission: HostPermission
    hear: Hear
    egress: Egress = field(default_factory=Egress)
    packages: PackageHosts = field(default_factory=PackageHosts)
    connect: Connect = asyncio.open_connection
    bounds: Bounds = field(default_factory=Bounds)
    hosts: HostList = field(init=False)
    traffic: Traffic = field(init=False)
    _pinned: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _looking_up: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])
    _serving: "set[asyncio.Task[object]]" = field(default_factory=set["asyncio.Task[object]"])
    _is_closed: bool = False

    def __post_init__(self) -> None:
        """Raises `HostEntryInvalid`."""
        self.hosts = host_list(self.terms.hosts)
        self.traffic = Traffic(self.hear)
        self.egress = self.egress.apart(self.bounds.look_ups)

    @property
    def connections(self) -> int:
        return len(self._serving)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of what is inside, to its end."""
        task = asyncio.current_task()
        is_full = len(self._serving) >= self.bounds.connections or self._is_closed
        if task is not None and not is_full:
            self._serving.add(task)
        try:
            inside = Stream(reader, writer, self.bounds.idle_seconds)
            with contextlib.suppress(OSError, TunnelOver):
                if is_full:
                    await _say(inside, 503, "Too many connections at once. Try again later.")
                else:
                    await self._serve(inside)
        except asyncio.CancelledError:
            if not self._is_closed:  # nobody waits for it but `close`
                raise
        finally:
            if task is not None:
                self._serving.discard(task)
            writer.close()

    async def close(self) -> None:
        """No connection is left, and all that was counted is told."""
        self._is_closed = True
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        if serving:
            await asyncio.wait(serving)
        self.egress.threads.shutdown(wait=False, cancel_futures=True)
        self.traffic.close()

    async def _serve(self, inside: Stream) -> None:
        head: RequestHead | None = None
        try:
            head = await self._head(inside)
            by = await self._judge(head)
            address, outside = await self._connected(head)
        except HeadInvalid as invalid:
            self.traffic.refuse("?", None, "A request could not be read.")
            await _say(inside, 400, str(invalid))
        except _Refused as refused:
            if refused.is_told and head is not None:
                self.traffic.refuse(head.host, head.port, refused.why)
            await _say(inside, refused.status, refused.why, head)
        else:
            count = self.traffic.begin(head.host, head.port, address, by)
            tunnel = Tunnel(inside, outside, count, self.bounds.half_closed_seconds)
            try:
                await self._pass(head, tunnel)
            finally:
                outside.writer.close()
                self.traffic.end(count)

    async def _head(self, inside: Stream) -> RequestHead:
        try:
            async with asyncio.timeout(self.bounds.head_seconds):
                raw = await inside.reader.readuntil(b"\r\n\r\n")
        except (TimeoutError, asyncio.IncompleteReadError) as error:
            raise TunnelOver from error
        except asyncio.LimitOverrunError:
            raw = b""
        if not raw or len(raw) > self.bounds.head_bytes:
            raise HeadInvalid(f"A request's head may have {self.bounds.head_bytes} bytes.")
        return read_head(raw)

    async def _judge(self, head: RequestHead) -> str:
        """Who allowed it. Nothing has been looked up yet."""
        try:
            self.egress.check(head.host)
        except AddressBlocked as blocked:
            raise _Refused(_not_public(blocked)) from blocked
        asked = await self._request(head.host, head.port)
        if not asked.listed and head.port not in WEB_PORTS:
            port = f"Port {head.port} of it is not among the hosts of this cage."
            raise _Refused(asked.unclear or port)
        try:
            answer = await self.permission(asked)
        except (AirbossError, TimeoutError) as error:
            raise _Refused("Nobody could decide about it. Try again later.", 503) from error
        if answer.allowed is None:
            raise _Refused(_IS_ASKED, is_told=False)
        if not answer.allowed:
            raise _Refused(answer.why or _NOT_LISTED)
        return answer.by or "profile"

    async def _request(self, host: str, port: int) -> HostRequest:
        if self.hosts.names(host, port):
            return HostRequest(host, port, listed=True)
        unclear = ""
        for name in self.hosts.sets:
            try:
                known = await self.packages.of(name)
            except PackageHostsUnknown as unknown:
                unclear = unclear or str(unknown)
                continue
            if known.names(host, port):
                return HostRequest(host, port, listed=True)
        return HostRequest(host, port, listed=False, unclear=unclear)

    async def _connected(self, head: RequestHead) -> tuple[str, Stream]:
        """By one of the addresses that it has had from the beginning; where none of them answers
        any more, they are looked up and checked anew."""
        is_again = False
        while True:
            was_known = head.host in self._pinned
            for address in await self._addresses(head.host, head.port):
                with contextlib.suppress(OSError, TimeoutError):
                    async with asyncio.timeout(self.bounds.connect_seconds):
                        streams = await self.connect(address, head.port)
                    return address, Stream(*streams, self.bounds.idle_seconds)
            self._pinned.pop(head.host, None)
            if is_again or not was_known:
                raise _Refused("No connection to it could be made.", 502)
            is_again = True

    async def _addresses(self, host: str, port: int) -> list[str]:
        async with self._looking_up.setdefault(host, asyncio.Lock()):
            try:
                if host not in self._pinned:
                    async with asyncio.timeout(self.bounds.look_up_seconds):
                        self._pinned[host] = await self.egress.addresses(host, port)
            except AddressBlocked as blocked:
                raise _Refused(_not_public(blocked)) from blocked
            except (NameNotFound, TimeoutError) as error:
                raise _Refused("Its name was not found.", 502) from error
            finally:
                self._looking_up.pop(host, None)
        if len(self._pinned) > _MOST_PINNED:
            del self._pinned[next(iter(self._pinned))]
        return self._pinned.get(host, [])

    async def _pass(self, head: RequestHead, tunnel: Tunnel) -> None:
        if not head.is_tunnel:
            await tunnel.exchange(head)
            return
        await tunnel.inside.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await tunnel.relay(lambda: self._hello(head, tunnel.inside))

    async def _hello(self, head: RequestHead, inside: Stream) -> bytes:
        """What the client says first, whole where it is TLS; on TLS's own port it has to be. On a
        port that the profile names, the other side may be the one that begins."""
        heard, name = b"", None
        is_web = head.port in WEB_PORTS
        try:
            async with asyncio.timeout(self.bounds.hello_seconds if is_web else None):
                while name is None:
                    heard += (more := await inside.read())
                    if head.port != _TLS_PORT and not begins_like_tls(heard):
                        return heard
                    name = named_host(heard)
                    if name is None and (not more or len(heard) > LONGEST_HELLO):
                        raise TunnelOver
        except TimeoutError as error:
            raise TunnelOver from error
        except NoHello:
            pass
        if name == head.host:
            return heard
        why = f"its first message names {name}" if name else "its first message names no host"
        self.traffic.refuse(head.host, head.port, f"A tunnel was asked for, but {why}.")
        await inside.write(UNRECOGNIZED_NAME)
        raise TunnelOver


def _not_public(blocked: AddressBlocked) -> str:
    if blocked.is_private:
        return "It is not a public address, and a cage reaches no others."
    return "It is where a cloud keeps its machines' keys."


async def _say(inside: Stream, status: int, why: str, head: RequestHead | None = None) -> None:
    """In the first line too: of a refused tunnel, many clients show nothing else."""
    about = f"{head.host}:{head.port}: {why}" if head else why
    way = f" {_WAY}" if why == _NOT_LISTED else ""
    body = f"Airboss: {about}{way}\n".encode()
    phrase = " ".join(why.split())[:_LONGEST_PHRASE].encode("ascii", "replace").decode("ascii")
    lines = (
        f"HTTP/1.1 {status} {phrase}",
        "X-Airboss-Cage: refused",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    await inside.write(("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + body)
    inside.end()
    # Closed with something unread, it would be cut off before it has heard this.
    left = _MOST_UNREAD
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_UNREAD_SECONDS):
            while left > 0 and (piece := await inside.read()):
                left -= len(piece)
