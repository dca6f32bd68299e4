"""Posts notices to an address of one's own: signed, never followed elsewhere, and to the address
that was looked at. Imported only where one is configured."""

import asyncio
import hmac
import socket
import ssl
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import httpx2

from airboss.model.inbox_events import InboxArrived, InboxSettled
from airboss.service.addresses import is_public
from airboss.service.notices import Notice, NotSent

WAITS: Final = (1.0, 5.0, 30.0, 120.0, 600.0)
SECONDS: Final = 10.0
# Of the addresses of a name so many are tried.
_MOST_ADDRESSES: Final = 3
# What says “not now”; every other refusal stays one.
_LATER: Final = (408, 429)


@dataclass(frozen=True)
class WebhookChannel:
    """`allows_private` is for a receiver on this machine or in this network."""

    url: str
    secret: str = field(repr=False)
    allows_private: bool = False
    seconds: float = SECONDS
    waits: tuple[float, ...] = WAITS
    name: str = "webhook"

    def wants(self, event: object) -> bool:
        return isinstance(event, (InboxArrived, InboxSettled))

    async def send(self, notice: Notice) -> None:
        try:
            async with asyncio.timeout(self.seconds):
                status = await self._post(notice, await self._addresses())
        except TimeoutError:
            raise NotSent(f"{self._host} did not answer within {self.seconds:g} s") from None
        if not 200 <= status < 300:
            final = status < 500 and status not in _LATER
            raise NotSent(f"{self._host} answered with {status}", final=final)

    async def _addresses(self) -> list[str]:
        """Where to connect to: looked up here and used as they are, so that the name cannot lead
        elsewhere a moment later."""
        loop, url = asyncio.get_running_loop(), self._url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            found = await loop.getaddrinfo(self._host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NotSent(f"{self._host} was not found: {error}") from error
        known = list(dict.fromkeys(str(one[4][0]) for one in found))
        allowed = [one for one in known if self.allows_private or is_public(one)]
        if not allowed:
            raise NotSent(
                f"{self._host} is not a public address. Set webhook_private = true in the settings "
                "where it is meant to be reached",
                final=True,
            )
        return allowed[:_MOST_ADDRESSES]

    async def _post(self, notice: Notice, addresses: list[str]) -> int:
        tls = await asyncio.to_thread(lambda: self._tls)
        trouble = ""
        # No proxy: it would look the name up again.
        async with httpx2.AsyncClient(
            trust_env=False, follow_redirects=False, verify=tls, timeout=self.seconds
        ) as client:
            for address in addresses:
                request = client.build_request(
                    "POST",
                    self._url.copy_with(host=address),
                    content=notice.body,
                    headers=self._headers(notice),
                    extensions={"sni_hostname": self._host},
                )
                try:
                    answer = await client.send(request, stream=True)
                except httpx2.ConnectError as error:
                    trouble = str(error) or type(error).__name__
                    continue
                except httpx2.TransportError as error:
                    why = str(error) or type(error).__name__
                    raise NotSent(f"{self._host} cannot be reached: {why}") from error
                await answer.aclose()  # nobody reads what it says
                return answer.status_code
        raise NotSent(f"{self._host} cannot be reached: {trouble}")

    def _headers(self, notice: Notice) -> dict[str, str]:
        at = str(int(time.time()))
        return {
            "Host": self._url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": "airboss",
            "X-Airboss-Event": notice.event,
            "X-Airboss-Delivery": notice.delivery,
            "X-Airboss-Timestamp": at,
            "X-Airboss-Signature": f"sha256={signature(self.secret, at, notice.body)}",
        }

    @cached_property
    def _url(self) -> httpx2.URL:
        return httpx2.URL(self.url)

    @property
    def _host(self) -> str:
        return self._url.raw_host.decode("ascii").strip("[]")

    @cached_property
    def _tls(self) -> ssl.SSLContext | bool:
        # Plain HTTP needs no certificates, and reading them takes a while.
        return ssl.create_default_context() if self._url.scheme == "https" else False


def signature(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hexdigest()
