"""The queue in memory goes by the same rules as the one that people see, whatever is done to it."""

import asyncio
import random

import pytest

from airboss.harness.queue import RequestQueue
from airboss.harness.turn import Request
from airboss.model.events import (
    Event,
    Overtaking,
    PromptAccepted,
    PromptChanged,
    PromptDropped,
    PromptMoved,
    SessionOpened,
)
from airboss.model.ids import PromptId
from airboss.model.views import SessionView, View, fold

OPENED = SessionOpened(model="m", cwd="/work", policy="read-only", who="me")
DELIVERIES: tuple[Overtaking | None, ...] = (None, None, "steer", "interrupt")


def shown(events: list[Event]) -> list[tuple[str, str]]:
    view: View | None = None
    for seq, event in enumerate(events):
        view = fold(view, "ses_1", seq, seq, event)
    assert isinstance(view, SessionView)
    return [(queued.prompt, queued.text) for queued in view.queue]


async def perform(queue: RequestQueue, chance: random.Random, number: int) -> Event:
    """One thing that is done to it, and the event of that."""
    names = list(queue)
    some = chance.choice(names) if names else None
    match chance.randrange(5):
        case 0 if some:
            queue.change(some, f"changed {number}")
            return PromptChanged(prompt=some, text=f"changed {number}", who="me")
        case 1 if some:
            before = chance.choice([*names, None, PromptId("gone")])
            queue.move(some, None if before == some else before)
            return PromptMoved(prompt=some, before=None if before == some else before, who="me")
        case 2 if some:
            queue.take(some)
            return PromptDropped(prompt=some, reason="")
        case _:
            prompt, delivery = PromptId(f"pro_{number}"), chance.choice(DELIVERIES)
            queue.add(prompt, Request(f"text {number}", None, None, delivery))
            return PromptAccepted(prompt=prompt, text=f"text {number}", who="me", delivery=delivery)


@pytest.mark.parametrize("seed", range(20))
async def test_the_queue_and_its_view_agree(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    queue, events = RequestQueue(), list[Event]([OPENED])
    for number in range(60):
        events.append(await perform(queue, chance, number))
        assert [(prompt, request.text) for prompt, request in queue.items()] == shown(events)


async def test_what_is_held_is_not_taken_and_those_behind_it_are() -> None:
    queue = RequestQueue()
    first, second = PromptId("pro_1"), PromptId("pro_2")
    for prompt in (first, second):
        queue.add(prompt, Request(prompt))
    waiting = asyncio.create_task(queue.some())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.let_go(second)
    await waiting
    assert queue.first == second
    queue.let_go(first)
    assert queue.first == first
    queue.hold(first)
    assert queue.first == second
    queue.take(second)
    queue.let_go(second)
    assert queue.first is None, "what was taken does not come back"
