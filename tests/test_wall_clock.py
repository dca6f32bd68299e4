"""A machine whose clock is wrong: its database puts the times of events right."""

from collections.abc import Generator

import pytest

from airboss import wall_clock
from airboss.log.stream import LiveStream
from airboss.model.events import Recorded, SessionIdle

HOUR = 3_600_000


@pytest.fixture(autouse=True)
def right() -> Generator[None]:
    yield
    wall_clock.put_right(0)


def test_a_clock_that_is_an_hour_ahead_is_put_right() -> None:
    before = wall_clock.now_ms()
    assert wall_clock.put_right(HOUR)
    assert abs(wall_clock.now_ms() - (before - HOUR)) < 60_000
    told = wall_clock.now_ms()
    assert wall_clock.put_right(HOUR + 20)
    assert wall_clock.now_ms() >= told, "the way to the database differs each time"
    assert not wall_clock.put_right(0)
    assert wall_clock.now_ms() >= before


def test_less_than_a_second_is_the_way_to_the_database() -> None:
    assert not wall_clock.put_right(900)
    assert wall_clock.now_ms() - wall_clock.local_ms() in (0, 1)


async def test_a_clock_that_is_set_back_does_not_tell_a_story_backwards() -> None:
    stream = LiveStream("ses_1", 0, None, None)
    said = [stream.say(Recorded.of(0, at, SessionIdle()), SessionIdle()) for at in (50, 10, 60)]
    assert [one.at for one in said] == [50, 50, 60]
