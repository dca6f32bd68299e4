"""Questions of extensions: asked beside the turn, answered once, withdrawn with the session."""

import asyncio

import pytest

from airboss.errors import Invalid, TooMuch
from airboss.harness.extension_items import ExtensionQuestions
from airboss.harness.session_state import SessionState
from airboss.log.log import EventLog
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from tests.harness.desk import Desk
from tests.harness.states import state_in, story

pytestmark = pytest.mark.anyio


async def until_asked(state: SessionState, count: int = 1) -> None:
    async with asyncio.timeout(10):
        while len(state.beside) < count:  # noqa: ASYNC110 - there is no event for this
            await asyncio.sleep(0.01)


async def test_an_answer_comes_back_and_the_question_says_who_asks(log: EventLog) -> None:
    state = await state_in(log)
    asking = asyncio.create_task(
        ExtensionQuestions(state).ask("helper", "Which one?", ["a", "b"], allows_words=False)
    )
    await until_asked(state)
    [waiting] = state.beside.values()
    asked = waiting.asked
    assert isinstance(asked, QuestionAsked)
    assert (asked.extension, asked.choices, asked.allows_words) == ("helper", ("a", "b"), False)
    await Desk(state).pending.settle(
        ItemSettled(item=asked.item, outcome="answered", who="ada", answer="b")
    )
    assert await asking == "b"
    assert state.beside == {}


async def test_nobody_answers_what_is_withdrawn_with_the_session(log: EventLog) -> None:
    state = await state_in(log)
    questions = ExtensionQuestions(state)
    asking = asyncio.create_task(questions.ask("helper", "Who?", [], allows_words=True))
    await until_asked(state)
    questions.end()
    assert await asking is None
    settled = [event for event in await story(log) if isinstance(event, ItemSettled)]
    assert [one.outcome for one in settled] == ["cancelled"]


async def test_an_empty_question_and_too_many_are_refused(log: EventLog) -> None:
    state = await state_in(log)
    questions = ExtensionQuestions(state)
    with pytest.raises(Invalid):
        await questions.ask("helper", " ", [], allows_words=True)
    asking = [
        asyncio.create_task(questions.ask("helper", f"{number}?", [], allows_words=True))
        for number in range(5)
    ]
    await until_asked(state, 5)
    with pytest.raises(TooMuch):
        await questions.ask("helper", "One more?", [], allows_words=True)
    questions.end()
    assert [await one for one in asking] == [None] * 5
