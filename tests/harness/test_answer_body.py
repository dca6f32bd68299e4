"""Answers of services that pack them unasked, tell an error as if all were well, or say nothing for
ever: what the runtime gets of them."""

import asyncio
import gzip
import itertools
import json
import zlib
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from typing import Any

import httpx2
import pytest

from airboss.harness.answer_body import AnswerBody, NothingSaid
from airboss.harness.providers import upstream_of
from airboss.harness.proxy_terms import ProxyLimits
from airboss.provider_settings import Provider, ProviderModel
from tests.harness.proxied import KEY, ProxiedHouse, proxied, said
from tests.harness.upstream import Answer, Wire

JSON = "Content-Type: application/json; charset=utf-8"


def answering(body: bytes, *lines: str, status: int = 200) -> Answer:
    async def answer(wire: Wire) -> None:
        await wire.whole(status, body, *lines)

    return answer


def with_key(house: ProxiedHouse) -> None:
    """So that the key is known as one that no answer may repeat."""
    own = Provider(name="house", base_url=house.provider.url(), models=(ProviderModel(id="m"),))
    house.lent.replace(upstream_of(own, KEY))


async def test_a_key_in_an_answer_that_was_packed_unasked_is_covered_too() -> None:
    text = json.dumps({"error": {"message": f"Incorrect key: {KEY}."}}).encode()
    packed = {
        "gzip": gzip.compress(text),
        "GZIP": gzip.compress(text[:9]) + gzip.compress(text[9:]),
        "deflate": zlib.compress(text),
    }

    async def repeat(wire: Wire) -> None:
        word, size = wire.got.line.split(" ")[1].split("/")[2:]
        await wire.begin(400, JSON, f"Content-Encoding: {word}")
        for at in range(0, len(packed[word]), int(size)):
            await wire.chunk(packed[word][at : at + int(size)])
        await wire.chunk(b"")

    async with proxied(repeat) as house:
        with_key(house)
        for word, size in itertools.product(packed, ("1", "7", "1000000")):
            answer = await house.post(f"/{word}/{size}")
            assert (answer.status_code, "content-encoding" in answer.headers) == (400, False)
            assert said(answer) == f"Incorrect key: {'*' * len(KEY)}."


async def test_what_is_small_until_it_is_unpacked_is_cut_at_the_same_size() -> None:
    packer = zlib.compressobj(wbits=31)
    pieces = [packer.compress(b"data: " + b"0" * 1024 * 1024) for _ in range(64)]
    bomb = b"".join((*pieces, packer.flush()))
    assert len(bomb) < 100_000
    async with proxied(answering(bomb, "Content-Encoding: gzip")) as house:
        with pytest.raises(httpx2.RemoteProtocolError):
            await house.post()
        assert house.lent.trouble == "The provider house answered with more than 2 MB."


async def test_what_cannot_be_unpacked_is_not_taken_for_an_answer() -> None:
    for body in (b"no gzip", gzip.compress(b"x" * 999)[:-12]):
        async with proxied(answering(body, "Content-Encoding: gzip")) as house:
            with pytest.raises(httpx2.RemoteProtocolError):
                await house.post()
            trouble = "The provider house answered in an encoding that cannot be read."
            assert house.lent.trouble == trouble


async def test_an_encoding_that_nobody_here_knows_is_refused_in_words() -> None:
    async with proxied(answering(b"?", "Content-Encoding: br")) as house:
        answer = await house.post()
        assert answer.status_code == 400
        trouble = "The provider house answered in an encoding that it was not asked for."
        assert said(answer) == trouble


ERRORS: list[tuple[Any, int, str]] = [
    ({"error": {"message": f"no credits for {KEY}"}}, 400, f"no credits for {'*' * len(KEY)}"),
    ({"error": {"message": "slow down", "code": 429}}, 429, "slow down"),
    ({"error": {"message": "what?", "code": 1_000}}, 400, "what?"),
    ({"error": {"reason": "dull"}}, 400, '{"reason": "dull"}'),
    ({"error": "no such model"}, 400, "no such model"),
]
OTHERS = [
    b'{"error": null, "output": []}',
    b'{"choices": [{"message": {"content": "error"}}]}',
    b'["error"]',
    b'{"error": {',
    b'{"error": "' + b"x" * 100_000,
    b"[" * 50_000,
]


async def test_an_error_that_is_told_as_if_all_were_well_is_an_error_and_nothing_else_is() -> None:
    bodies = [*(json.dumps(body).encode() for body, _, _ in ERRORS), *OTHERS]

    async def answer(wire: Wire) -> None:
        await wire.whole(200, bodies[int(wire.got.line.split(" ")[1].split("/")[2])], JSON)

    async with proxied(answer) as house:
        with_key(house)
        for number, (_, status, told) in enumerate(ERRORS):
            found = await house.post(f"/{number}")
            assert found.status_code == status
            assert said(found) == f"The provider house answered with an error: {told}"
        for number, body in enumerate(OTHERS, len(ERRORS)):
            found = await house.post(f"/{number}")
            assert (found.status_code, found.content) == (200, body)


async def test_a_stream_that_is_only_kept_open_is_given_up() -> None:
    async def keep_open(wire: Wire) -> None:
        await wire.begin(200, "Content-Type: text/event-stream")
        await wire.chunk(b"data: {}\n\n")
        while True:
            await wire.chunk(b": still here\r\n\r\n")
            await asyncio.sleep(0.01)

    async with proxied(keep_open, limits=ProxyLimits(answer_seconds=0.5)) as house:
        with pytest.raises(httpx2.RemoteProtocolError):
            await house.post()
        assert house.lent.trouble == "The provider house only kept its answer open for 0.5 s."
        await asyncio.wait_for(house.provider.left.wait(), 30)


@pytest.mark.parametrize(
    ("piece", "is_sign"),
    [
        (b": still here\n\n", True),
        (b'event: ping\ndata: {"type": "ping"}\n\n', True),
        (b"\r\n", True),
        (b'data: {"choices": []}\n\n', False),
        (b": still here\n\ndata: {}\n\n", False),
    ],
)
async def test_only_what_says_nothing_counts_as_a_sign_of_life(piece: bytes, is_sign: bool) -> None:
    async def stream() -> AsyncGenerator[bytes]:
        yield b"data: {}\n\n"
        yield piece

    body = AnswerBody(httpx2.Response(200, content=stream()), 1_000, quiet=0.0)
    with pytest.raises(NothingSaid) if is_sign else nullcontext():
        assert [part async for part in body.pieces()] == [b"data: {}\n\n", piece]
