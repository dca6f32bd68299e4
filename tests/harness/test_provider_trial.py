"""A provider that is tried: what it says of itself, and everything that can be wrong with it."""

import asyncio
import json

import pytest

from airboss.harness.provider_trial import ProviderTrial
from airboss.harness.providers import upstream_of
from airboss.harness.trial_result import TrialLimits, TrialResult
from airboss.model.redaction import Redactor
from airboss.provider_settings import Provider, ProviderModel
from tests.harness.proxied import leads_to
from tests.harness.upstream import Answer, Wire, providing

pytestmark = pytest.mark.anyio

KEY = "key-of-the-house-0123456789"
SMALL = TrialLimits(seconds=5, list_bytes=100_000, answer_bytes=100_000)
LISTED = {"data": [{"id": "bge-m3"}, {"id": "m", "max_model_len": 9000}]}


async def listing(wire: Wire) -> bool:
    """Whether it was asked for the list, which is answered."""
    if wire.got.line.startswith("GET"):
        await wire.whole(200, json.dumps(LISTED).encode(), "Content-Type: application/json")
    return wire.got.line.startswith("GET")


async def tried(
    answer: Answer, *, base: str = "", limits: TrialLimits = SMALL, private: bool = False
) -> tuple[TrialResult, list[str]]:
    async with providing(answer) as house:
        url = base.replace("PORT", str(house.port)) or house.url()
        provider = Provider(
            name="lab",
            base_url=url,
            private=private,
            models=(ProviderModel(id="?"),),
            auth="bearer",
        )
        trial = ProviderTrial(provider, upstream_of(provider, KEY), None, Redactor((KEY,)), limits)
        return await trial.run(), [got.line for got in house.got]


