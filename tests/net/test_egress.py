"""The way out: only checked addresses are connected to."""

import asyncio
import socket
import threading
from typing import Any

import httpx2
import pytest

from airboss.net import address_guard
from airboss.net.address_guard import AddressBlocked, Egress, NameNotFound
from airboss.net.egress import guarded_client
from tests.service.receiver import receiving

pytestmark = pytest.mark.anyio


def leads_to(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str]]) -> None:
    """Each name to its addresses; what is no name of these is looked up as ever."""
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        addresses = answers.get(host, [host])
        return [found for one in addresses for found in real(one, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


async def test_every_answer_is_checked_and_those_of_ipv4_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_ones = ["2606:4700::1", "1.1.1.1", "1.1.1.1", "8.8.8.8", "9.9.9.9"]
    answers = {"good.test": open_ones, "bad.test": ["1.1.1.1", "10.0.0.1"]}
    leads_to(monkeypatch, answers)
    assert await Egress().addresses("good.test", 443) == ["1.1.1.1", "8.8.8.8", "9.9.9.9"]
    with pytest.raises(AddressBlocked, match=r"^bad\.test is not a public address$"):
        await Egress().addresses("bad.test", 443)
    assert await Egress(allows_private=True).addresses("bad.test", 443) == ["1.1.1.1", "10.0.0.1"]


async def test_a_local_name_is_refused_before_it_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, {"db.internal": ["1.1.1.1"]})
    with pytest.raises(AddressBlocked):
        await Egress().addresses("db.internal", 80)
    assert await Egress(allows_private=True).addresses("db.internal", 80) == ["1.1.1.1"]


async def test_a_name_that_is_not_there_is_said_by_its_name() -> None:
    with pytest.raises(NameNotFound, match=r"nowhere\.invalid was not found"):
        await Egress().addresses("nowhere.invalid", 80)
    with pytest.raises(NameNotFound, match="was not found"):
        await Egress().addresses("a" * 300, 80)


async def test_the_name_stays_in_the_request_and_no_redirect_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, {"one.test": ["127.0.0.1"]})
    async with (
        receiving(lambda _: 307) as receiver,
        guarded_client(Egress(allows_private=True), 5) as client,
    ):
        answer = await client.post(receiver.url("one.test"), content=b"x")
        assert answer.status_code == 307
        assert [got.headers["host"] for got in receiver.got] == [f"one.test:{receiver.port}"]


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        async with guarded_client(Egress(allows_private=True), 5) as client:
            await client.post(receiver.url(), content=b"x")
        assert (len(receiver.got), proxy.got) == (1, [])


async def test_a_blocked_request_says_nothing_of_its_path() -> None:
    async with guarded_client(Egress(), 5) as client:
        with pytest.raises(AddressBlocked) as blocked:
            await client.get("http://127.0.0.1/secret?key=1")
        assert "secret" not in str(blocked.value)


async def test_where_every_address_refuses_the_last_refusal_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, {"shut.test": ["127.0.0.2", "127.0.0.3"]})
    async with guarded_client(Egress(allows_private=True), 5) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://shut.test:1/")


async def test_a_name_that_nobody_answers_for_keeps_no_other_work_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()

    def look_up(*_: object, **_more: object) -> list[object]:
        answered.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(address_guard, "_SECONDS", 0.1)
    try:
        for _ in range(10):  # more than there are threads for it
            with pytest.raises(NameNotFound, match=r"slow\.test was not found within 0\.1 s"):
                await Egress().addresses("slow.test", 443)
        assert await asyncio.to_thread(lambda: "done") == "done"
    finally:
        answered.set()
