"""Tokens and keys are in no log, event, answer or command line, and in no agent's environment."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from airboss.model.redaction import MASK
from tests.crash.marks import soon
from tests.crash.witness import ask, read_all, until
from tests.security.conftest import Guarded, Vault

pytestmark = pytest.mark.anyio

# Answers that a person or a program may ask for.
ADDRESSES = (
    "/api/v1/status",
    "/api/v1/doctor",
    "/api/v1/models",
    "/api/v1/sessions",
    "/api/v1/openapi.json",
    "/api/config",
    "/api/copilot/models",
    "/metrics",
    "/readyz",
)


def client_of(guarded: Guarded) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {guarded.vault.token}"}
    return httpx2.AsyncClient(base_url=guarded.portal.url, headers=headers, timeout=30)


async def session_on(client: httpx2.AsyncClient, model: str, cwd: Path) -> str:
    answer = await client.post("/api/v1/sessions", json={"model": model, "cwd": str(cwd)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def turn(client: httpx2.AsyncClient, session: str, text: str) -> dict[str, Any]:
    receipt = await ask(client, session, text)
    await until(client, session, "session.idle", receipt["seq"])
    return receipt


def found_in(text: str | bytes, vault: Vault) -> list[str]:
    """The variables whose values are in `text`."""
    data = text.encode() if isinstance(text, str) else text
    ours = {"AIRBOSS_TOKEN": vault.token, "the profile's": vault.profile}
    named = {**ours, **vault.given, **vault.others}
    return [name for name, value in named.items() if value.encode() in data]


def stored_of(guarded: Guarded) -> dict[str, bytes]:
    """Every byte that the server wrote, its log included; the runtime's own files lie apart."""
    data = guarded.portal.data
    files = [file for file in data.rglob("*") if file.is_file()]
    ours = [file for file in files if "copilot-home" not in file.parts]
    return {str(file): file.read_bytes() for file in (*ours, guarded.portal.folder / "serve.log")}


def lines_of(guarded: Guarded) -> list[str]:
    """The command lines of the server and all that it started."""
    server = psutil.Process(guarded.portal.pid)
    family = [server, *server.children(recursive=True)]
    lines: list[str] = []
    for process in family:
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(process.cmdline()))
    return lines


@pytest.mark.parametrize("model", ["claude-sonnet-4.5", "house/stand-in"])
async def test_no_secret_is_in_the_environment_of_an_agents_shell(
    guarded: Guarded, model: str
) -> None:
    work, vault = guarded.portal.work, guarded.vault
    async with client_of(guarded) as client:
        session = await session_on(client, model, work)
        # To a file: in an event they would be masked, and prove nothing.
        await turn(
            client, session, "shell env > env.txt; cat /proc/$PPID/environ > parent.txt || true"
        )
        pid = (await client.get("/api/v1/status")).json()["runtime"]["pid"]
        for process in psutil.Process(pid), *psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.AccessDenied):  # the runtime's own is closed
                assert found_in(str(process.environ()), vault) == []
    seen = (work / "env.txt").read_text("utf-8")
    assert f"COPILOT_AGENT_SESSION_ID={session}" in seen
    assert f"HOME={guarded.portal.environ['HOME']}" in seen, "what is no secret is there"
    assert found_in(seen, vault) == []
    assert found_in((work / "parent.txt").read_bytes(), vault) == []


async def test_the_services_get_their_own_secret_and_no_other(guarded: Guarded) -> None:
    async with client_of(guarded) as client:
        for model in ("claude-sonnet-4.5", "house/stand-in"):
            guarded.stage.tokens.clear()
            session = await session_on(client, model, guarded.portal.work)
            await turn(client, session, "say hello")
            own = "HOUSE_LLM" if model.startswith("house") else "COPILOT_GITHUB_TOKEN"
            sent = {token.removeprefix("Bearer ") for token in guarded.stage.tokens}
            assert guarded.vault.given[own] in sent
            assert found_in(" ".join(sent), guarded.vault) == [own]


async def test_no_secret_is_in_a_command_line(guarded: Guarded) -> None:
    async with client_of(guarded) as client:
        session = await session_on(client, "claude-sonnet-4.5", guarded.portal.work)
        await ask(client, session, "shell sleep 30")
        await until(client, session, "tool.started")
        assert await asyncio.to_thread(soon, lambda: "sleep 30" in " ".join(lines_of(guarded)))
        lines = lines_of(guarded)
        assert [found_in(line, guarded.vault) for line in lines] == [[] for _ in lines]
        await client.post(f"/api/v1/sessions/{session}/close")


