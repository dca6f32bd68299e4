"""Who gets in, by name, origin and token. Every sentence of the perimeter has its knock here."""

import asyncio
import logging
import time

import httpx2
import pytest

from airboss.http.refusals import Guesses, RefusalExit, RefusalLog
from airboss.store.tokens import NamedTokens, new_token
from tests.http.door import Door, Open
from tests.http.walk import addresses, every_route_needs_the_token


async def test_every_route_needs_the_token_streams_included(door: Door) -> None:
    tried = addresses(door.app.routes)
    assert ("GET", "/api/v1/sessions/x/stream") in tried
    assert ("POST", "/api/v1/links") in tried
    assert ("OPTIONS", "/api/stop") in tried
    count = await every_route_needs_the_token(door.url, door.app.routes, door.access.token)
    assert count == len(tried) >= 20
    assert door.seen.calls == []


async def test_unknown_addresses_are_closed_as_well(door: Door) -> None:
    for path in ("/api", "/api/", "/api/nothing", "/api/v1/nothing", "/admin", "//api/stop",
                 "/API/stop", "/.env", "/x/y.html", "/index.html/../api/stop"):  # fmt: skip
        status = await door.status(f"GET {path} HTTP/1.1\nHost: 127.0.0.1:PORT")
        assert status == 401, path


async def test_the_right_token_gets_in_by_its_name(door: Door) -> None:
    assert (await door.ask("/api/v1/who", headers=door.bearer)).json() == {"who": "owner"}
    token = NamedTokens(door.folder).add("ci")
    answer = await door.ask("/api/v1/who", headers={"Authorization": f"bearer {token}"})
    assert answer.json() == {"who": "ci"}


