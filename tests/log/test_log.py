"""What is said is on disk when that is promised, and seen as soon as it may be."""

import os
import sqlite3
from pathlib import Path

import anyio
import pytest

from airboss.errors import StoreUnavailable
from airboss.log import flusher as flusher_module
from airboss.log import stream as stream_module
from airboss.log.log import RESERVE, EventLog
from airboss.model.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    PromptAccepted,
    Recorded,
    SessionIdle,
    SessionOpened,
    SessionReady,
    ToolDelta,
    ToolEnded,
    ToolStarted,
    TurnStarted,
)
from airboss.model.ids import PromptId, SessionId, TurnId
from airboss.model.views import SessionView
from tests.databases import on_sqlite
from tests.log.conftest import OpenLog
from tests.log.truth import Truth, begin, deltas_of, read_all

STREAM = "ses_one"
OPENED = SessionOpened(model="m", cwd="/", policy="read-only", who="me")
PROMPT = PromptAccepted(prompt=PromptId("pro_1"), text="Hello", who="me")


def kinds_on_disk(folder: Path) -> list[tuple[int, str]]:
    """Read by somebody else, as another process would."""
    with sqlite3.connect(folder / "airboss.sqlite") as connection:
        rows = connection.execute("SELECT seq, kind FROM events ORDER BY seq").fetchall()
    connection.close()
    return rows


@on_sqlite
async def test_what_was_appended_is_on_disk(log: EventLog, tmp_path: Path) -> None:
    writer = await log.writer(STREAM)
    last = (await writer.commit(OPENED, PROMPT)).seq
    assert last == 2
    assert kinds_on_disk(tmp_path) == [(1, "session.opened"), (2, "prompt.accepted")]


@on_sqlite
async def test_a_follower_has_a_delta_before_its_batch_is_written(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 30.0)
    writer = await log.writer(STREAM)
    await writer.commit(OPENED, MessageStarted(block="b"))
    delta = MessageDelta(block="b", offset=0, text="Hi")
    async with log.follow(STREAM, 2) as follower:
        writer.say(delta)
        found = await follower.next(1.0)
    assert [(recorded.seq, recorded.event) for recorded in found] == [(3, delta)]
    assert kinds_on_disk(tmp_path) == [(1, "session.opened"), (2, "message.started")]


@on_sqlite
async def test_what_is_not_urgent_is_written_with_what_is_appended_next(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flusher_module, "BATCH_SECONDS", 30.0)
    writer, other = log.new_writer(STREAM), log.new_writer("ses_other")
    await writer.commit(OPENED)
    flushes = log.counts["flushes"]
    writer.say(SessionReady(), urgent=False)
    await anyio.sleep(0.05)
    assert kinds_on_disk(tmp_path) == [(1, "session.opened")]
    await other.commit(OPENED)
    assert sorted(kinds_on_disk(tmp_path)) == [
        (1, "session.opened"),
        (1, "session.opened"),
        (2, "session.ready"),
    ]
    assert log.counts["flushes"] == flushes + 1


@on_sqlite
async def test_what_is_not_urgent_is_on_disk_within_a_batch(log: EventLog, tmp_path: Path) -> None:
    writer = log.new_writer(STREAM)
    await writer.commit(OPENED)
    async with log.follow(STREAM, 1) as follower:
        writer.say(SessionReady(), urgent=False)
        assert [recorded.seq for recorded in await follower.next(5.0)] == [2]
    assert kinds_on_disk(tmp_path) == [(1, "session.opened"), (2, "session.ready")]


async def test_a_delta_is_not_shown_before_what_was_said_before_it_is_on_disk(
    log: EventLog,
) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(OPENED)
    async with log.follow(STREAM, 1) as follower:
        writer.say(MessageStarted(block="b"))
        writer.say(MessageDelta(block="b", offset=0, text="Hi"))
        assert await follower.next(0) == []
        found = await follower.next(5.0)
    assert [recorded.seq for recorded in found] == [2, 3]


