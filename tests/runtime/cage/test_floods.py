"""Floods from inside a cage, on the real runtime: it ends or is refused in words, and the server
and another cage beside it go on."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from airboss.runtime.cage import watch
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.variables import WAY_OUT_PORT
from airboss.runtime.signals import RuntimeLost
from tests.runtime.cage.conftest import BOMB
from tests.runtime.cage.yard import Yard, always, last_output, said
from tests.runtime.conftest import Listener
from tests.trials import sampled, trial, whole_only

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.usefixtures("strong", "group"),
    pytest.mark.timeout(120),
    trial,
]

# Longer than this no event loop may be held up, on however busy a machine.
_HELD_SECONDS = 3.0


@contextlib.asynccontextmanager
async def loop_stays_free() -> AsyncGenerator[None]:
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
    assert longest < _HELD_SECONDS


ENDED = [
    ("python3 -c 'x = bytearray(1 << 30); input()'", "400 MB of memory", "memory"),
    (BOMB, "200 processes", "processes"),
]


@pytest.mark.parametrize(("flood", "words", "limit"), sampled(1, ENDED))
async def test_a_flood_ends_the_cage_and_nothing_else(
    yard: Yard, flood: str, words: str, limit: str
) -> None:
    calm, flooded = Listener(), Listener()
    other = await yard.session(calm, yard.key("calm"))
    session = await yard.session(flooded, yard.key("flooded", memory_mb=400, processes=200))
    async with loop_stays_free():
        await session.send(f"shell {flood}")
        lost = await flooded.until(RuntimeLost, 60)
    assert words in lost.reason
    assert [news.limit for news in yard.news if news.what == "limit"] == [limit]
    await said(other, calm, "say still here")
    assert not calm.all(RuntimeLost)


async def test_who_fills_the_disk_is_ended_and_who_does_not_write_goes_on(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm, flooded = Listener(), Listener()
    other = await yard.session(calm, yard.key("calm"))
    session = await yard.session(flooded, yard.key("flooded"))
    free = shutil.disk_usage(yard.data).free
    # As if the disk were full but for a moment's writing: others write here as well.
    monkeypatch.setattr(watch, "LEAST_DISK_BYTES", free - (100 << 20))
    monkeypatch.setattr(watch, "_NO_DISK_BYTES", free // 4)
    flood = "for i in $(seq 60); do head -c 20M /dev/zero > big$i; sleep 0.1; done"
    async with loop_stays_free():
        await session.send(f"shell {flood}")
        lost = await flooded.until(RuntimeLost, 60)
    assert "on the disk that it writes to" in lost.reason
    await said(other, calm, "say still here")
    assert not calm.all(RuntimeLost)
    for written in yard.flight.folder.glob("big*"):
        written.unlink()


DESCRIPTORS = """
import os
while True:
    os.dup(0)
"""
CONNECTIONS = """
import socket, time
made = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(600)]
time.sleep(1)
cut = 0
for one in made:
    one.settimeout(0.01)
    try:
        cut += one.recv(1) == b""
    except ConnectionError:
        cut += 1
    except TimeoutError:
        pass
print("cut", cut)
"""
OUTPUT = "print('x' * (60 << 20))"
BOUNDED = [
    ("descriptors", DESCRIPTORS, "Too many open files"),
    # The door holds 128 at a time.
    ("connections", CONNECTIONS, "cut 47"),
    ("output", OUTPUT, "xxx"),
]


@pytest.mark.parametrize(("kind", "flood", "words"), sampled(1, BOUNDED))
async def test_a_flood_that_is_bounded_is_refused_in_words_and_its_session_goes_on(
    yard: Yard, kind: str, flood: str, words: str
) -> None:
    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    yard.pool.plan = replace(yard.pool.plan, doors=always(CageDoors(way_out=listen)))
    calm, flooded = Listener(), Listener()
    other = await yard.session(calm, yard.key("calm"))
    session = await yard.session(flooded, yard.key("flooded"))
    text = flood.replace("PORT", str(WAY_OUT_PORT))
    (yard.flight.folder / "flood.py").write_text(text, "utf-8")
    async with loop_stays_free():
        await said(session, flooded, "shell python3 flood.py 2>&1")
    output = last_output(yard.flight)
    assert words in output
    assert len(output) < 1 << 20
    for one, listener in ((session, flooded), (other, calm)):
        await said(one, listener, "say still here")
        assert not listener.all(RuntimeLost), kind


def scratch_files(data: Path) -> list[Path]:
    return [*data.glob("cages/*/scratch/own")]


@whole_only
async def test_ten_cages_at_once_work_and_know_nothing_of_each_other(yard: Yard) -> None:
    async def turn(number: int) -> str:
        listener = Listener()
        session = await yard.session(listener, yard.key(f"cage-{number}"))
        await said(session, listener, f"shell echo {number} > /tmp/own; ls /tmp; touch by-{number}")
        return session.id

    async with asyncio.timeout(100), asyncio.TaskGroup() as group:
        turns = [group.create_task(turn(number)) for number in range(10)]
    assert len({one.result() for one in turns}) == 10
    assert len({state.pid for state in yard.pool.states if state.key.cage}) == 10
    assert {path.name for path in yard.flight.folder.glob("by-*")} == {f"by-{n}" for n in range(10)}
    owned = [path.read_text("utf-8") for path in scratch_files(yard.data)]
    assert sorted(owned) == sorted(f"{number}\n" for number in range(10))
