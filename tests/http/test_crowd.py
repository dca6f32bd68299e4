"""How many may knock at once, who goes when there are too many, and who does not read."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from airboss.http import crowd as crowds
from airboss.http.bounds import RequestBounds
from airboss.http.crowd import Crowd
from tests.http.door import Door, Open, build_pages

LARGE = 8 * 1024 * 1024


class Caller:
    """One connection, over which somebody asks again and again."""

    def __init__(self, door: Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._door = door
        self._reader = reader
        self._writer = writer

    def send(self, head: str) -> None:
        self._writer.write(head.replace("PORT", str(self._door.port)).encode())

    async def ask(self, path: str, *lines: str) -> int:
        self.send("\r\n".join([f"GET {path} HTTP/1.1", "Host: 127.0.0.1:PORT", *lines, "", ""]))
        return await self.status()

    async def status(self) -> int:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await self._reader.readexactly(length)
        return int(head.split(b" ", 2)[1])

    async def is_cut(self, seconds: float = 3) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.read(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False

    async def read(self, count: int) -> int:
        return len(await self._reader.read(count))

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def calling(door: Door, count: int) -> AsyncGenerator[list[Caller]]:
    made: list[Caller] = []
    try:
        for _ in range(count):
            # So small a window that what nobody reads stays with the server.
            streams = await asyncio.open_connection("127.0.0.1", door.port, limit=4096)
            made.append(Caller(door, *streams))
        yield made
    finally:
        for caller in made:
            caller.close()


async def test_the_oldest_stranger_goes_when_there_are_too_many(open_door: Open) -> None:
    async with (
        open_door(crowd=Crowd(most=100, most_strangers=3)) as door,
        calling(door, 4) as (first, *others),
    ):
        assert await first.is_cut()
        for stays in others:
            assert await stays.ask("/healthz") == 200


async def test_whoever_has_shown_the_token_is_no_stranger(open_door: Open) -> None:
    async with (
        open_door(crowd=Crowd(most=100, most_strangers=2)) as door,
        calling(door, 1) as (owner,),
    ):
        assert await owner.ask("/api/v1/who", door.token_line()) == 200
        async with calling(door, 5) as strangers:
            cut = [await stranger.is_cut(0.2) for stranger in strangers]
            assert cut == [True, True, True, False, False]
            assert await owner.ask("/api/v1/who", door.token_line()) == 200


async def test_a_wrong_token_makes_nobody_known(open_door: Open) -> None:
    async with (
        open_door(crowd=Crowd(most=100, most_strangers=2)) as door,
        calling(door, 1) as (guesser,),
    ):
        assert await guesser.ask("/api/v1/who", "Authorization: Bearer wrong") == 401
        async with calling(door, 2):
            assert await guesser.is_cut()


async def test_who_waits_for_our_answer_is_not_cut_for_who_makes_us_wait(open_door: Open) -> None:
    async with (
        open_door(crowd=Crowd(most=100, most_strangers=2)) as door,
        calling(door, 2) as (guesser, silent),
    ):
        # Held back for 0.3 s: a guess is answered late.
        guess = asyncio.create_task(guesser.ask("/api/v1/who", "Authorization: Bearer wrong"))
        await asyncio.sleep(0.1)
        async with calling(door, 1):
            assert await silent.is_cut()
            assert await guess == 401


async def test_strangers_make_room_for_those_who_are_signed_in(open_door: Open) -> None:
    async with (
        open_door(crowd=Crowd(most=4, most_strangers=4)) as door,
        calling(door, 2) as strangers,
        calling(door, 2) as known,
    ):
        for caller in known:
            assert await caller.ask("/api/v1/who", door.token_line()) == 200
        async with calling(door, 2) as newcomers:
            assert [await stranger.is_cut() for stranger in strangers] == [True, True]
            for caller in (*known, *newcomers):
                assert await caller.ask("/api/v1/who", door.token_line()) == 200
        # All four are known now: of those the oldest that rests makes room for the next.
        async with calling(door, 1) as (next_one,):
            assert await next_one.ask("/api/v1/who", door.token_line()) == 200


async def test_a_stranger_has_less_time_for_a_body_than_whoever_has_the_token(
    open_door: Open,
) -> None:
    bounds = RequestBounds(stranger_body_seconds=0.2, body_seconds=1.0)
    async with open_door(bounds=bounds) as door, calling(door, 2) as (stranger, owner):
        head = "Host: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nContent-Length: 16\r\n"
        stranger.send(f"POST /api/v1/signin HTTP/1.1\r\n{head}\r\n{{")
        owner.send(f"POST /api/v1/prompts HTTP/1.1\r\n{head}{door.token_line()}\r\n\r\n{{")
        assert await stranger.status() == 408
        owner.send('"text": "slow"}')
        assert await owner.status() == 200


async def test_an_answer_that_nobody_reads_is_not_held_for_ever(
    open_door: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crowds, "UNREAD_SECONDS", 1.0)
    large = build_pages(tmp_path / "static") / "assets" / "large-0a1b2c3d.js"
    large.write_bytes(b"x" * LARGE)
    async with open_door() as door, calling(door, 2) as (unread, slow):
        for caller in (unread, slow):
            caller.send("GET /assets/large-0a1b2c3d.js HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n")
        taken = 0
        with contextlib.suppress(ConnectionError):
            for _ in range(30):  # a little at a time, for three times as long
                taken += await slow.read(100_000)
                await asyncio.sleep(0.1)
        assert taken > LARGE / 10, "who reads on is not cut"
        assert not await slow.is_cut(0.1)
        lost = 0
        with contextlib.suppress(ConnectionError):
            while got := await unread.read(100_000):
                lost += got
        assert lost < LARGE, "the rest was not sent any more"
