"""A provider on loopback, the proxy in front of it, and who asks there."""

import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.harness.proxy_terms import ProxyLimits
from tests.harness.upstream import Answer, Provider, hello, providing

KEY = "key-of-the-house-0123456789"
SMALL = ProxyLimits(request_bytes=3 * 1024 * 1024, answer_bytes=2 * 1024 * 1024)


class ProxiedHouse:
    """A provider, the proxy, an address of it, and who asks there."""

    def __init__(
        self, provider: Provider, proxy: ProviderProxy, lent: LentAddress, http: httpx2.AsyncClient
    ) -> None:
        self.provider, self.proxy, self.lent, self.http = provider, proxy, lent, http

    async def post(
        self,
        path: str = "/chat/completions",
        content: bytes | AsyncIterator[bytes] = b"{}",
        headers: dict[str, str] | None = None,
    ) -> httpx2.Response:
        return await self.http.post(self.lent.url + path, content=content, headers=headers)

    @property
    def host(self) -> str:
        return urlsplit(self.lent.url).netloc


@contextlib.asynccontextmanager
async def proxied(
    answer: Answer = hello,
    path: str = "/v1",
    host: str = "127.0.0.1",
    *,
    private: bool = True,
    limits: ProxyLimits = SMALL,
) -> AsyncGenerator[ProxiedHouse]:
    proxy = ProviderProxy(limits)
    async with (
        providing(answer) as provider,
        httpx2.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        headers = {"X-Team": "night", "Authorization": f"Bearer {KEY}"}
        upstream = Upstream("house", provider.url(path, host), headers, private)
        try:
            yield ProxiedHouse(provider, proxy, await proxy.lend(upstream), http)
        finally:
            await proxy.close()


def leads_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """A resolver for rebind.test that says something else each time, and the last for ever."""
    real, left = socket.getaddrinfo, list(answers)

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host != "rebind.test":
            return real(host, port, *more, **options)
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [found for one in addresses for found in real(one, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def said(answer: httpx2.Response) -> str:
    return answer.json()["error"]["message"]
