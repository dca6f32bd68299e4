"""Calls that a runtime hands over: what is said of them, and what a hostile one may say."""

import asyncio
import base64
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from airboss.net.loopback import Peer, Receive, Scope, Send
from airboss.runtime.frames import MOST_BODY_BYTES
from airboss.runtime.handed_calls import HandedCalls
from tests.runtime.conftest import soon

pytestmark = pytest.mark.anyio

Said = dict[str, Any]


class Pipe:
    """Where the other side of the wire would be: it acknowledges what it is told."""

    def __init__(self) -> None:
        self.told: list[Said] = []
        self.acknowledged: list[Any] = []
        self.is_slow = False
        self.calls: HandedCalls | None = None

    def send_at_once(self, message: Mapping[str, Any]) -> bool:
        if "result" in message:
            self.acknowledged.append(message["id"])
            return True
        return False

    async def send(self, message: Said) -> None:
        self.told.append(message)
        if self.calls is not None and not self.is_slow:
            self.calls.hear(self, {"id": message["id"], "result": {"accepted": True}})

    def answer(self, request: str) -> tuple[int, dict[str, list[str]], bytes, Said]:
        """Status, headers, body, and the last word."""
        said = [one["params"] for one in self.told if one["params"]["requestId"] == request]
        body = b"".join(base64.b64decode(one["data"]) for one in said[1:])
        return said[0]["status"], said[0]["headers"], body, said[-1]


class House:
    """One process's calls, served by `app`."""

    def __init__(self, app: Any) -> None:
        self.pipe = Pipe()
        self.calls = HandedCalls(app, asyncio.get_running_loop())
        self.pipe.calls = self.calls
        self._number = 0

    async def say(self, what: str, params: Said) -> None:
        """From a thread, as the SDK's reader does."""
        self._number += 1
        name = f"llmInference.httpRequest{what}"
        message = {"id": self._number, "method": name, "params": params}
        assert await asyncio.to_thread(self.calls.hear, self.pipe, message)

    async def head(self, request: str, **more: Any) -> None:
        known: Said = {
            "method": "POST",
            "url": "http://model.caged.invalid/n/v1/x?a=b",
            "headers": {},
        }
        await self.say("Start", {"requestId": request, **known, **more})

    async def body(self, request: str, data: Any = "{}", **more: Any) -> None:
        await self.say("Chunk", {"requestId": request, "data": data, "end": True, **more})

    def is_answered(self, request: str) -> bool:
        last = [one["params"] for one in self.pipe.told if one["params"]["requestId"] == request]
        return bool(last) and bool(last[-1].get("end"))


