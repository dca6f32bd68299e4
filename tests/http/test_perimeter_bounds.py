"""Bodies, headers, counts and times are bounded; and what a browser is told with every answer."""

import asyncio
import logging
import time

import pytest

from airboss.http.bounds import RequestBounds
from airboss.http.protocol import BoundedProtocol
from tests.http.door import Door, Open

SMALL = RequestBounds(
    body_bytes=1000, stranger_body_bytes=100, body_seconds=0.3, linger_seconds=0.3
)
QUERY = "/api/copilot/session/s/query"


def post(path: str, token: str, *lines: str) -> str:
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1:PORT", f"Authorization: Bearer {token}"]
    return "\r\n".join([*head, *lines, "", ""])


async def test_a_body_up_to_the_bound_comes_through_whole(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        for method in ("GET", "POST"):
            answer = await door.ask(QUERY, method, headers=door.bearer, content=b"x" * 1000)
            assert answer.json() == {"length": 1000}
        assert (await door.ask(QUERY, "POST", headers=door.bearer)).json() == {"length": 0}


async def test_a_caller_that_waits_for_leave_to_send_gets_it_or_the_reason(
    open_door: Open,
) -> None:
    async with open_door(bounds=SMALL) as door:
        wait = ("Expect: 100-continue", "Connection: close")
        small = await door.raw(post(QUERY, door.access.token, "Content-Length: 2", *wait) + "ab")
        assert small.startswith(b"HTTP/1.1 100 ")
        assert small.endswith(b'{"length":2}')
        large = await door.raw(post(QUERY, door.access.token, "Content-Length: 2000", *wait))
        assert large.startswith(b"HTTP/1.1 413 ")


async def test_a_larger_body_is_refused_by_its_length(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        answer = await door.ask("/api/v1/prompts", "POST", headers=door.bearer, content=b"x" * 1001)
        assert answer.status_code == 413
        assert answer.json()["code"] == "body_too_large"
        assert answer.json()["detail"] == "The body is too large. The limit is 1000 bytes."
        seed = await door.ask(QUERY, "POST", headers=door.bearer, content=b"x" * 1001)
        assert (seed.status_code, list(seed.json())) == (413, ["error"])


async def test_a_much_larger_body_still_hears_why(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        for headers, status in ((door.bearer, 413), ({}, 413)):
            answer = await door.ask(QUERY, "POST", headers=headers, content=b"x" * 5_000_000)
            assert answer.status_code == status


async def test_a_body_without_a_length_is_refused_while_it_comes(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        head = post(QUERY, door.access.token, "Transfer-Encoding: chunked")
        chunk = f"{600:x}\r\n{'x' * 600}\r\n"
        answer = await door.raw(head + chunk + chunk + chunk)
        assert answer.startswith(b"HTTP/1.1 413 ")
        whole = await door.raw(
            post(QUERY, door.access.token, "Transfer-Encoding: chunked", "Connection: close")
            + chunk
            + "0\r\n\r\n"
        )
        assert whole.endswith(b'{"length":600}')


async def test_a_slow_body_is_given_up(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        began = time.monotonic()
        answer = await door.raw(post(QUERY, door.access.token, "Content-Length: 10") + "only")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert 0.3 <= time.monotonic() - began < 3
        trickle = post("/api/v1/prompts", door.access.token, "Transfer-Encoding: chunked")
        assert (await door.raw(trickle + "1\r\nx\r\n")).startswith(b"HTTP/1.1 408 ")


async def test_nobody_without_the_token_fills_the_memory(open_door: Open) -> None:
    async with open_door(bounds=SMALL) as door:
        head = post("/api/v1/signin", "", "Content-Type: application/json", "Content-Length: 101")
        assert (await door.raw(head + "x" * 101)).startswith(b"HTTP/1.1 413 ")
        page = await door.ask("/index.html", content=b"x" * 101)
        assert page.status_code == 413
        began = time.monotonic()
        silent = post(QUERY, "wrong", "Content-Length: 10")
        assert (await door.raw(silent)).startswith(b"HTTP/1.1 401 ")
        assert time.monotonic() - began < 3


async def test_a_caller_who_leaves_in_the_middle_disturbs_nobody(
    open_door: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with open_door(bounds=SMALL) as door:
        _, writer = await asyncio.open_connection("127.0.0.1", door.port)
        head = post(QUERY, door.access.token, "Content-Length: 10")
        writer.write(head.replace("PORT", str(door.port)).encode() + b"half")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert (await door.ask("/api/v1/who", headers=door.bearer)).status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    "lines",
    [
        "Content-Length: ten",
        "Content-Length: -1",
        "Content-Length: 1\nContent-Length: 2",
        "Transfer-Encoding: chunked\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip",
        "No colon",
    ],
)
async def test_what_is_not_http_is_refused_with_our_headers_and_a_line(
    door: Door, lines: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await door.raw(post(QUERY, door.access.token, *lines.splitlines()))
    assert answer.split(b" ", 2)[1] in (b"400", b"501")
    assert b"nosniff" in answer
    assert b"text/plain" in answer
    assert "Refused" in caplog.text
    assert door.access.token not in caplog.text


async def test_a_body_with_two_ends_is_refused_and_nothing_behind_it_is_heard(door: Door) -> None:
    """A proxy that went by the length would have taken all of it for one request."""
    hidden = "GET /api/v1/who HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
    lines = (f"Content-Length: {len(hidden) + 5}", "Transfer-Encoding: chunked")
    answer = await door.raw(post(QUERY, door.access.token, *lines) + "0\r\n\r\n" + hidden)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1") == 1
    assert door.seen.calls == []


async def test_addresses_and_headers_are_bounded(door: Door) -> None:
    async with door.client(headers=door.bearer) as client:
        long_address = await client.get("/api/v1/who?x=" + "y" * 9000)
        assert (long_address.status_code, long_address.json()["code"]) == (414, "address_too_long")
        many = await client.get("/api/v1/who", headers=[(f"x-{n}", "y") for n in range(101)])
        assert (many.status_code, many.json()["code"]) == (431, "too_many_headers")
        large = await client.get("/api/v1/who", headers={"x-large": "y" * 40_000})
        assert (large.status_code, large.json()["code"]) == (431, "headers_too_large")
    beyond = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nx: {'y' * 200_000}\r\n\r\n"
    assert (await door.raw(beyond)).startswith(b"HTTP/1.1 400 ")


async def test_a_head_that_does_not_come_is_not_waited_for(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedProtocol, "stranger_seconds", 0.3)
    assert await door.raw("") == b""
    assert await door.raw("GET / HTTP/1.1\r\nHost: ") == b""
    # The second request of a connection is bounded as the first one is.
    whole = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(whole.replace("PORT", str(door.port)).encode())
    assert (await reader.readuntil(b'"ok"}')).startswith(b"HTTP/1.1 200 ")
    writer.write(b"GET /heal")
    assert await reader.read() == b""
    assert time.monotonic() - began < 3
    writer.close()


async def test_a_small_answer_does_not_wait_for_the_network(door: Door) -> None:
    async def usual_seconds() -> float:
        async with door.client(headers=door.bearer) as client:
            taken: list[float] = []
            for _ in range(9):
                began = time.monotonic()
                await client.get("/api/v1/who")
                taken.append(time.monotonic() - began)
        return sorted(taken)[4]

    # The network's pause of 0.04 s would come each time; a busy machine is slow now and then.
    usual = [await usual_seconds()]
    while usual[-1] >= 0.03 and len(usual) < 5:
        usual.append(await usual_seconds())
    assert min(usual) < 0.03, usual


async def test_a_long_answer_outlives_the_bound_of_heads(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", 0.2)
    monkeypatch.setattr(BoundedProtocol, "stranger_seconds", 0.2)
    async with (
        door.client(headers=door.bearer) as client,
        client.stream("GET", "/api/v1/sessions/x/stream") as answer,
    ):
        pieces = answer.aiter_text()
        until = time.monotonic() + 0.6
        while time.monotonic() < until:
            assert await anext(pieces)


async def test_every_answer_tells_the_browser_what_it_may_do(door: Door) -> None:
    expected = {
        "content-security-policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    async with door.client() as client:
        for path, headers, status in (
            ("/", {}, 200),
            ("/assets/index-0a1b2c3d.js", {}, 200),
            ("/nothing.html", {}, 404),
            ("/api/v1/who", door.bearer, 200),
            ("/api/v1/who", {}, 401),
            ("/api/v1/fail/nonsense", door.bearer, 500),
            ("/api/nothing", door.bearer, 404),
            ("/api/stop", {"Origin": "null"}, 403),
        ):
            answer = await client.get(path, headers=headers)
            assert answer.status_code == status, path
            shown = {name: answer.headers.get_list(name) for name in expected}
            assert shown == {name: [value] for name, value in expected.items()}, path
            assert answer.headers["x-request-id"].startswith("req_")
            if path.startswith("/api"):
                assert answer.headers.get_list("cache-control") == ["no-store"]


async def test_a_stream_comes_at_once_with_our_headers_instead_of_the_apps(door: Door) -> None:
    began = time.monotonic()
    async with (
        door.client(headers=door.bearer) as client,
        client.stream("GET", "/api/v1/sessions/x/stream") as answer,
    ):
        assert (await anext(answer.aiter_text())).startswith("id: 0\n")
        assert time.monotonic() - began < 5
        assert "access-control-allow-origin" not in answer.headers
        assert len(answer.headers.get_list("content-security-policy")) == 1
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-length" not in answer.headers


async def test_requests_of_one_connection_follow_each_other_after_a_refusal(door: Door) -> None:
    async with door.client() as client:
        for _ in range(3):
            assert (await client.get("/api/v1/who")).status_code == 401
            refused = await client.post(QUERY, content=b"x" * 100)
            assert refused.status_code == 401
            assert refused.headers["connection"] == "close"
            allowed = await client.get("/api/v1/who", headers=door.bearer)
            assert allowed.status_code == 200