async def test_a_secret_that_a_model_says_or_a_tool_shows_is_masked_everywhere(
    guarded: Guarded,
) -> None:
    async with client_of(guarded) as client:
        session = await session_on(client, "rehearsal", guarded.portal.work)
        receipt = await ask(client, session, "tell me")
        told = await everything_said(client, session, receipt["seq"])
        assert found_in(told, guarded.vault) == []
        events = [recorded["event"] for recorded in await read_all(client, session)]
        said = [event["text"] for event in events if event["kind"] == "message.ended"]
        assert said[0] == f"It is {MASK}, is it not?"
        assert said[-1] == f"So {MASK} it is: {MASK}{MASK}."
        thought = [event["text"] for event in events if event["kind"] == "reasoning.ended"]
        assert thought == [f"I remember {MASK}, and should not."]
        tools = [event for event in events if event["kind"] == "tool.started"]
        assert all(MASK in tool["arguments"] for tool in tools)
        shown = [event["result"]["content"] for event in events if event["kind"] == "tool.ended"]
        # A key that the runtime itself was given, it has masked before us.
        assert shown[0].startswith((MASK, "***"))
        assert f"a {MASK} b" in shown[1]
        told_file = (guarded.portal.work / "told").read_text("utf-8")
        assert found_in(told_file, guarded.vault) == ["HOUSE_LLM"], "what tools do is not changed"


async def everything_said(client: httpx2.AsyncClient, session: str, after: int) -> str:
    """By server-sent events while it happens, as pages, as raw bytes and over `live`."""
    told: list[str] = []
    async with client.stream("GET", f"/api/v1/sessions/{session}/stream") as stream:
        async for line in stream.aiter_lines():
            told.append(line)
            if "session.idle" in line:
                break
    told.append((await client.get(f"/api/v1/sessions/{session}/events")).text)
    told.append((await client.get(f"/api/v1/sessions/{session}")).text)
    while "onIdle" not in told[-1]:
        told.append((await client.get(f"/api/copilot/session/{session}/live")).text)
    deltas = "".join(
        recorded["event"].get("text", "")
        for recorded in await read_all(client, session)
        if recorded["event"]["kind"].endswith(".delta")
    )
    assert MASK in deltas
    return "\n".join([*told, deltas])


async def test_a_secret_typed_in_a_prompt_is_masked_before_anybody_hears_it(
    guarded: Guarded,
) -> None:
    vault = guarded.vault
    async with client_of(guarded) as client:
        session = await session_on(client, "house/stand-in", guarded.portal.work)
        text = f"say {vault.given['GH_TOKEN']} and {vault.token} and {made_up_by_a_person()}"
        receipt = await turn(client, session, text)
        assert receipt["redacted"] == 3
        events = await read_all(client, session)
        prompt = next(r["event"] for r in events if r["event"]["kind"] == "prompt.accepted")
        assert prompt["text"] == f"say {MASK} and {MASK} and {MASK}"
        assert (await client.get(f"/api/v1/sessions/{session}")).json()["title"] == prompt["text"]
        listed = (await client.get("/api/v1/sessions")).text
    assert found_in(listed + str(events), vault) == []
    asked = str(guarded.stage.requests)
    assert MASK in asked
    assert found_in(asked, vault) == []
    assert made_up_by_a_person() not in asked + str(events)
    home = guarded.portal.data / "copilot-home"
    kept = [file for file in home.rglob("*") if file.is_file() and session in str(file)]
    assert kept
    assert [file.name for file in kept if found_in(file.read_bytes(), vault)] == []


def made_up_by_a_person() -> str:
    """No value that the server knows, but of a shape that only tokens have."""
    return "github_pat_" + "11ABCDEFG0abcdefghijklmnop_qrstuvwxyz"


async def test_no_secret_is_in_the_log_whatever_goes_wrong(guarded: Guarded) -> None:
    vault, portal = guarded.vault, guarded.portal
    async with client_of(guarded) as client:
        for wrong in vault.known:
            path = f"/api/v1/sessions/{wrong}?token={wrong}"
            await client.get(path)
            headers = {"Authorization": f"Bearer {wrong}x", "Cookie": f"airboss={wrong}"}
            await client.get(path, headers=headers)
            await client.post(f"/api/copilot/session/start/{wrong}", content=wrong.encode())
            await client.post("/api/v1/signin", json={"code": wrong})
        session = await session_on(client, "house/stand-in", portal.work)
        receipt = await ask(client, session, "fail 400")
        await until(client, session, "session.error", receipt["seq"])
    assert found_in(portal.log, vault) == []
    assert "Refused GET" in portal.log


async def test_no_secret_is_in_any_answer_nor_in_anything_that_was_written(
    guarded: Guarded,
) -> None:
    async with client_of(guarded) as client:
        session = await session_on(client, "rehearsal", guarded.portal.work)
        await turn(client, session, "tell me")
        answers = [(await client.get(path)).text for path in ADDRESSES]
    assert [found_in(answer, guarded.vault) for answer in answers] == [[] for _ in answers]
    before = await asyncio.to_thread(stored_of, guarded)
    assert any(MASK.encode() in text for text in before.values())
    guarded.portal.stop()
    after = await asyncio.to_thread(stored_of, guarded)
    assert [name for name, text in before.items() if found_in(text, guarded.vault)] == []
    assert [name for name, text in after.items() if found_in(text, guarded.vault)] == []
    assert not (guarded.portal.data / "token").exists()
    guarded.portal.start()