async def echo(scope: Scope, receive: Receive, send: Send, _: Callable[[Peer], None]) -> None:
    body = (await receive())["body"]
    said = repr((scope["method"], scope["raw_path"], scope["query_string"], scope["headers"]))
    head = [(b"x-a", b"1"), (b"x-a", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": said.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b"|" + body[:100]})


async def test_a_call_is_served_like_one_over_http_and_all_is_acknowledged() -> None:
    house = House(echo)
    await house.head(
        "r", headers={"Accept": ["a", "b"], "Host": ["elsewhere"], "Content-Length": ["9"]}
    )
    await house.body("r", '{"é": 1}')
    assert await soon(lambda: house.is_answered("r"))
    status, headers, body, last = house.pipe.answer("r")
    assert (status, headers) == (200, {"x-a": ["1", "2"]})
    told = [("accept", "a"), ("accept", "b")]
    told += [("host", "model.caged.invalid"), ("content-length", "9")]
    raw = [(name.encode(), value.encode()) for name, value in told]
    expected = repr(("POST", b"/n/v1/x", b"a=b", raw)).encode() + b'|{"\xc3\xa9": 1}'
    assert body == expected
    assert last["end"] is True
    assert house.pipe.acknowledged == [1, 2]
    await house.calls.close()


async def test_a_body_comes_in_pieces_as_bytes_and_before_its_head() -> None:
    is_said = asyncio.Event()

    async def late(scope: Scope, receive: Receive, send: Send, cut: Callable[[Peer], None]) -> None:
        await is_said.wait()
        await echo(scope, receive, send, cut)

    house = House(late)
    await house.body("r", base64.b64encode(b"\xff1").decode(), binary=True, end=False)
    await house.body("r", b"2", end=False)
    await house.body("r", "3")
    await house.head("r")
    await house.head("r")
    await house.body("r")
    is_said.set()
    assert await soon(lambda: house.is_answered("r"))
    assert house.pipe.answer("r")[2].endswith(b"|\xff123")
    starts = [one for one in house.pipe.told if one["method"].endswith("Start")]
    assert len(starts) == 1
    await house.calls.close()


async def test_nothing_is_said_before_the_last_word_has_arrived() -> None:
    house = House(echo)
    house.pipe.is_slow = True
    await house.head("r")
    await house.body("r")
    for count in (1, 2, 3):
        assert await soon(lambda count=count: len(house.pipe.told) == count)
        await asyncio.sleep(0.02)
        assert len(house.pipe.told) == count
        house.calls.hear(house.pipe, {"id": house.pipe.told[-1]["id"], "result": {}})
    assert house.is_answered("r")
    await house.calls.close()


async def test_what_the_runtime_does_not_want_any_more_is_left() -> None:
    seen: list[str] = []

    async def wait(_: Scope, receive: Receive, send: Send, cut: Callable[[Peer], None]) -> None:
        await receive()
        seen.append((await receive())["type"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    house = House(wait)
    await house.head("r")
    await house.body("r")
    await house.body("never begun", end=False)
    await asyncio.sleep(0.02)
    for request in ("r", "never begun", "unknown"):
        await house.body(request, "", cancel=True)
    assert await soon(lambda: seen)
    assert seen == ["http.disconnect"]
    assert house.pipe.told == []
    await house.calls.close()


async def test_half_an_answer_is_not_taken_for_a_whole_one() -> None:
    async def half(_: Scope, receive: Receive, send: Send, cut: Callable[[Peer], None]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        cut(None)
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"

    async def none(_s: Scope, _r: Receive, _send: Send, _c: Callable[[Peer], None]) -> None:
        return

    for app, status in ((half, 200), (none, 502)):
        house = House(app)
        await house.head("r")
        await house.body("r")
        assert await soon(lambda house=house: house.is_answered("r"))
        found = house.pipe.answer("r")
        assert (found[0], found[3]["error"]) == (status, {"message": "The answer was cut off."})
        await house.calls.close()


@pytest.mark.parametrize(
    "more",
    [
        {"url": "http://[half"},
        {"url": "http://model.caged.invalid/a b\r\nx: y"},
        {"headers": {"x": ["1\r\nauthorization: Bearer mine"]}},
        {"headers": {"x\n": ["1"]}},
        {"transport": "websocket"},
    ],
)
async def test_what_cannot_be_passed_on_is_refused(more: Said) -> None:
    house = House(echo)
    await house.head("r", **more)
    await house.body("r")
    assert await soon(lambda: house.is_answered("r"))
    assert house.pipe.answer("r")[0] == 400
    await house.calls.close()


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"requestId": 1},
        {"requestId": "x" * 1000},
        {"requestId": "r", "method": "GET SMUGGLED", "url": "", "headers": {}},
        {"requestId": "r", "method": "GET", "url": "", "headers": {"a": "b"}},
        {"requestId": "r", "method": "GET", "url": "u" * 20_000, "headers": {}},
    ],
)
async def test_what_is_no_call_at_all_is_passed_over(
    params: Any, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(echo)
    message = {"id": 1, "method": "llmInference.httpRequestStart", "params": params}
    assert house.calls.hear(house.pipe, message)
    assert await soon(lambda: "a call that is none" in caplog.text)
    assert house.pipe.told == []
    assert not house.calls.hear(house.pipe, {"id": "other", "result": {}})
    assert not house.calls.hear(house.pipe, {"id": 1, "method": "ping"})
    await house.calls.close()


async def test_a_body_over_the_bound_is_counted_and_not_kept() -> None:
    sizes: list[tuple[int, int]] = []

    async def weigh(scope: Scope, receive: Receive, send: Send, _: Callable[[Peer], None]) -> None:
        told = int(dict(scope["headers"])[b"content-length"])
        sizes.append((told, len((await receive())["body"])))
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    house = House(weigh)
    await house.head("r")
    for _ in range(3):
        await house.body("r", b"x" * (MOST_BODY_BYTES // 2), end=False)
    await house.body("r", "")
    assert await soon(lambda: sizes)
    told, kept = sizes[0]
    assert told == 3 * (MOST_BODY_BYTES // 2)
    assert kept <= MOST_BODY_BYTES
    await house.calls.close()


async def test_so_many_calls_are_open_at_once_and_no_more() -> None:
    house = House(echo)
    for number in range(64):
        await house.head(f"r{number}")
    await house.head("one more")
    await house.body("one more")
    assert await soon(lambda: house.is_answered("one more"))
    assert house.pipe.answer("one more")[0] == 503
    await house.body("r0")
    assert await soon(lambda: house.is_answered("r0"))
    await house.head("another")
    await house.body("another")
    assert await soon(lambda: house.is_answered("another"))
    assert house.pipe.answer("another")[0] == 200
    await house.calls.close()


async def test_a_runtime_that_says_more_than_is_heard_has_to_wait() -> None:
    house, heard = House(echo), list[int]()

    def flood() -> None:
        for number in range(40):
            params = {"requestId": f"r{number}", "data": "", "end": True}
            message = {"id": number, "method": "llmInference.httpRequestChunk", "params": params}
            house.calls.hear(house.pipe, message)
            heard.append(number)

    flooding = asyncio.ensure_future(asyncio.to_thread(flood))
    await asyncio.sleep(0)
    time.sleep(0.3)  # noqa: ASYNC251  # the loop hears nothing meanwhile
    assert len(heard) <= 4
    await flooding
    assert len(house.pipe.acknowledged) == 40
    await house.calls.close()
