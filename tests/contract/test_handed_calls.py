"""The real runtime reaches its models without any network: it hands its calls over by its wire.

What it does not hand over is named here too, so that a new version that differs is noticed.
"""

import asyncio
import contextlib
import gc
import json
import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import AirbossError, Invalid
from airboss.harness.accounts import Grant
from airboss.harness.proxy_terms import ProxyLimits
from airboss.harness.token_command import AccountToken
from airboss.model.events import MessageDelta, MessageEnded
from airboss.model.setup import AgentSetup, Setup
from airboss.runtime.mcp_servers import ServerAddress
from airboss.runtime.named_models import ServiceModel
from airboss.runtime.rehearsal import RehearsalServer, parse_script
from airboss.runtime.signals import TurnFailed, TurnIdle
from tests.contract.handed import KEY, HandedFlight, handed_flight, provider
from tests.harness.upstream import Wire, providing
from tests.runtime.conftest import Listener, soon
from tests.runtime.copilot_service import Stage, on_stage
from tests.trials import sampled

pytestmark = pytest.mark.anyio

HELP = {"agent_type": "helper", "name": "helper", "description": "help", "mode": "sync"}
SCRIPT = "models: [{id: played}]\nrules: [{steps: [{say: It is played.}]}]\n"


@pytest.fixture
async def handed(tmp_path: Path, anyio_backend: str) -> AsyncGenerator[HandedFlight]:
    async with on_stage(Stage()) as stage, handed_flight(stage, tmp_path) as flight:
        yield flight


@pytest.fixture
def listener() -> Listener:
    return Listener()


async def turn(session: Any, listener: Listener, text: str, seconds: float = 30) -> str:
    """What the model said in it."""
    listener.told.clear()
    await session.send(text)
    await listener.until_over(seconds)
    return "".join(said.text for said in listener.all(MessageEnded))


async def test_turns_stream_with_the_key_added_outside_and_go_on_after_a_resume(
    handed: HandedFlight, listener: Listener
) -> None:
    lent = await handed.lend()
    session = await handed.session(listener, provider=provider(lent))
    assert await turn(session, listener, "say hello world") == "hello world "
    assert [said.text for said in listener.all(MessageDelta)] == ["hello ", "world "]
    assert await turn(session, listener, "flood 3000") == "".join(
        f"abcdefghij{place} " for place in range(3000)
    )
    assert await turn(session, listener, "agent say sub") == "done"
    await session.close()

    lent.give_back()
    other = await handed.lend()
    again = await handed.session(listener, id=session.id, provider=provider(other), resume=True)
    assert await turn(again, listener, "say back") == "back "
    assert "hello world" in json.dumps(handed.stage.requests[-1])
    assert set(handed.stage.tokens) == {f"Bearer {KEY}"}
    assert not handed.knocks


@pytest.mark.parametrize(
    ("path", "more"),
    sampled(
        3,
        [
            ("/v1", {"wire_api": "completions"}),
            ("/v1", {"wire_api": "responses"}),
            ("", {"type": "anthropic"}),
            ("", {"type": "azure"}),
            ("", {"type": "azure", "azure": {"api_version": "2024-10-21"}}),
        ],
    ),
)
async def test_every_wire_is_handed_over(
    handed: HandedFlight, listener: Listener, path: str, more: dict[str, Any]
) -> None:
    async with RehearsalServer(parse_script(SCRIPT, "here"), api_key=KEY) as played:
        lent = await handed.lend(played.base_url.removesuffix("/v1") + path)
        session = await handed.session(listener, provider=provider(lent, **more), model="played")
        assert await turn(session, listener, "go") == "It is played."


async def test_what_is_stopped_is_stopped_at_the_provider_too(
    handed: HandedFlight, listener: Listener
) -> None:
    async def slowly(wire: Wire) -> None:
        await wire.begin(200, "Content-Type: text/event-stream")
        while True:
            await wire.chunk(b": still there\n\n")
            await asyncio.sleep(0.02)

    async with providing(slowly) as service:
        lent = await handed.lend(service.url())
        session = await handed.session(listener, provider=provider(lent))
        await session.send("go")
        assert await soon(lambda: service.got)
        await session.abort()
        assert await listener.until(TurnIdle) == TurnIdle(aborted=True)
        async with asyncio.timeout(5):
            await service.left.wait()
    assert lent.trouble is None


