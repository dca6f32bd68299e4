"""The stream of a session to any number of viewers: from any point, without a gap, to its end."""

import asyncio
import contextlib
import random
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx2
import pytest

from tests.contract.guest import Frame, Guest, Told, frames_of, kinds
from tests.contract.stories import check_events, without_deltas
from tests.contract.test_v1_sessions import refused

CHANCE = random.Random()  # noqa: S311 - when a viewer leaves is no secret


async def test_each_event_has_its_seq_as_id_and_a_closed_session_ends_the_stream(
    guest: Guest,
) -> None:
    session = await guest.open()
    await guest.turn(session, "greet")
    closed = await guest.do(session, "close")
    frames = [frame async for frame in guest.frames(session)]
    *events, end = frames
    assert [frame.id for frame in events] == [frame.data["seq"] for frame in events]
    assert {frame.name for frame in events} == {"message"}
    assert [frame.data for frame in events] == await guest.events(session)
    assert (end.id, end.name, end.data["seq"]) == (None, "end", closed["seq"])


async def test_the_bytes_of_a_stream_are_what_a_browser_reads(guest: Guest) -> None:
    session = await guest.open()
    await guest.do(session, "close")
    answer = await guest.http.get(f"/api/v1/sessions/{session}/stream")
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert re.fullmatch(
        r"retry: 1000\n\n"
        r'id: 1\ndata: {"seq":1,"at":\d+,"event":{[^\n]+}}\n\n'
        r'id: 2\ndata: {"seq":2,"at":\d+,"event":{"kind":"session.ready"}}\n\n'
        r'id: 3\ndata: {"seq":3,"at":\d+,"event":{[^\n]+}}\n\n'
        r'event: end\ndata: {"seq":3,"at":\d+}\n\n',
        answer.text,
    )


async def test_the_last_id_goes_before_the_address(guest: Guest) -> None:
    session = await guest.open()
    await guest.do(session, "close")

    async def first(after: int | None, last_id: str | None) -> Frame:
        async with aclosing(guest.frames(session, after, last_id)) as frames:
            return await anext(frames)

    assert (await first(None, None)).id == 1
    assert (await first(1, None)).id == 2
    assert (await first(None, "2")).id == 3
    assert (await first(1, "2")).id == 3
    assert (await first(2, "0")).id == 1
    assert (await first(1, "")).id == 2


async def test_whoever_comes_back_behind_the_end_is_sent_away_for_good(guest: Guest) -> None:
    """A browser's `EventSource` comes back each second, until it hears 204."""
    session = await guest.open()
    await guest.do(session, "close")
    stream = f"/api/v1/sessions/{session}/stream"
    again = await guest.http.get(stream, headers={"Last-Event-ID": "3"})
    assert (again.status_code, again.content) == (204, b"")
    assert "event: end" in (await guest.http.get(stream, params={"after": 3})).text


@pytest.mark.parametrize("last_id", ["x", "-1", "1.5", "²", "99999999999999999999", "1" * 21])
async def test_a_last_id_that_is_no_seq_is_refused(guest: Guest, last_id: str) -> None:
    session = await guest.open()
    sent = {"headers": {"Last-Event-ID": last_id.encode()}}
    told = await refused(guest, "GET", f"sessions/{session}/stream", **sent)
    assert told[:2] == (422, "invalid")


async def test_two_viewers_see_the_same_and_one_that_comes_late_too(guest: Guest) -> None:
    session = await guest.open()
    viewers = [asyncio.create_task(guest.follow_to(session, "session.idle")) for _ in range(2)]
    await guest.prompt(session, "tell the tale")
    await asyncio.sleep(0.2)
    viewers.append(asyncio.create_task(guest.follow_to(session, "session.idle")))
    first, second, late = [await viewer for viewer in viewers]
    assert first == second
    for seen in (first, late):
        check_events(seen)
    assert without_deltas(late) == without_deltas(first)


async def test_a_viewer_that_reconnects_at_50_random_points_misses_and_repeats_nothing(
    guest: Guest,
) -> None:
    session = await guest.open()
    watching = asyncio.create_task(guest.follow_to(session, "session.closed"))
    seen: list[Told] = []
    connections = 0

    async def keep_talking() -> None:
        while connections < 50:
            await guest.turn(session, "tell the tale")
        await guest.do(session, "close")

    talking = asyncio.create_task(keep_talking())
    async with asyncio.timeout(30):
        while "session.closed" not in kinds(seen):
            last_id = str(seen[-1]["seq"]) if seen else None
            seen += await guest.take(session, lambda _: CHANCE.random() < 0.4, last_id=last_id)
            connections += 1
        await talking
    everything = await watching
    for read in (seen, everything):
        check_events(read)
    assert connections >= 50
    assert without_deltas(seen) == without_deltas(everything)