async def test_a_removed_token_is_out_at_the_next_request(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    async with door.client() as client:
        for _ in range(10):
            bearer = {"Authorization": f"Bearer {tokens.add('ci')}"}
            assert (await client.get("/api/v1/who", headers=bearer)).status_code == 200
            tokens.remove("ci")
            assert (await client.get("/api/v1/who", headers=bearer)).status_code == 401


async def test_a_stream_ends_when_its_token_is_removed(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    bearer = {"Authorization": f"Bearer {tokens.add('guest')}"}
    async with door.client() as client:
        async with client.stream("GET", "/api/v1/sessions/x/stream", headers=bearer) as answer:
            assert answer.status_code == 200
            pieces = answer.aiter_text()
            assert await anext(pieces)
            tokens.remove("guest")
            removed = time.monotonic()
            async for _ in pieces:
                assert time.monotonic() - removed < 2
        async with asyncio.timeout(2):
            await door.seen.stream_ended.wait()
        assert (await client.get("/api/v1/who", headers=door.bearer)).status_code == 200


async def test_a_file_is_not_sent_on_to_a_removed_token_and_does_not_look_whole(
    door: Door,
) -> None:
    tokens = NamedTokens(door.folder)
    bearer = {"Authorization": f"Bearer {tokens.add('guest')}"}
    async with (
        door.client() as client,
        client.stream("GET", "/api/v1/sessions/x/export", headers=bearer) as answer,
    ):
        pieces = answer.aiter_text()
        assert await anext(pieces)
        tokens.remove("guest")
        removed = time.monotonic()
        with pytest.raises(httpx2.RemoteProtocolError):
            [piece async for piece in pieces]
        assert time.monotonic() - removed < 2


async def test_a_stream_of_another_name_goes_on(door: Door) -> None:
    tokens = NamedTokens(door.folder)
    tokens.add("guest")
    async with (
        door.client() as client,
        client.stream("GET", "/api/v1/sessions/x/stream", headers=door.bearer) as answer,
    ):
        pieces = answer.aiter_text()
        await anext(pieces)
        tokens.remove("guest")
        until = time.monotonic() + 0.6
        while time.monotonic() < until:
            assert await anext(pieces)


async def test_a_wrong_token_is_answered_after_a_while_and_a_right_one_at_once(
    door: Door,
) -> None:
    wrong = {"Authorization": f"Bearer {new_token()}"}
    async with door.client() as client:

        async def timed(headers: dict[str, str]) -> tuple[int, float]:
            began = time.monotonic()
            answer = await client.get("/api/v1/who", headers=headers)
            return answer.status_code, time.monotonic() - began

        async with asyncio.TaskGroup() as tasks:
            guesses = [tasks.create_task(timed(wrong)) for _ in range(20)]
            await asyncio.sleep(0.05)
            rights = [await timed(door.bearer) for _ in range(5)]
    assert {status for status, _ in rights} == {200}
    assert min(seconds for _, seconds in rights) < 0.2
    assert {guess.result()[0] for guess in guesses} == {401}
    assert min(guess.result()[1] for guess in guesses) >= 0.3


async def test_a_flood_of_wrong_tokens_waits_in_bounded_numbers(open_door: Open) -> None:
    gate = RefusalExit(Guesses(at_once=2))
    async with open_door(gate=gate) as door, door.client() as client:
        wrong = {"Authorization": f"Bearer {new_token()}"}
        async with asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(client.get("/api/v1/who", headers=wrong)) for _ in range(8)]
        answers = [task.result() for task in asked]
        assert sorted(answer.status_code for answer in answers) == [401] * 2 + [429] * 6
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["code"] == "too_many_guesses"
        assert refused.headers["retry-after"] == "1"
        # Nobody is locked out.
        assert (await client.get("/api/v1/who", headers=door.bearer)).status_code == 200


NO_TOKENS = [
    "Authorization: Bearer",
    "Authorization: Bearer  ",
    "Authorization: TOKEN",
    "Authorization: Bearer TOKENx",
    "Authorization: Bearer TOKEN TOKEN",
    "Authorization: Bearer TOKEN\nAuthorization: Bearer TOKEN",
    "Authorization: Bearer TOKEN\nAuthorization: Bearer other",
    "Authorization: Bearer \xff\xfe",
    "Proxy-Authorization: Bearer TOKEN",
    "X-Forwarded-User: owner",
    "airboss.who: owner",
]


async def test_nothing_but_one_exact_bearer_is_a_token(door: Door) -> None:
    for line in NO_TOKENS:
        shown = line.replace("TOKEN", door.access.token)
        head = f"GET /api/v1/who HTTP/1.1\nHost: 127.0.0.1:PORT\n{shown}"
        assert await door.status(head) == 401, line


async def test_the_names_of_loopback_are_served(door: Door) -> None:
    for host in ("127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT"):
        head = f"GET /api/v1/who HTTP/1.1\nHost: {host}\n{door.token_line()}"
        assert await door.status(head) == 200, host


NOT_OURS = [
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1.evil.example:PORT",
    "localhost.evil.example:PORT",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    "127.0.0.1:PORT0",
    "127.0.0.1:0PORT",
    "LOCALHOST:PORT",
    "localhost.:PORT",
    "127.0.0.2:PORT",
    "127.1:PORT",
    "0.0.0.0:PORT",
    "::1:PORT",
    "[::1]",
    "[0:0:0:0:0:0:0:1]:PORT",
    "user@127.0.0.1:PORT",
    "127.0.0.1:PORT, evil.example",
    "127.0.0.1:PORT@evil.example",
    "",
]


@pytest.mark.parametrize("path", ["/api/v1/who", "/", "/healthz", "/api/v1/signin"])
async def test_any_other_name_is_misdirected(door: Door, path: str) -> None:
    for host in NOT_OURS:
        head = f"GET {path} HTTP/1.1\nHost: {host}\n{door.token_line()}"
        assert await door.status(head) == 421, host


async def test_a_missing_or_doubled_host_is_refused(door: Door) -> None:
    token = door.token_line()
    assert await door.status(f"GET /api/v1/who HTTP/1.0\n{token}") == 421
    assert await door.status(f"GET /api/v1/who HTTP/1.1\n{token}") == 400
    twice = "Host: 127.0.0.1:PORT\nHost: 127.0.0.1:PORT"
    assert await door.status(f"GET /api/v1/who HTTP/1.1\n{twice}\n{token}") == 400
    forwarded = "Host: evil.example\nX-Forwarded-Host: 127.0.0.1:PORT"
    assert await door.status(f"GET /api/v1/who HTTP/1.1\n{forwarded}\n{token}") == 421


async def test_the_target_of_a_request_is_a_path(door: Door) -> None:
    for target in ("http://127.0.0.1:PORT/api/v1/who", "http://evil.example/", "*", "api/v1/who"):
        head = f"GET {target} HTTP/1.1\nHost: 127.0.0.1:PORT\n{door.token_line()}"
        assert await door.status(head) == 400, target


async def test_configured_names_count_exactly_as_configured(open_door: Open) -> None:
    async with open_door(hosts=("Portal.example", "box:8443")) as door:
        expected = {"portal.example": 200, "box:8443": 200, "portal.example:PORT": 421, "box": 421}
        for host, status in expected.items():
            head = f"GET /api/v1/who HTTP/1.1\nHost: {host}\n{door.token_line()}"
            assert await door.status(head) == status, host


FOREIGN = [
    "Origin: http://evil.example",
    "Origin: null",
    "Origin: https://127.0.0.1:PORT",
    "Origin: http://127.0.0.1",
    "Origin: http://127.0.0.1:1",
    "Origin: http://localhost:PORT",
    "Origin: http://127.0.0.1:PORT.evil.example",
    "Origin: http://127.0.0.1:PORT\nOrigin: http://evil.example",
    "Origin:",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
    "Sec-Fetch-Site: anything",
    "Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site",
    "Origin: http://127.0.0.1:PORT\nSec-Fetch-Site: cross-site",
    "Origin: http://evil.example\nSec-Fetch-Site: same-origin",
]


@pytest.mark.parametrize(
    "ask",
    [
        "GET /api/stop",
        "POST /api/stop",
        "GET /api/v1/sessions/x/stream",
        "POST /api/v1/signin",
        "GET /metrics",
        "GET /api/nothing",
        "OPTIONS /api/stop",
    ],
)
async def test_what_another_page_asks_is_refused_whatever_the_method(door: Door, ask: str) -> None:
    for line in FOREIGN:
        head = f"{ask} HTTP/1.1\nHost: 127.0.0.1:PORT\n{line}\n{door.token_line()}"
        assert await door.status(head) == 403, line
    assert door.seen.calls == []


async def test_what_our_own_page_or_a_person_asks_is_heard(door: Door) -> None:
    for line in (
        "Sec-Fetch-Site: none",
        "Sec-Fetch-Site: same-origin",
        "Origin: http://127.0.0.1:PORT",
        "Origin: http://127.0.0.1:PORT\nSec-Fetch-Site: same-origin",
    ):
        head = f"GET /api/stop HTTP/1.1\nHost: 127.0.0.1:PORT\n{line}\n{door.token_line()}"
        assert await door.status(head) == 200, line


async def test_a_page_may_be_reached_from_another_page(door: Door) -> None:
    for path in ("/", "/test.html", "/healthz"):
        head = f"GET {path} HTTP/1.1\nHost: 127.0.0.1:PORT\nSec-Fetch-Site: cross-site"
        assert await door.status(head) == 200, path


async def test_a_proxy_serves_its_names_by_https(open_door: Open) -> None:
    async with open_door(hosts=("portal.example",), trusted_proxy=True) as door:
        for origin, status in {"https://portal.example": 200, "http://portal.example": 403}.items():
            host = f"Host: portal.example\nOrigin: {origin}"
            head = f"GET /api/v1/who HTTP/1.1\n{host}\n{door.token_line()}"
            assert await door.status(head) == status, origin


async def test_a_preflight_gets_no_allowance(door: Door) -> None:
    asked = {"Origin": door.url, "Access-Control-Request-Method": "POST"}
    answer = await door.ask("/api/stop", "OPTIONS", headers={**asked, **door.bearer})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_a_websocket_is_refused(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    upgrade = "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13"
    head = f"GET /api/v1/who HTTP/1.1\nHost: 127.0.0.1:PORT\n{upgrade}\nSec-WebSocket-Key: eA=="
    assert await door.status(head) == 401
    assert "uvicorn" not in caplog.text


async def test_without_a_token_everybody_on_loopback_is_in_and_other_pages_are_not(
    open_door: Open,
) -> None:
    async with open_door(no_token=True) as door:
        assert (await door.ask("/api/v1/who")).json() == {"who": "local"}
        foreign = {"Origin": "http://evil.example"}
        assert (await door.ask("/api/stop", headers=foreign)).status_code == 403
        assert await door.status("GET /api/stop HTTP/1.1\nHost: evil.example:PORT") == 421
        assert door.seen.calls == []
        async with (
            door.client() as client,
            client.stream("GET", "/api/v1/sessions/x/stream") as answer,
        ):
            assert await anext(answer.aiter_text())


async def test_a_token_that_was_given_counts_and_is_not_written(open_door: Open) -> None:
    given = "correct-horse-battery-staple"
    async with open_door(given=given) as door:
        assert (await door.ask("/api/v1/who", headers=door.bearer)).json() == {"who": "owner"}
        assert not door.folder.token.exists()


async def test_every_refusal_is_logged_once_without_its_secrets(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "airboss")
    caplog.set_level(logging.DEBUG, "uvicorn")
    secret = door.access.token
    wrong = new_token()
    await door.ask(f"/api/v1/who?token={secret}")
    await door.ask(f"/api/v1/{secret}/x", headers={"Authorization": f"Bearer {wrong}"})
    planted = {"Cookie": f"{door.access.cookie_name}={wrong}", "X-Airboss-Key": wrong}
    await door.ask("/api/v1/who%0aforged", headers=planted)
    await door.ask("/api/stop", headers={"Origin": "http://evil.example", **door.bearer})
    lines = [record.getMessage() for record in caplog.records if record.name == "airboss.perimeter"]
    told = [line.partition(" from 127.0.0.1:")[0] for line in lines]
    assert told == [
        "Refused GET /api/v1/who",
        "Refused GET /api/v1/[secret removed]/x",
        "Refused GET /api/v1/who\\nforged",
        "Refused GET /api/stop",
    ]
    assert [line.rpartition(": ")[2] for line in lines] == [
        "401 token_needed",
        "401 wrong_token",
        "401 signed_out",
        "403 foreign_origin",
    ]
    assert secret not in caplog.text
    assert wrong not in caplog.text
    assert {record.levelname for record in caplog.records if "Refused" in record.message} == {
        "WARNING"
    }


async def test_a_flood_of_refusals_is_counted_instead_of_named(
    open_door: Open, caplog: pytest.LogCaptureFixture
) -> None:
    gate = RefusalExit(log=RefusalLog(burst=3, per_second=0))
    async with open_door(gate=gate) as door, door.client() as client:
        for _ in range(10):
            await client.get("/api/v1/who")
        await asyncio.sleep(1.1)
    lines = [record.getMessage() for record in caplog.records if record.name == "airboss.perimeter"]
    assert len(lines) == 4
    assert lines[-1] == "Refused 7 more requests, too many to name each"


async def test_a_flood_of_what_is_no_http_is_counted_instead_of_named(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    flood = 500
    for _ in range(flood // 100):  # fewer at once than strangers may be
        async with asyncio.TaskGroup() as group:
            for _ in range(100):
                group.create_task(door.raw("no HTTP\r\n\r\n"))
    await asyncio.sleep(1.1)
    lines = [record.getMessage() for record in caplog.records if record.name != "asyncio"]
    named = [line for line in lines if line.endswith("400 not valid HTTP")]
    assert 200 <= len(named) < flood, "a line for each, at first"
    counted = [int(line.split()[1]) for line in lines if "too many to name" in line]
    assert len(named) + sum(counted) == flood
    assert len(lines) == len(named) + len(counted)
