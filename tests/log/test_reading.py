"""Wherever reading begins, and however it is cut into pages, nothing is missing or repeated."""

import random
import tempfile
from pathlib import Path
from typing import Literal

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airboss.log import stream as stream_module
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    PermissionDecided,
    SessionIdle,
)
from tests.log.conftest import OpenLog, log_in
from tests.log.truth import Truth, begin, read_all
from tests.trials import share, trial

STREAM = "ses_story"
BLOCKS = ("a", "b", "c")

Step = tuple[Literal["delta", "burst", "end", "other", "flush", "look"], str, str]

steps = st.lists(
    st.tuples(
        st.sampled_from(["delta", "delta", "burst", "end", "other", "flush", "look"]),
        st.sampled_from(BLOCKS),
        st.text(st.sampled_from('abß語😀\x00\n"\\'), min_size=1, max_size=6),
    ),
    min_size=8,
    max_size=40,
)


async def flush(log: EventLog) -> None:
    """A batch takes all streams: when this is on disk, so is what the others said before."""
    elsewhere = await log.writer("ses_elsewhere")
    await elsewhere.commit(SessionIdle())


def say(writer: Writer, truth: Truth, step: Step) -> None:
    action, block, text = step
    if action in {"delta", "burst"}:
        if not truth.is_open(block):
            writer.say(truth.start(block))
        for piece in text if action == "burst" else [text]:
            writer.say(truth.delta(block, piece))
    elif action == "end" and truth.is_open(block):
        writer.say(truth.end(block))
    elif action == "other":
        writer.say(truth.other(SessionIdle()))


async def check_everywhere(log: EventLog, truth: Truth) -> None:
    for after in range(truth.seq + 1):
        for limit in (2, 500):
            truth.check(after, await read_all(log, STREAM, after, limit))


@trial
@settings(
    max_examples=share(10, 30),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(story=steps, tail=st.sampled_from([0, 4, 256]))
async def test_every_position_is_a_right_place_to_begin(story: list[Step], tail: int) -> None:
    truth = Truth()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "TAIL_EVENTS", tail)
        async with log_in(Path(folder)) as log:
            writer = await begin(log, STREAM, truth)
            for step in story:
                say(writer, truth, step)
                if step[0] in {"flush", "look"}:
                    await flush(log)
                if step[0] == "look":
                    await check_everywhere(log, truth)
            await flush(log)
            await check_everywhere(log, truth)
            for block in BLOCKS:
                say(writer, truth, ("end", block, ""))
            await flush(log)
            await check_everywhere(log, truth)
        async with log_in(Path(folder)) as log:
            await check_everywhere(log, truth)


async def test_a_finished_block_is_told_as_its_start_one_delta_and_its_end(
    open_log: OpenLog,
) -> None:
    truth = Truth()
    async with open_log() as log:
        writer = await begin(log, STREAM, truth)
        writer.say(truth.start("a"))
        for piece in ("one ", "two ", "three"):
            writer.say(truth.delta("a", piece))
        await writer.commit(truth.end("a"))
    async with open_log() as log:
        told = [recorded.event for recorded in await log.after(STREAM, 1)]
        inside = [recorded.event for recorded in await log.after(STREAM, 3)]
    whole, rest = (MessageDelta(block="a", offset=at, text="one two three"[at:]) for at in (0, 4))
    end = MessageEnded(block="a", text="one two three")
    assert told == [MessageStarted(block="a"), whole, end]
    assert inside == [rest, end]


async def test_what_was_said_between_two_deltas_keeps_them_apart(open_log: OpenLog) -> None:
    """Whoever reads on from the decision has the first delta, however it was read."""
    truth = Truth()
    decided = PermissionDecided(
        request="r", wish="shell", about="ls", allowed=True, by="policy", reason=""
    )
    async with open_log() as log:
        writer = await begin(log, STREAM, truth)
        said = [truth.start("a"), truth.delta("a", "be"), truth.delta("a", "fore")]
        said += [truth.other(decided), truth.delta("a", "after"), truth.end("a")]
        for event in said:
            writer.say(event)
        await flush(log)
    async with open_log() as log:
        told = [recorded.event for recorded in await log.after(STREAM, 1)]
    again = Truth()
    first = [again.start("a"), again.delta("a", "before")]
    assert told == [*first, decided, again.delta("a", "after"), again.end("a")]


async def test_blocks_that_stay_open_for_thousands_of_events_are_read_in_small_pages(
    log: EventLog,
) -> None:
    truth = Truth()
    writer = await begin(log, STREAM, truth)
    for number in range(2_000):
        for block in BLOCKS[: 1 + number % 3]:
            if not truth.is_open(block):
                writer.say(truth.start(block))
            writer.say(truth.delta(block, f"{block}{number} "))
        if number % 97 == 0:
            writer.say(truth.other(SessionIdle()))
    writer.say(truth.end("a"))
    await writer.commit(truth.end("b"))
    for after in range(0, truth.seq, 199):
        truth.check(after, await read_all(log, STREAM, after, 211))


async def test_a_reader_that_reconnects_at_fifty_random_moments_has_everything_once(
    log: EventLog,
) -> None:
    truth, heard, chance = Truth(), list[int](), random.Random(50)  # noqa: S311
    writer = await begin(log, STREAM, truth)
    connections = 0

    async def speak() -> None:
        number = 0
        while number < 1_500 or connections < 50:  # on a busy machine the reader is slow
            number += 1
            say(writer, truth, ("delta", BLOCKS[number % 2], f"{number} "))
            if number % 40 == 0:
                say(writer, truth, ("end", BLOCKS[number % 3 % 2], ""))
                say(writer, truth, ("other", "", ""))
            if number % 7 == 0:
                await anyio.sleep(0.001)
        await writer.commit(truth.other(SessionIdle()))

    async def listen() -> None:
        nonlocal connections
        place = 0
        while not (truth.seq and place == truth.seq and not writing):
            connections += 1
            async with log.follow(STREAM, place) as follower:
                for _ in range(chance.randint(1, 4)):
                    found = await follower.next(0.2)
                    cut = found[: chance.randint(0, len(found))]  # the rest was lost on the way
                    truth.check(place, cut, to_the_end=False)
                    heard.extend(recorded.seq for recorded in cut)
                    place = cut[-1].seq if cut else place
                    if len(cut) < len(found):
                        break

    writing = True
    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await speak()
        writing = False
    assert heard == sorted(set(heard))
    assert set(truth.others) <= set(heard)


async def test_a_block_id_that_is_used_again_is_a_new_block(open_log: OpenLog) -> None:
    truth = Truth()
    async with open_log() as log:
        writer = await begin(log, STREAM, truth)
        for text in ("first time", "second", "third and last"):
            writer.say(truth.start("same"))
            for letter in text:
                writer.say(truth.delta("same", letter))
            writer.say(truth.end("same"))
            if text == "second":
                await flush(log)
        await flush(log)
        await check_everywhere(log, truth)
    async with open_log() as log:
        await check_everywhere(log, truth)
        assert (await log.writer(STREAM)).left_open == ()


async def test_a_very_long_block_id_is_as_good_as_a_short_one(open_log: OpenLog) -> None:
    truth, block = Truth(), "x" * 20_000 + "\x00é'\""
    async with open_log() as log:
        writer = await begin(log, STREAM, truth)
        writer.say(truth.start(block))
        writer.say(truth.delta(block, "some "))
        writer.say(truth.delta(block, "text"))
        await writer.commit(truth.end(block))
    async with open_log() as log:
        await check_everywhere(log, truth)
