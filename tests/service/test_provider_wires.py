"""What a provider of each type is really asked by the runtime, through the proxy."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from airboss.provider_settings import Provider
from tests.harness.upstream import Got, Wire, providing
from tests.service.house import ME, House, house_in
from tests.trials import sampled

KEY = "key-of-the-house-0123456789"
BIG = {"id": "big", "wire_model": "big-2026", "prompt_tokens": 90_000, "output_tokens": 5_000}
# By the name of a provider: what is said of it, where it is asked, and where its key is then.
WIRES: dict[str, tuple[dict[str, Any], str, str]] = {
    "plain": ({}, "/plain/v1/chat/completions", "authorization"),
    "completions": (
        {"wire": "completions", "headers": {"X-Team": "night"}},
        "/completions/v1/chat/completions",
        "authorization",
    ),
    "responses": ({"wire": "responses"}, "/responses/v1/responses", "authorization"),
    "messages": ({"type": "anthropic"}, "/messages/v1/v1/messages", "x-api-key"),
    "bearer": (
        {"type": "anthropic", "auth": "bearer"},
        "/bearer/v1/v1/messages",
        "authorization",
    ),
    "azure": ({"type": "azure", "path": ""}, "/openai/v1/chat/completions", "api-key"),
    "azure-responses": (
        {"type": "azure", "path": "", "wire": "responses"},
        "/openai/v1/responses",
        "api-key",
    ),
    "azure-version": (
        {"type": "azure", "path": "", "api_version": "2025-04-01"},
        "/openai/deployments/big-2026/chat/completions?api-version=2025-04-01",
        "api-key",
    ),
    "azure-bearer": (
        {"type": "azure", "path": "", "auth": "bearer"},
        "/openai/v1/chat/completions",
        "authorization",
    ),
}


async def _refuse(wire: Wire) -> None:
    await wire.whole(400, b'{"error": {"message": "no"}}', "Content-Type: application/json")


async def _asked(house: House, name: str) -> None:
    session = (await house.sessions.start(f"{name}/big", str(house.work), ME)).id
    await house.sessions.prompt(session, "hello", ME)
    await house.until(session, "idle", turns=1)


def _provider(name: str, said: dict[str, Any], port: int) -> Provider:
    path = said.get("path", f"/{name}/v1")
    known = {key: value for key, value in said.items() if key != "path"}
    known |= {"name": name, "base_url": f"http://127.0.0.1:{port}{path}", "models": [BIG]}
    return Provider.model_validate({"key_variable": "HOUSE_KEY", **known})


@pytest.mark.parametrize("name", sampled(3, WIRES))
async def test_a_provider_is_asked_at_its_own_address_with_its_own_kind_of_key(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    said, path, place = WIRES[name]
    async with providing(_refuse) as upstream:
        provider = _provider(name, said, upstream.port)
        async with house_in(tmp_path, providers=(provider,)) as house:
            await _asked(house, name)
    got = next(got for got in upstream.got if got.line.startswith("POST"))
    assert got.line == f"POST {path} HTTP/1.1"
    assert _key(got) == {place: KEY if place != "authorization" else f"Bearer {KEY}"}
    assert got.headers.get("x-team") == said.get("headers", {}).get("X-Team")
    assert json.loads(got.body)["model"] == "big-2026"
    assert json.loads(got.body)["stream"] is True


def _key(got: Got) -> dict[str, str]:
    places = ("authorization", "api-key", "x-api-key")
    return {name: value for name, value in got.headers.items() if name in places}


async def test_a_provider_without_a_key_gets_none_and_no_cloud_is_asked_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOUSE_KEY", raising=False)
    async with providing(_refuse) as upstream:
        given = ("azure", {"type": "azure", "path": "", "key_variable": None}, upstream.port)
        async with house_in(tmp_path, providers=(_provider(*given),)) as house:
            async with asyncio.timeout(40):
                await _asked(house, "azure")
    assert upstream.got
    assert all(_key(got) == {} for got in upstream.got)
