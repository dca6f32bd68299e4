"""The stories that the pages' own tests read too: both come to the same state and digest."""

import random

import pytest

from airboss.model.digest import canonical, digest
from airboss.model.events import BlockDelta, MessageEnded, ReasoningEnded, Recorded, ToolEnded
from airboss.model.states import FoldedSession
from tests.model.stories import all_stories, bare, read, recorded, tell

BLOCK_ENDS = (ReasoningEnded, MessageEnded, ToolEnded)
CHANCE = random.Random(6)  # noqa: S311 - no secret


@pytest.mark.parametrize("name", all_stories())
def test_a_story_folds_into_what_it_says(name: str) -> None:
    story = read(name)
    state = tell(story, recorded(story))
    assert bare(state.plain()) == story["expected"]
    assert state.digest() == story["digest"]


@pytest.mark.parametrize("name", all_stories())
def test_what_is_told_twice_counts_once(name: str) -> None:
    story = read(name)
    events = recorded(story)
    assert tell(story, [*events, *events]).digest() == story["digest"]


@pytest.mark.parametrize("name", all_stories())
def test_without_the_deltas_of_what_has_ended_the_state_is_the_same(name: str) -> None:
    story = read(name)
    events = recorded(story)
    told = [one.event for one in events]
    ends = {event.block for event in told if isinstance(event, BLOCK_ENDS)}
    rest = [one for one in events if not _is_delta_of(one, ends)]
    assert tell(story, rest).digest() == story["digest"]


def _is_delta_of(one: Recorded, ended: set[str]) -> bool:
    return isinstance(one.event, BlockDelta) and one.event.block in ended


@pytest.mark.parametrize("name", all_stories())
def test_a_digest_that_was_kept_on_the_way_is_that_of_the_whole(name: str) -> None:
    story = read(name)
    events = recorded(story)
    state = tell(story, [])
    for event in events:
        state.tell(event)
        if CHANCE.random() < 0.3:
            state.digest()
    assert state.digest() == story["digest"]


@pytest.mark.parametrize("name", [one for one in all_stories() if read(one)["kind"] == "session"])
def test_a_tail_of_any_length_is_tolerated(name: str) -> None:
    story = read(name)
    events = recorded(story)
    for begin in range(len(events)):
        state = tell(story, events[begin:])
        assert isinstance(state, FoldedSession)
        assert set(state.order) <= set(state.blocks)
        assert len(list(state.standing())) == len(state.order)


def test_a_digest_tells_states_apart_and_does_not_mind_how_they_are_written() -> None:
    assert canonical({"b": [1, 0.25], "a": None, "c": ""}) == '{"b":[1000,250]}'


def test_a_number_beyond_all_counting_has_a_digest_too() -> None:
    most = str(2**53)
    for huge in (1e306, float("inf"), 2**60):
        assert canonical([huge, -huge]) == f"[{most},-{most}]"
    assert digest({"a": "x", "n": 1}) == digest({"n": 1.0, "a": "x", "gone": None, "empty": []})
    assert digest({"a": "x"}) != digest({"a": "y"})
    assert digest({}) == digest({"nothing": None})
