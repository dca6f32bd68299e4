"""Posts notices to an address of one's own: signed, never followed elsewhere, and to the address
that was looked at. Imported only where one is configured."""

import asyncio
import hmac
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import httpx2

from airboss.model.inbox_events import InboxArrived, InboxSettled
from airboss.net.address_guard import AddressBlocked, Egress, NameNotFound
from airboss.net.egress import guarded_client
from airboss.service.notices import Notice, NotSent

WAITS: Final = (1.0, 5.0, 30.0, 120.0, 600.0)
SECONDS: Final = 10.0
_ALLOW: Final = "To allow it, set webhook_private = true in the settings"
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
                status = await self._post(notice)
        except TimeoutError:
            raise NotSent(f"{self._host} did not answer within {self.seconds:g} s") from None
        if not 200 <= status < 300:
            final = status < 500 and status not in _LATER
            raise NotSent(f"{self._host} returned status {status}", final=final)

    async def _post(self, notice: Notice) -> int:
        async with guarded_client(Egress(self.allows_private), self.seconds) as client:
            request = client.build_request(
                "POST", self._url, content=notice.body, headers=self._headers(notice)
            )
            try:
                answer = await client.send(request, stream=True)
            except AddressBlocked as error:
                said = f"{error}. {_ALLOW}" if error.is_private else str(error)
                raise NotSent(said, final=True) from error
            except NameNotFound as error:
                raise NotSent(str(error)) from error
            except httpx2.TransportError as error:
                why = str(error) or type(error).__name__
                raise NotSent(f"could not connect to {self._host}: {why}") from error
            await answer.aclose()  # nobody reads what it says
            return answer.status_code

    def _headers(self, notice: Notice) -> dict[str, str]:
        at = str(int(time.time()))
        return {
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


def signature(secret: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hexdigest()