async def test_viewers_that_reconnect_while_the_agent_works_end_with_the_same_text(
    approved: Guest,
) -> None:
    session = await approved.open()
    receipt = await approved.prompt(session, "count aloud")
    seen: list[Told] = []
    async with asyncio.timeout(30):
        while "session.idle" not in kinds(seen):
            after = seen[-1]["seq"] if seen else receipt["seq"]
            seen += await approved.take(
                session, lambda f: f.kind == "session.idle" or CHANCE.random() < 0.5, after
            )
    check_events(seen)
    stored = await approved.events(session, after=receipt["seq"])
    assert without_deltas(seen) == without_deltas(stored)


async def test_a_quiet_stream_has_a_heartbeat_every_ten_seconds(guest: Guest) -> None:
    session = await guest.open()
    began = time.monotonic()
    async with aclosing(guest.frames(session, after=2)) as frames:
        frame = await anext(frames)
    assert (frame.id, frame.name, frame.data["seq"]) == (None, "heartbeat", 2)
    assert 9.5 < time.monotonic() - began < 14


async def test_a_busy_stream_has_its_heartbeats_too(guest: Guest) -> None:
    session = await guest.open()
    names: list[str] = []
    async with (
        asyncio.timeout(20),
        aclosing(guest.frames(session, after=2)) as frames,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(_keep_asking(guest, session))
        async for frame in frames:
            names.append(frame.name)
            if frame.name == "heartbeat":
                break
    assert len(names) > 10


async def _keep_asking(guest: Guest, session: str) -> None:
    """Something new every two seconds, well past the first heartbeat."""
    for _ in range(6):
        await guest.prompt(session, "hello")
        await asyncio.sleep(2)


@pytest.mark.parametrize("source", ["stream", "feed"])
async def test_a_reader_that_stalls_is_cut_and_resumes_where_it_was(
    guest: Guest, source: str
) -> None:
    """It takes nothing for longer than the server waits, then reads on: what it gets stops
    somewhere, and the rest comes to its next connection. Others notice nothing of it."""
    session = await guest.open()
    await guest.prompt(session, "take your time")
    words = "word " * 120_000  # twelve times are 7 MB, more than all buffers on the way take
    last = [(await guest.prompt(session, words))["seq"] for _ in range(12)][-1]
    paths = {"stream": f"sessions/{session}/stream", "feed": f"feed?follow={session}:0"}
    address = httpx2.URL(guest.portal.url)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port, limit=4096)
    writer.write(
        f"GET /api/v1/{paths[source]} HTTP/1.1\r\nHost: localhost:{address.port}\r\n"
        f"Authorization: Bearer {guest.portal.token}\r\n\r\n".encode()
    )
    async with asyncio.timeout(40):
        await reader.readuntil(b"\r\n\r\n")
        quick = await guest.take(session, lambda frame: frame.id == last)
        await asyncio.sleep(6.5)  # longer than the server waits
        seen = [told async for told in _whole_frames(await _what_came(reader))]
    writer.close()
    assert 0 < len(seen) < len(quick)
    await guest.do(session, "close")
    seen += await guest.follow_all(session, seen[-1]["seq"])
    check_events(seen)
    assert without_deltas(seen) == without_deltas(await guest.events(session))


async def _what_came(reader: asyncio.StreamReader) -> bytes:
    """All that was on its way when the server cut the connection."""
    came = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while piece := await reader.read(65_536):
            came += piece
    return bytes(came)


async def _whole_frames(chunked: bytes) -> AsyncGenerator[Told]:
    """The events in an answer that was cut, without the sizes of its chunks."""
    body = bytearray()
    while (size := re.match(rb"\r?\n?([0-9a-f]+)\r\n", chunked)) and int(size[1], 16):
        begin = size.end()
        body += chunked[begin : begin + int(size[1], 16)]
        chunked = chunked[begin + int(size[1], 16) :]
    whole = body[: body.rfind(b"\n\n") + 2].decode()

    async def lines() -> AsyncGenerator[str]:
        for line in whole.split("\n"):
            yield line

    async for frame in frames_of(lines()):
        if frame.name == "message":
            yield frame.recorded