async def test_a_runtime_that_dies_leaves_no_call_behind(
    handed: HandedFlight, listener: Listener
) -> None:
    async def never(wire: Wire) -> None:
        await wire.reader.read()
        raise ConnectionError

    async with providing(never) as service:
        lent = await handed.lend(service.url())
        session = await handed.session(listener, provider=provider(lent))
        await session.send("go")
        assert await soon(lambda: service.got)
        process = await handed.runtime.process()
        assert process.child
        process.child.kill()
        async with asyncio.timeout(10):
            await service.left.wait()
        await listener.until_over()
    assert (await handed.runtime.status()).starts == 2


async def test_answers_of_a_provider_arrive_as_they_are(
    handed: HandedFlight, listener: Listener
) -> None:
    lent = await handed.lend()
    session = await handed.session(listener, provider=provider(lent))
    for status in (400, 401):
        await turn(session, listener, f"fail {status}")
        assert listener.all(TurnFailed)[0].status == status
    assert await turn(session, listener, "break a b ;; say c d") == "a b c d "
    assert handed.stage.broken == 2, "half an answer was asked for again"


@pytest.mark.parametrize("status", sampled(1, [429, 500]))
async def test_a_passing_failure_is_tried_again(
    handed: HandedFlight, listener: Listener, status: int
) -> None:
    failed: list[int] = []

    async def once(wire: Wire) -> None:
        if not failed:
            failed.append(status)
            await wire.whole(status, b'{"error": {"message": "Later."}}', "Retry-After: 1")
            return
        delta = {"index": 0, "delta": {"content": "fine"}, "finish_reason": "stop"}
        said = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        await wire.begin(200, "Content-Type: text/event-stream")
        frame = json.dumps({**said, "choices": [delta]})
        await wire.chunk(f"data: {frame}\n\ndata: [DONE]\n\n".encode())
        await wire.say(b"0\r\n\r\n")

    async with providing(once) as service:
        lent = await handed.lend(service.url())
        session = await handed.session(listener, provider=provider(lent))
        assert await turn(session, listener, "go") == "fine"
    assert failed == [status]


@pytest.mark.parametrize(
    ("said", "words"),
    sampled(
        1,
        [
            (b"HTTP/1.1 307 Go\r\nLocation: http://elsewhere.example/\r\n\r\n", "redirects"),
            (
                b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\n.",
                "a web page",
            ),
            (b"SSH-2.0-somebody\r\n\r\n", "what it says is not HTTP"),
        ],
    ),
)
async def test_what_is_no_answer_ends_the_turn_in_words(
    handed: HandedFlight, listener: Listener, said: bytes, words: str
) -> None:
    async def garbled(wire: Wire) -> None:
        await wire.say(said)
        wire.writer.close()

    async with providing(garbled) as service:
        lent = await handed.lend(service.url())
        session = await handed.session(listener, provider=provider(lent))
        await turn(session, listener, "go", 60)
        failure = listener.all(TurnFailed)[0]
    assert words in lent.in_our_words(failure.message)


async def test_a_large_body_arrives_whole_and_one_that_is_too_large_is_refused(
    handed: HandedFlight, listener: Listener
) -> None:
    lent = await handed.lend()
    told = provider(lent, max_prompt_tokens=10_000_000)
    session = await handed.session(listener, provider=told)
    text = 'a "word" and \\ other é😀 \n' * 130_000
    assert len(text.encode()) > 3 * 1024 * 1024
    assert await turn(session, listener, f"say heard\n{text}", 50) == "heard "
    messages = handed.stage.requests[-1]["messages"]
    assert any(text.strip() in str(one["content"]) for one in messages)

    handed.proxy.limits = ProxyLimits(request_bytes=2 * 1024 * 1024)
    await turn(session, listener, "say more", 50)
    assert "has more than 2 MB" in lent.in_our_words(listener.all(TurnFailed)[0].message)


async def test_agents_of_a_session_are_at_several_providers(
    handed: HandedFlight, listener: Listener
) -> None:
    async with on_stage(Stage()) as other:
        own, theirs = await handed.lend(), await handed.lend(f"{other.address}/v1", "own")
        helper = AgentSetup(description="It helps.", prompt="You help.", model="own/deep")
        session = await handed.session(
            listener,
            provider=provider(own),
            named=(
                ServiceModel("house", "stand-in", provider(own)),
                ServiceModel("own", "deep", provider(theirs, wire_model="deep-1")),
            ),
            setup=Setup(agents={"helper": helper}),
        )
        await turn(session, listener, f"call task {json.dumps({**HELP, 'prompt': 'say hi'})}")
    assert {one["model"] for one in handed.stage.requests} == {"stand-in"}
    assert {one["model"] for one in other.requests} == {"deep-1"}
    assert set(other.tokens) == {f"Bearer {KEY}"}


