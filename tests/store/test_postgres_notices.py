"""Notices between processes: as few as there can be, each small enough, and none from oneself."""

import queue
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.store.notices import StreamNotice, packed, unpacked
from airboss.store.postgres_connection import Watchdog
from airboss.store.postgres_notices import PostgresNotices
from tests.postgres import Postgres

NOTICES = st.builds(
    StreamNotice,
    st.integers(0, 10**9).map(lambda number: f"run_{number:026}"),
    st.integers(-1, 2**53),
    st.booleans(),
)
Heard = queue.Queue[Sequence[StreamNotice] | None]


@settings(max_examples=25)
@given(st.lists(NOTICES, max_size=400))
def test_what_is_called_is_read_again_whole_and_each_is_small_enough(
    said: list[StreamNotice],
) -> None:
    texts = list(packed(said))
    assert all(len(one.encode()) <= 7_900 for one in texts)
    assert [notice for one in texts for notice in unpacked(one)] == said
    assert len(texts) <= len(said) // 100 + 1


def test_words_that_are_no_notice_are_left_out_and_more_than_is_known_does_no_harm() -> None:
    text = "run_1,run_2:x:1,:1:1,run_3:7:1:later,run_4:8:0"
    assert list(unpacked(text)) == [StreamNotice("run_3", 7, True), StreamNotice("run_4", 8, False)]


@contextmanager
def line(url: str) -> Generator[tuple[PostgresNotices, Heard]]:
    heard, watchdog = Heard(), Watchdog()
    made = PostgresNotices(url, watchdog, heard.put)
    made.start()
    try:
        assert heard.get(timeout=30) is None, "something may have been missed before"
        yield made, heard
    finally:
        made.close()
        watchdog.close()


def test_others_hear_what_one_calls_also_behind_a_restart_of_the_database(
    postgres: Postgres, postgres_url: str
) -> None:
    with line(postgres_url) as (one, own), line(postgres_url) as (_, heard):
        one.call([StreamNotice("run_1", 6, True), StreamNotice("run_1", 7, False)])
        assert heard.get(timeout=30) == [StreamNotice("run_1", 7, True)]
        with postgres.away("immediate"):
            one.call([StreamNotice("run_1", 8, False)])  # called when it is back
        assert heard.get(timeout=60) is None, "it listens again, and looks"
        assert own.get(timeout=60) is None, "none from oneself, and only that it listens again"
        # What was left may have been called before the other one listened.
        one.call([StreamNotice("run_1", 9, False)])
        last = heard.get(timeout=30)
        while last and last[-1].head != 9:
            last = heard.get(timeout=30)
        assert own.empty()