async def test_a_delta_that_somebody_waits_for_is_shown_in_its_place(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(OPENED, MessageStarted(block="b"))
    async with anyio.create_task_group() as group:
        group.start_soon(writer.commit, MessageDelta(block="b", offset=0, text="first "))
        await anyio.lowlevel.checkpoint()
        writer.say(MessageDelta(block="b", offset=6, text="second"))
    await writer.commit(SessionIdle())
    assert [recorded.seq for recorded in await log.after(STREAM, 0)] == [1, 2, 3, 4, 5]


async def test_an_empty_delta_says_nothing(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(OPENED, MessageStarted(block="b"))
    writer.say(MessageDelta(block="b", offset=0, text=""))
    assert (await writer.commit(SessionIdle())).seq == 3


async def test_two_followers_hear_the_same_and_a_late_one_hears_the_past_first(
    log: EventLog,
) -> None:
    truth = Truth()
    writer = await begin(log, STREAM, truth)

    async def listen(after: int, heard: list[Recorded]) -> None:
        async with log.follow(STREAM, after) as follower:
            while not heard or heard[-1].seq < 203:
                heard += await follower.next(5.0)

    first, second, late = list[Recorded](), list[Recorded](), list[Recorded]()
    async with anyio.create_task_group() as group:
        group.start_soon(listen, 0, first)
        group.start_soon(listen, 0, second)
        writer.say(truth.start("b"))
        for number in range(200):
            writer.say(truth.delta("b", f"{number} "))
            await anyio.lowlevel.checkpoint()
        writer.say(truth.end("b"))
        group.start_soon(listen, 0, late)
    assert truth.seq == 203
    assert first == second
    for heard in (first, late):
        truth.check(0, heard)


async def test_a_follower_that_stalls_goes_on_from_the_store(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "TAIL_EVENTS", 10)
    truth = Truth()
    writer = await begin(log, STREAM, truth)
    async with log.follow(STREAM, 0) as follower:
        writer.say(truth.start("b"))
        for number in range(50):
            writer.say(truth.delta("b", f"{number} "))
        heard = await follower.next(5.0)
        for number in range(500):
            writer.say(truth.delta("b", f"{number} "))
            if number % 50 == 0:
                writer.say(truth.other(SessionIdle()))
        await writer.commit(truth.end("b"))
        while follower.seq < truth.seq:
            heard += await follower.next(5.0)
    truth.check(0, heard)


async def test_huge_texts_do_not_stay_in_memory_and_are_read_whole(log: EventLog) -> None:
    truth = Truth()
    writer = await begin(log, STREAM, truth)
    writer.say(truth.start("b"))
    for number in range(20):
        writer.say(truth.delta("b", f"{number}" * 100_000))
    await writer.commit(truth.end("b"))
    for after in range(truth.seq + 1):
        truth.check(after, await read_all(log, STREAM, after, 3))
    # From the store, since memory no longer has it: the whole text at once.
    assert [len(delta.text) for delta in deltas_of(await log.after(STREAM, 0))] == [3_000_000]


async def test_the_view_is_of_the_same_moment_as_the_events(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(OPENED, SessionReady(), PROMPT)
    await writer.commit(TurnStarted(turn=TurnId("trn_1"), prompt=PROMPT.prompt))
    opened, *_, started = await log.after(STREAM, 0)
    expected = SessionView(
        id=SessionId(STREAM),
        state="working",
        model="m",
        cwd="/",
        policy="read-only",
        who="me",
        created_at=opened.at,
        updated_at=started.at,
        seq=4,
        title="Hello",
        turn=TurnId("trn_1"),
    )
    assert await log.view(STREAM) == writer.view == expected
    assert await log.view("ses_other") is None


async def test_the_view_survives_the_server(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, SessionReady())
        before = await log.view(STREAM)
    async with open_log() as log:
        assert await log.view(STREAM) == before
        async with log.follow(STREAM, 0) as follower:
            assert follower.view == before


@on_sqlite
async def test_a_new_server_finds_what_was_left_open_and_begins_far_behind_it(
    open_log: OpenLog,
) -> None:
    tool = ToolStarted(block="t", name="shell", arguments="{}")
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"), tool)
        writer.say(MessageDelta(block="m", offset=0, text="Hello "))
        writer.say(ToolDelta(block="t", offset=0, text="out"))
        writer.say(MessageDelta(block="m", offset=6, text="world"))
        await writer.commit(MessageEnded(block="m", text="Hello world"))
    async with open_log() as log:
        writer = await log.writer(STREAM)
        (left,) = writer.left_open
        assert (left.start, left.block, left.text) == (tool, "t", "out")
        cut = ToolEnded(block="t", text="out", cut=True)
        assert (await writer.commit(cut)).seq == 7 + RESERVE + 1
        assert (await log.writer(STREAM)).left_open == ()
    async with open_log() as log:
        told = [recorded.event for recorded in await log.after(STREAM, 3)]
    hello, world = "Hello ", "world"
    assert told == [
        MessageDelta(block="m", offset=0, text=hello),
        ToolDelta(block="t", offset=0, text="out"),
        MessageDelta(block="m", offset=6, text=world),
        MessageEnded(block="m", text=hello + world),
        cut,
    ]


@on_sqlite
async def test_a_resumed_block_goes_on_where_it_stopped(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        for place, letter in enumerate("Hello "):
            writer.say(MessageDelta(block="m", offset=place, text=letter))
    async with open_log() as log:
        writer = await log.writer(STREAM)
        for place, letter in enumerate("world"):
            writer.say(MessageDelta(block="m", offset=6 + place, text=letter))
        await writer.commit(MessageEnded(block="m", text="Hello world"))
    async with open_log() as log:
        deltas = deltas_of(await log.after(STREAM, 0))
        middle = deltas_of(await log.after(STREAM, 5))
    assert [delta.text for delta in deltas] == ["Hello ", "world"]
    assert [(delta.offset, delta.text) for delta in middle] == [(3, "lo "), (6, "world")]


async def test_a_block_that_is_started_anew_without_an_end_is_given_up(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        writer.say(MessageDelta(block="m", offset=0, text="given up"))
        await writer.commit(MessageStarted(block="m"))
        writer.say(MessageDelta(block="m", offset=0, text="anew"))
    async with open_log() as log:
        writer = await log.writer(STREAM)
        assert [(left.seq, left.text) for left in writer.left_open] == [(4, "anew")]
        await writer.commit(MessageEnded(block="m", text="anew"))
        texts = [delta.text for delta in deltas_of(await log.after(STREAM, 0))]
    assert texts == ["given up", "anew"]


async def test_deltas_that_do_not_add_up_to_the_end_are_kept_as_they_were_said(
    open_log: OpenLog,
) -> None:
    said = [
        MessageDelta(block="m", offset=0, text="one"),
        MessageDelta(block="m", offset=3, text="2"),
    ]
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        for delta in said:
            writer.say(delta)
        await writer.commit(MessageEnded(block="m", text="another text"))
    async with open_log() as log:
        kept = deltas_of(await log.after(STREAM, 0))
    assert (kept[0].offset, "".join(delta.text for delta in kept)) == (0, "one2")


async def test_half_a_character_is_replaced_and_a_nul_is_kept(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="\udcff\x00"))
        writer.say(MessageDelta(block="\udcff\x00", offset=0, text="a\ud83d"))
        writer.say(MessageDelta(block="\udcff\x00", offset=2, text="\ude00\x00b"))
        await writer.commit(MessageEnded(block="\udcff\x00", text="a\ud83d\ude00\x00b"))
    async with open_log() as log:
        _, start, delta, end = [recorded.event for recorded in await log.after(STREAM, 0)]
    assert start == MessageStarted(block="\ufffd\x00")
    assert delta == MessageDelta(block="\ufffd\x00", offset=0, text="a\ufffd\ufffd\x00b")
    assert end == MessageEnded(block="\ufffd\x00", text="a\ufffd\ufffd\x00b")


async def test_a_writer_may_leave_while_its_last_words_are_written(log: EventLog) -> None:
    """The next one must not be given numbers that are on their way to the disk."""
    first = await log.writer(STREAM)
    await first.commit(OPENED, MessageStarted(block="m"))
    for round_ in range(20):
        leaving = await log.writer(STREAM)
        leaving.say(MessageDelta(block="m", offset=round_, text="x"))
        leaving.say(SessionIdle())
        for _ in range(round_ % 4):
            await anyio.lowlevel.checkpoint()
        leaving.release()
        leaving.release()
        del leaving
    last = await log.writer(STREAM)
    assert [left.text for left in last.left_open] == ["x" * 20]
    first.say(SessionIdle())
    assert (await last.commit(SessionReady())).seq == last_seq_of(await log.after(STREAM, 0))


def last_seq_of(events: list[Recorded]) -> int:
    seqs = [recorded.seq for recorded in events]
    assert seqs == sorted(set(seqs))
    return seqs[-1]


async def test_many_who_load_one_stream_at_once_share_it(log: EventLog) -> None:
    written: list[int] = []

    async def speak() -> None:
        writer = await log.writer(STREAM)
        written.append((await writer.commit(SessionIdle())).seq)

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(speak)
    assert len(set(written)) == 20


async def test_followers_end_when_the_server_stops_while_writers_go_on(log: EventLog) -> None:
    writer = await log.writer(STREAM)
    await writer.commit(OPENED)
    heard: list[list[Recorded]] = []

    async def listen() -> None:
        async with log.follow(STREAM, 1) as follower:
            heard.append(await follower.next(30.0))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await anyio.sleep(0.05)
            log.end_followers()
        written = [(await writer.commit(SessionIdle())).seq for _ in range(3)]
    assert (heard, written, log.is_closing) == ([[]], [2, 3, 4], True)


@on_sqlite
async def test_what_was_said_last_is_on_disk_when_the_log_is_closed(
    open_log: OpenLog, tmp_path: Path
) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED, MessageStarted(block="m"))
        writer.say(MessageDelta(block="m", offset=0, text="last"))
        writer.say(SessionIdle())
    assert [kind for _, kind in kinds_on_disk(tmp_path)][-2:] == ["message.delta", "session.idle"]
    assert sorted(os.listdir(tmp_path)) == ["airboss.sqlite", "deltas"]


async def test_a_closed_log_refuses_in_words_and_nobody_waits_for_ever(open_log: OpenLog) -> None:
    async with open_log() as log:
        writer = await log.writer(STREAM)
        await writer.commit(OPENED)
    writer.say(MessageDelta(block="m", offset=0, text="too late"))
    with pytest.raises(StoreUnavailable, match="The log is closed: the server is stopping"):
        await writer.commit(SessionIdle())