async def test_a_session_on_copilot_has_a_word_and_its_calls_have_the_token(
    handed: HandedFlight, listener: Listener
) -> None:
    account = handed.lend_account("token-of-somebody")
    asked = {"model": "auto", "github_token": account.word}
    session = await handed.session(listener, **asked)
    assert await turn(session, listener, "say hello") == "hello "
    assert set(handed.stage.tokens) == {"Bearer token-of-somebody"}
    assert not handed.stage.mcp_methods, "GitHub's own MCP server is not reached by the handler"
    assert handed.knocks
    models = await handed.runtime.list_models(account.word)
    assert "gpt-5-mini" in [model.id for model in models]


async def test_an_mcp_server_over_http_is_called_by_the_runtime_itself(
    handed: HandedFlight, listener: Listener
) -> None:
    async with providing() as server:
        lent = await handed.lend()
        far = ServerAddress(server.url("/mcp"))
        session = await handed.session(listener, provider=provider(lent), servers={"far": far})
        assert await turn(session, listener, "say hello") == "hello "
        assert await soon(lambda: server.got)


async def test_a_session_goes_on_with_another_account(
    handed: HandedFlight, listener: Listener
) -> None:
    first = handed.lend_account("first-token")
    session = await handed.session(listener, model="gpt-5-mini", github_token=first.word)
    handed.stage.refused = frozenset({"first-token"})
    await turn(session, listener, "say no", 60)
    assert listener.all(TurnFailed)[0].status == 401
    await session.close()
    first.give_back()

    second = handed.lend_account("second-token")
    asked = {"model": "gpt-5-mini", "github_token": second.word, "resume": True}
    again = await handed.session(listener, id=session.id, **asked)
    handed.stage.tokens.clear()
    assert await turn(again, listener, "say yes") == "yes "
    assert set(handed.stage.tokens) == {"Bearer second-token"}

    gone = await handed.session(listener, model="gpt-5-mini", github_token=second.word)
    second.give_back()
    await turn(gone, listener, "say late", 60)
    assert listener.all(TurnFailed)


async def test_a_refused_account_is_told_when_its_session_is_opened(
    handed: HandedFlight, listener: Listener
) -> None:
    handed.stage.refused = frozenset({"old-token"})
    account = handed.lend_account("old-token")
    with pytest.raises(AirbossError, match="did not accept the sign-in"):
        await handed.session(listener, model="gpt-5-mini", github_token=account.word)


async def test_a_token_that_is_not_taken_any_more_is_renewed_outside(
    handed: HandedFlight, listener: Listener
) -> None:
    left = ["first-token", "second-token"]

    async def renew() -> AccountToken:
        return AccountToken(left.pop(0), 7200)

    account = handed.proxy.lend_account(Grant("someone", renew=renew))
    session = await handed.session(listener, model="gpt-5-mini", github_token=account.word)
    handed.stage.refused = frozenset({"first-token"})
    assert await turn(session, listener, "say renewed") == "renewed "
    assert handed.stage.tokens[-1] == "Bearer second-token"


@pytest.mark.skipif(os.geteuid() != 0, reason="Nobody else reads the memory of the runtime.")
async def test_neither_key_nor_token_is_in_the_runtime(
    handed: HandedFlight, listener: Listener
) -> None:
    account, lent = handed.lend_account("token-of-somebody"), await handed.lend()
    for asked in (
        {"model": "gpt-5-mini", "github_token": account.word},
        {"provider": provider(lent)},
    ):
        session = await handed.session(listener, **asked)
        listener.told.clear()
        await turn(session, listener, "shell env; cat /proc/$PPID/environ")
    gc.collect()
    pid = handed.runtime.pid
    assert pid is not None
    kept = await asyncio.to_thread(_memory, pid)
    assert account.word.encode() in kept
    assert b"token-of-somebody" not in kept
    assert KEY.encode() not in kept


def _memory(pid: int) -> bytes:
    found, folder = bytearray(), Path(f"/proc/{pid}")
    with (folder / "mem").open("rb", 0) as memory:
        for line in (folder / "maps").read_text("utf-8").splitlines():
            place, rights = line.split()[:2]
            begin, end = (int(part, 16) for part in place.split("-"))
            if rights.startswith("rw") and end - begin < 1 << 28:
                with contextlib.suppress(OSError, ValueError, OverflowError):
                    memory.seek(begin)
                    found += memory.read(end - begin)
    return bytes(found)


async def test_the_sign_in_of_the_cli_is_not_lent(handed: HandedFlight) -> None:
    with pytest.raises(Invalid, match="caged session"):
        handed.proxy.lend_account(replace(Grant("cli"), is_cli=True))
