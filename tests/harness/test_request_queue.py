"""The queue is what people see of it: the view has it, and only events change it."""

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.harness.session_state import RequestQueue
from airboss.harness.turn import Request
from airboss.log.writer import Writer
from airboss.model.events import (
    Event,
    Overtaking,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptMoved,
    SessionOpened,
    TurnStarted,
)
from airboss.model.ids import PromptId, TaskRunId, TurnId
from airboss.model.views import QueuedPrompt, SessionView
from tests.log.conftest import log_in

OPENED = SessionOpened(model="m", cwd="/work", policy="read-only", who="me")
DELIVERIES: tuple[Overtaking | None, ...] = (None, None, "steer", "interrupt")
FIRST, SECOND = PromptId("pro_1"), PromptId("pro_2")


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncGenerator[Writer]:
    async with log_in(tmp_path) as log:
        writer = log.new_writer("ses_1")
        await writer.commit(OPENED)
        yield writer


def accepted(prompt: PromptId, delivery: Overtaking | None = None) -> PromptAccepted:
    return PromptAccepted(prompt=prompt, text=f"say {prompt}", who="me", delivery=delivery)


async def accept(writer: Writer, queue: RequestQueue, *prompts: PromptId) -> None:
    for prompt in prompts:
        queue.add(prompt, Request())
        await writer.commit(accepted(prompt))
        queue.let_go(prompt)


def shown(writer: Writer) -> list[tuple[PromptId, str]]:
    assert isinstance(writer.view, SessionView)
    return [(queued.prompt, queued.text) for queued in writer.view.queue]


def event_of(names: list[PromptId], chance: random.Random, number: int) -> Event:
    """One thing that is done to it."""
    some = chance.choice(names) if names else None
    match chance.randrange(5):
        case 0 if some:
            return PromptChanged(prompt=some, text=f"changed {number}", who="me")
        case 1 if some:
            before = chance.choice([*names, None, PromptId("gone")])
            return PromptMoved(prompt=some, before=None if before == some else before, who="me")
        case 2 if some:
            return PromptDropped(prompt=some, reason="")
        case _:
            return accepted(PromptId(f"pro_{number}"), chance.choice(DELIVERIES))


async def test_its_order_and_words_are_those_that_people_see(writer: Writer) -> None:
    chance, queue = random.Random(7), RequestQueue(writer)  # noqa: S311 - nothing secret
    for number in range(60):
        await writer.commit(event_of(list(queue), chance, number))
        assert [(prompt, queue.text(prompt)) for prompt in queue] == shown(writer)
    assert len(queue) > 3


async def test_what_is_taken_is_gone_before_the_log_has_written_that(writer: Writer) -> None:
    queue = RequestQueue(writer)
    await accept(writer, queue, FIRST, SECOND)
    assert queue.take(FIRST)
    writer.say(TurnStarted(turn=TurnId("trn_1"), prompt=FIRST))
    assert shown(writer)[0][0] == FIRST, "the view does not know yet"
    assert (list(queue), queue.first, FIRST in queue) == ([SECOND], SECOND, False)
    assert queue.take(FIRST) is None, "nobody works on it twice"
    await writer.settle()
    assert (list(queue), shown(writer)) == ([SECOND], [(SECOND, "say pro_2")])


async def test_what_is_not_on_disk_yet_counts_and_is_not_taken(writer: Writer) -> None:
    queue = RequestQueue(writer)
    queue.add(FIRST, Request())
    queue.let_go(FIRST)
    assert (len(queue), queue.first, queue.find(FIRST)) == (1, None, None)
    await writer.commit(accepted(FIRST))
    assert queue.first is None, "it is held until it is let go"
    queue.let_go(FIRST)
    assert queue.first == FIRST


async def test_what_is_held_is_not_taken_and_those_behind_it_are(writer: Writer) -> None:
    queue = RequestQueue(writer)
    await accept(writer, queue, FIRST)
    queue.hold(FIRST)
    waiting = asyncio.create_task(queue.some())
    await asyncio.sleep(0)
    assert not waiting.done()
    await accept(writer, queue, SECOND)
    await waiting
    assert queue.first == SECOND
    queue.let_go(FIRST)
    assert queue.first == FIRST
    queue.hold(FIRST)
    queue.take(SECOND)
    queue.let_go(SECOND)
    assert queue.first is None, "what was taken does not come back"


async def test_a_resumed_session_has_the_queue_that_is_shown_and_before_it_what_was_held_back(
    writer: Writer,
) -> None:
    task = TaskRunId("tsk_1")
    await writer.commit(PromptAccepted(prompt=SECOND, text="next", who="me", task=task))
    queue = RequestQueue(writer, QueuedPrompt(prompt=FIRST, text="was not sent"))
    assert (list(queue), queue.first, queue.text(FIRST)) == ([FIRST, SECOND], FIRST, "was not sent")
    assert queue.find(FIRST) is None, "people do not see it, and cannot change it"
    assert queue.take(FIRST)
    assert queue.first == SECOND
    request = queue.take(SECOND)
    assert request
    assert request.task == task
    assert (len(queue), queue.take(FIRST)) == (0, None)
