"""A request that a limit held back waits without an agent, until somebody decides."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from airboss.engine.budgets import Budgets
from airboss.harness.limit_waits import held_back, until_decided
from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import SessionOpened
from airboss.model.ids import ItemId, PromptId, SessionId
from airboss.model.inbox_events import ItemSettled, LimitReached
from tests.log.conftest import log_in

SESSION, PROMPT = SessionId("ses_1"), PromptId("pro_1")
OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")
REACHED = LimitReached(
    item=ItemId("itm_1"),
    scope="session",
    limit="turns",
    allowed=1,
    used=1,
    before_turn=True,
    prompt=PROMPT,
)


class Place:
    """What somebody who works gives to others while they wait."""

    def __init__(self) -> None:
        self.given_back = asyncio.Event()
        self.waits: list[object] = []

    def begin(self, reason: str, wait: object = None) -> None:
        assert reason
        self.waits.append(wait)
        self.given_back.set()

    def drop(self, wait: object) -> None:
        self.waits.remove(wait)

    def behind(self, reason: str | None) -> None:
        raise AssertionError("it keeps its place then")

    def busy(self, reason: str | None) -> None:
        raise AssertionError("it waits for a person")

    async def end(self, wait: object = None) -> None:
        raise AssertionError("whoever goes on takes it")


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as running:
        yield running


async def asked(log: EventLog, reached: LimitReached) -> Writer:
    writer = log.new_writer(SESSION)
    await writer.commit(OPENED, reached)
    return writer


async def test_only_a_request_of_which_nothing_was_sent_is_held_back(log: EventLog) -> None:
    await asked(log, REACHED)
    view = await log.view(SESSION)
    assert held_back(view, PROMPT) == REACHED
    assert held_back(view, PromptId("pro_2")) is None
    assert held_back(None, PROMPT) is None


async def test_one_that_was_being_worked_on_is_not(log: EventLog) -> None:
    await asked(log, REACHED.model_copy(update={"before_turn": False}))
    assert held_back(await log.view(SESSION), PROMPT) is None


async def test_it_waits_in_nobodys_place_until_somebody_decides(log: EventLog) -> None:
    writer, place = await asked(log, REACHED), Place()
    budgets = Budgets(log)
    waiting = asyncio.ensure_future(until_decided(log, budgets, SESSION, PROMPT, place))
    await asyncio.wait_for(place.given_back.wait(), 5)
    assert not waiting.done()
    assert place.waits == [REACHED.item]
    await writer.commit(ItemSettled(item=REACHED.item, outcome="go-on", who="me"))
    await asyncio.wait_for(waiting, 5)
    assert not place.waits, "what is asked next would wait for this for ever"


async def test_where_nothing_is_held_back_nobody_waits(log: EventLog) -> None:
    await asked(log, REACHED)
    budgets = Budgets(log)
    await asyncio.wait_for(until_decided(log, budgets, SESSION, PromptId("pro_2"), None), 5)
