"""Providers that fail in every way they can, under the real runtime: each turn ends with a reason
in words, and no key is anywhere."""

import asyncio
import contextlib
import gzip
import logging
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from airboss.harness.proxy_terms import ProxyLimits
from airboss.harness.session_terms import OpenSession
from airboss.model.events import SessionError, TurnEnded
from airboss.provider_settings import Provider, ProviderModel
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from tests.harness.upstream import Wire, providing
from tests.service.house import ME, House, house_in

KEY = "key-of-the-house-0123456789"
PIECE = (
    b'data: {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"role": "assistant", "content": "%b"}, "finish_reason": %b}]}\n\n'
)
JSON = "Content-Type: application/json"
STREAM = "Content-Type: text/event-stream"


async def answer(wire: Wire) -> None:
    """What to do is said by the first step of the path."""
    match wire.got.line.split("/")[1]:
        case "redirect":
            await wire.whole(307, b"", "Location: http://10.0.0.1/v1?token=hush")
        case "garbage":
            await wire.whole(200, b"data: {no json\n\n", STREAM)
        case "babble":
            await wire.say(b"\x00\x01 no answer\r\n\r\n")
            wire.writer.close()
        case "page":
            await wire.whole(200, b"<html>Welcome</html>", "Content-Type: text/html")
        case "inside":
            await wire.whole(200, b'{"error": {"message": "out of credits"}}', JSON)
        case "packed":
            text = b'{"error": {"message": "Unknown key %b."}}' % KEY.encode()
            await wire.whole(400, gzip.compress(text), JSON, "Content-Encoding: gzip")
        case "half":
            await wire.begin(200, STREAM)
            await wire.chunk(PIECE % (b"Half of", b"null"))
            wire.writer.close()
        case "endless":
            await wire.begin(200, STREAM)
            for _ in range(100):
                await wire.chunk(PIECE % (b"x" * 1024 * 1024, b"null"))
        case _:
            await wire.begin(200, STREAM)
            await wire.chunk(PIECE % (b"Hello.", b'"stop"'), b"data: [DONE]\n\n", b"")


REASONS = {
    "redirect": "The provider redirect redirects to 10.0.0.1 (307), which is not followed.",
    "garbage": "Failed to parse chat-completions stream chunk",
    "babble": "The provider babble gave no answer: what it says is not HTTP.",
    "page": "The provider page answered with a web page. Check its base_url.",
    "inside": "The provider inside answered with an error: out of credits",
    "packed": "400 Unknown key ***",
    "half": "The provider half broke off in the middle of its answer",
    "endless": "The provider endless answered with more than 64 MB.",
    "down": "The provider down cannot be reached: ",
    "rebind": "rebind.test is where a cloud keeps its machines' keys.",
    "metadata": "169.254.169.254 is where a cloud keeps its machines' keys.",
    "lan": "lan.test is not a public address. If it is meant to be reached, set private = true",
}


def provider(name: str, url: str, *, private: bool = False) -> Provider:
    return Provider(
        name=name,
        base_url=url,
        key_variable="HOUSE_KEY",
        private=private,
        models=(ProviderModel(id="m"),),
    )


def troubled(port: int) -> tuple[Provider, ...]:
    known = ("redirect", "garbage", "babble", "page", "inside", "packed", "half", "endless", "good")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        unused = taken.getsockname()[1]
    return (
        *(provider(name, f"http://127.0.0.1:{port}/{name}/v1") for name in known),
        provider("down", f"http://127.0.0.1:{unused}/v1"),
        provider("rebind", f"http://rebind.test:{port}/good/v1", private=True),
        provider("metadata", "http://169.254.169.254/v1", private=True),
        provider("lan", f"https://lan.test:{port}/good/v1"),
    )


def resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    """rebind.test leads to the provider once, and then to where a cloud keeps its keys."""
    real = socket.getaddrinfo
    answers = {"rebind.test": ["127.0.0.1", "169.254.169.254"], "lan.test": ["127.0.0.1"]}

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        known = answers.get(host, [host])
        return real(known.pop(0) if len(known) > 1 else known[0], port, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@contextlib.asynccontextmanager
async def troubled_house(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[House, list[str]]]:
    """And every address that the runtime is given."""
    monkeypatch.setenv("HOUSE_KEY", KEY)
    resolve(monkeypatch)
    async with (
        providing(answer) as bad,
        house_in(folder, providers=troubled(bad.port)) as house,
    ):
        urls: list[str] = []
        house.sessions.open_session = noting(house.sessions.open_session, urls.append)
        yield house, urls
        assert all(got.headers["authorization"] == f"Bearer {KEY}" for got in bad.got)


def noting(opened: OpenSession, note: Callable[[str], object]) -> OpenSession:
    async def open_session(request: SessionRequest) -> RuntimeSession:
        assert request.provider is not None
        note(str(request.provider["base_url"]))
        return await opened(request)

    return open_session


async def turn(house: House, name: str, text: str = "hello", *, turns: int = 1) -> tuple[str, str]:
    """The session, and why the turn failed; nothing where it did not."""
    session = (await house.sessions.start(f"{name}/m", str(house.work), ME)).id
    for number in range(turns):
        await house.sessions.prompt(session, text, ME)
        async with asyncio.timeout(120), house.sessions.follow(session, 0) as follower:
            while (await house.sessions.show(session)).turns <= number or (
                await house.sessions.show(session)
            ).state != "idle":
                await follower.next(1)
    story = await house.story(session)
    errors = [event.message for event in story if isinstance(event, SessionError)]
    ends = [event.outcome for event in story if isinstance(event, TurnEnded)]
    assert ends == ["done"] * (turns - len(errors)) + ["failed"] * len(errors)
    return session, " ".join(errors)


@pytest.mark.timeout(240)
async def test_every_trouble_of_a_provider_is_the_reason_of_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "airboss")
    async with troubled_house(tmp_path, monkeypatch) as (house, urls):
        async with asyncio.TaskGroup() as group:
            asked = {
                name: group.create_task(turn(house, name, turns=2 if name == "rebind" else 1))
                for name in (*REASONS, "good")
            }
        found = {name: task.result()[1] for name, task in asked.items()}
        assert found.pop("good") == ""
        assert {name: REASONS[name] in reason for name, reason in found.items()} == dict.fromkeys(
            REASONS, True
        ), found
        told = str([await house.story(task.result()[0]) for task in asked.values()])
        nonces = [url.split("/")[3] for url in urls]
        assert len(set(nonces)) == len(REASONS) + 1
    # The house is closed: all that it wrote is on disk.
    for secret in (KEY, "hush"):
        assert secret not in told + caplog.text
        assert [path for path in _files(tmp_path) if secret.encode() in path.read_bytes()] == []
    assert not any(nonce in told + caplog.text for nonce in nonces)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


async def test_a_session_that_failed_goes_on_when_its_provider_is_well_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with troubled_house(tmp_path, monkeypatch) as (house, _):
        house.sessions.proxy.limits = ProxyLimits(request_bytes=1024)
        session, reason = await turn(house, "good")
        assert "The request to the provider good has more than 0 MB." in reason
        house.sessions.proxy.limits = ProxyLimits()
        await house.sessions.prompt(session, "hello", ME)
        await house.until(session, "idle", turns=2)
        ends = [e.outcome for e in await house.story(session) if isinstance(e, TurnEnded)]
        assert ends == ["failed", "done"]


async def test_the_address_of_a_session_ends_with_it_and_a_resumed_one_has_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        troubled_house(tmp_path, monkeypatch) as (house, urls),
        httpx2.AsyncClient(trust_env=False) as http,
    ):
        session, _ = await turn(house, "good")
        [first] = urls
        assert (await http.post(f"{first}/x", content=b"{}")).status_code == 200
        wrong = await http.post(f"{first}/x", content=b"{}", headers={"Host": "rebind.test"})
        assert wrong.status_code == 421
        house.kill_runtime()
        await house.until(session, "interrupted")
        assert (await http.post(f"{first}/x", content=b"{}")).status_code == 404
        await house.sessions.resume(session, ME)
        second = urls[1]
        assert second != first
        assert (await http.post(f"{second}/x", content=b"{}")).status_code == 200
        await house.sessions.close(session, ME)
        assert (await http.post(f"{second}/x", content=b"{}")).status_code == 404