async def test_a_good_one_says_its_models_and_how_fast_it_is() -> None:
    async def good(wire: Wire) -> None:
        assert wire.got.headers["authorization"] == f"Bearer {KEY}"
        if await listing(wire):
            return
        assert json.loads(wire.got.body)["model"] == "m"  # the first that one can talk with
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n')
        await wire.chunk(b'data: {"choices":[{"delta":{"content":"ready"}}]}\n\n')
        await wire.chunk(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
        usage = b'{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}'
        await wire.chunk(b'data: {"choices":[],"usage":' + usage + b"}\n\ndata: [DONE]\n\n", b"")

    result, lines = await tried(good)
    assert (result.ok, result.model, result.tokens, result.problem) == (True, "m", 23, None)
    assert result.first_word_ms
    assert result.first_word_ms < 5_000
    assert [line.split()[1] for line in lines] == ["/v1/models", "/v1/chat/completions"]
    assert result.models
    assert [(one.id, one.chat, one.context_tokens) for one in result.models] == [
        ("bge-m3", False, None),
        ("m", True, 9000),
    ]


async def refuse_key(wire: Wire) -> None:
    body = json.dumps({"error": {"message": f"Incorrect key {KEY}"}}).encode()
    await wire.whole(401, body, "Content-Type: application/json")


async def web_page(wire: Wire) -> None:
    await wire.whole(200, b"<html>hello</html>", "Content-Type: text/html")


async def no_json(wire: Wire) -> None:
    await wire.whole(200, b"\x00\x01\x02", "Content-Type: application/json")


async def no_http(wire: Wire) -> None:
    await wire.say(b"220 mail.example.com ESMTP\r\n\r\n")


async def half_a_stream(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b'data: {"choices":[{"delta":{"content":"rea"}}]}\n\n')
        wire.writer.close()


async def no_end(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b'data: {"choices":[{"delta":{"content":"rea"}}]}\n\n', b"")


async def garbage_in_the_stream(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b"data: {{{\n\n", b"")


DEEP = b"[" * 50_000


async def deep_list(wire: Wire) -> None:
    await wire.whole(200, DEEP, "Content-Type: application/json")


async def deep_stream(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b"data: " + DEEP + b"\n\n", b"")


async def deep_error(wire: Wire) -> None:
    await wire.whole(500, DEEP)


async def half_a_letter(wire: Wire) -> None:
    await wire.whole(500, b'{"error": {"message": "a\\ud800b"}}')


async def error_in_the_stream(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b'data: {"error":{"message":"out of memory"}}\n\n', b"")


async def redirect(wire: Wire) -> None:
    await wire.whole(307, b"", "Location: http://10.0.0.1/v1/models?key=secret")


async def flood(wire: Wire) -> None:
    await wire.begin(200, "Content-Type: application/json")
    for _ in range(100):
        await wire.chunk(b" " * 1024 * 1024)


async def told_flood(wire: Wire) -> None:
    await wire.say(b"HTTP/1.1 200 X\r\nContent-Length: 104857600\r\n\r\n" + b" " * 1000)


async def flood_of_words(wire: Wire) -> None:
    if not await listing(wire):
        await wire.begin(200, "Content-Type: text/event-stream")
        for _ in range(100):
            await wire.chunk(b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n' * 1000)


async def no_such_model(wire: Wire) -> None:
    if not await listing(wire):
        await wire.whole(404, b'{"error":{"message":"model m not found"}}')


async def too_many(wire: Wire) -> None:
    await wire.whole(429, b"{}")


async def broken(wire: Wire) -> None:
    await wire.whole(500, b'{"error":"disk full"}')


async def silence(wire: Wire) -> None:
    await wire.reader.read()


@pytest.mark.parametrize(
    ("answer", "cause", "words"),
    [
        (refuse_key, "key", "refused the key (401). Check the key. It says: Incorrect key [secret"),
        (web_page, "garbage", "answered with a web page"),
        (no_json, "garbage", "not as this kind of provider does"),
        (no_http, "garbage", "is not HTTP"),
        (half_a_stream, "cut", "broke off in the middle of its answer"),
        (no_end, "cut", "broke off in the middle of its answer"),
        (garbage_in_the_stream, "garbage", "Check the kind, the API and the address"),
        (deep_list, "garbage", "not as this kind of provider does"),
        (deep_stream, "garbage", "Check the kind, the API and the address"),
        (deep_error, "refused", "answered with 500."),
        (half_a_letter, "refused", "answered with 500. It says: a\ufffdb"),
        (error_in_the_stream, "refused", "The provider says: out of memory"),
        (redirect, "redirect", "redirects to 10.0.0.1 (307), which is not followed"),
        (flood, "too-large", "more than 100000 bytes"),
        (told_flood, "too-large", "more than 100000 bytes"),
        (flood_of_words, "too-large", "more than 100000 bytes"),
        (no_such_model, "address", "or the model m (404). Check both. It says: model m not found"),
        (too_many, "busy", "too many requests (429)"),
        (broken, "refused", "answered with 500. It says: disk full"),
    ],
)
async def test_what_is_wrong_is_said_in_words(answer: Answer, cause: str, words: str) -> None:
    result, lines = await tried(answer)
    assert (result.ok, result.cause) == (False, cause)
    assert words in str(result.problem)
    assert KEY not in result.model_dump_json()
    assert "key=secret" not in str(result.problem)
    assert len(lines) <= 2


async def test_one_that_says_nothing_is_given_up() -> None:
    result, _ = await tried(silence, limits=TrialLimits(seconds=0.3))
    assert (result.cause, "did not answer within 0.3 s" in str(result.problem)) == ("time", True)


async def test_addresses_that_lead_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    leads_to(monkeypatch, ["10.1.2.3"])
    result, lines = await tried(silence, base="https://rebind.test:PORT/v1")
    assert (result.cause, lines) == ("private", [])
    assert "tick that it is on your own network" in str(result.problem)
    leads_to(monkeypatch, ["169.254.169.254"])
    result, lines = await tried(silence, base="https://rebind.test:PORT/v1", private=True)
    assert (result.cause, lines) == ("private", [])
    result, _ = await tried(silence, base="https://nowhere.invalid/v1")
    assert (result.cause, "no such name" in str(result.problem)) == ("dns", True)
    result, _ = await tried(silence, base="http://127.0.0.1:1/v1")
    assert (result.cause, "Is it running?" in str(result.problem)) == ("unreachable", True)


async def test_models_that_nobody_could_name_are_not_listed() -> None:
    async def odd(wire: Wire) -> None:
        if wire.got.line.startswith("GET"):
            await wire.whole(
                200, b'{"data": [{"id": "a\\ud800"}, {"id": "a\\u0000"}, {"id": "m"}]}'
            )
        else:
            await wire.whole(500, b"{}")

    result, _ = await tried(odd)
    assert result.models
    assert [one.id for one in result.models] == ["m"]


async def test_an_address_that_no_client_takes_is_told() -> None:
    result, lines = await tried(silence, base=f"http://127.0.0.1:PORT/{'x' * 70_000}")
    assert (result.cause, lines) == ("address", [])
    assert "is no address. Check how it is written" in str(result.problem)


async def test_one_without_tls_is_told_from_one_that_is_not_there() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        result, _ = await tried(silence, base=f"https://127.0.0.1:{port}/v1")
    assert (result.cause, "certificate" in str(result.problem)) == ("tls", True)
