"""Where a webhook goes: to the address that was looked at, and to no private one unasked."""

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from airboss.service.notices import Notice, NotSent
from airboss.service.webhook import WebhookChannel
from tests.service.receiver import NEVER, Receiver, receiving

NOTICE = Notice("itm_1.arrived", "inbox.arrived", "itm_1", "Title", "http://x", b'{"id":"itm_1"}')
SECRET = "a-secret-of-the-test"
NAME = "hook.example.test"
# For this name only, with its key: nobody trusts it but this test.
CERTIFICATE = Path(__file__).parents[1] / "fixtures/hook/both.pem"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "0"]
)
async def test_nothing_is_sent_to_a_private_address_unless_it_is_meant(host: str) -> None:
    async with receiving() as receiver:
        channel = WebhookChannel(receiver.url(host), SECRET)
        with pytest.raises(NotSent, match="is not a public address") as refused:
            await channel.send(NOTICE)
        assert refused.value.final
        assert receiver.got == []


def leads_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """From now on the name leads to each of `answers` in turn; who was looked up is told."""
    asked: list[str] = []
    left, real = list(answers), socket.getaddrinfo

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        asked.append(host)
        if host != NAME:
            return real(host, port, *more, **options)
        return [found for address in left.pop(0) for found in real(address, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


async def test_a_name_is_looked_up_once_and_cannot_lead_elsewhere_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = leads_to(monkeypatch, ["127.0.0.1"])
    async with receiving() as receiver:
        await WebhookChannel(receiver.url(NAME), SECRET, allows_private=True).send(NOTICE)
        assert receiver.got[0].headers["host"] == f"{NAME}:{receiver.port}"
    assert asked.count(NAME) == 1


async def test_a_name_with_public_and_private_addresses_is_not_sent_to_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, ["1.1.1.1", "127.0.0.1"])
    async with receiving() as receiver:
        with pytest.raises(NotSent, match=f"{NAME} is not a public address"):
            await WebhookChannel(receiver.url(NAME), SECRET).send(NOTICE)
        assert receiver.got == []


async def test_where_a_cloud_keeps_its_keys_nothing_is_sent_whatever_is_allowed() -> None:
    for url in ("http://169.254.169.254/a", "http://metadata.google.internal./"):
        with pytest.raises(NotSent, match="where a cloud keeps its machines' keys") as refused:
            await WebhookChannel(url, SECRET, allows_private=True).send(NOTICE)
        assert refused.value.final


async def test_the_next_address_of_a_name_is_tried_when_the_first_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    async with receiving() as receiver:
        await WebhookChannel(receiver.url(NAME), SECRET, allows_private=True).send(NOTICE)
        assert len(receiver.got) == 1


async def test_a_name_that_is_not_found_may_be_found_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look_up(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(NotSent, match=f"{NAME} was not found") as failed:
        await WebhookChannel(f"https://{NAME}", SECRET).send(NOTICE)
    assert not failed.value.final


async def test_a_receiver_that_does_not_answer_in_time_may_do_so_later() -> None:
    async with receiving(lambda _: NEVER) as receiver:
        channel = WebhookChannel(receiver.url(), SECRET, allows_private=True, seconds=0.5)
        with pytest.raises(NotSent, match="did not answer within") as failed:
            await channel.send(NOTICE)
        assert not failed.value.final


async def test_no_proxy_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with receiving() as receiver:
        await WebhookChannel(receiver.url(), SECRET, allows_private=True).send(NOTICE)
        assert len(receiver.got) == 1


async def test_over_tls_the_name_is_asked_for_and_its_certificate_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    leads_to(monkeypatch, ["127.0.0.1"], ["127.0.0.1"])

    def channel(receiver: Receiver, host: str) -> WebhookChannel:
        return WebhookChannel(receiver.url(host, "https"), SECRET, allows_private=True)

    async with receiving(tls=context) as receiver:
        with pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
            await channel(receiver, NAME).send(NOTICE)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        await channel(receiver, NAME).send(NOTICE)
        assert names == [NAME, NAME]
        with pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
            await channel(receiver, "localhost").send(NOTICE)
        assert len(receiver.got) == 1
