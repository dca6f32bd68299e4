"""The client of the feed: several streams on one connection, without a gap or a repetition."""

import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from airboss.cli.client import Client, find
from airboss.cli.feed import FeedClient
from airboss.cli.heard import CaughtUp, Heard, Record, Remark, StreamEnded
from tests.portal import Portal


def reach_of(portal: Portal) -> Callable[[], Client]:
    return lambda: Client(find(portal.data, {}))


def heard_until(
    feed: FeedClient, last: Callable[[Heard], bool], seconds: float = 20
) -> list[Heard]:
    found: list[Heard] = []
    until = time.monotonic() + seconds
    while not found or not last(found[-1]):
        heard = feed.next(max(until - time.monotonic(), 0))
        assert heard is not None, found
        found.append(heard)
    return found


def ended(stream: str) -> Callable[[Heard], bool]:
    return lambda heard: isinstance(heard, StreamEnded) and heard.stream == stream


def is_caught_up(heard: Heard) -> bool:
    return isinstance(heard, CaughtUp)


def records_of(heard: list[Heard], stream: str) -> list[Record]:
    return [one for one in heard if isinstance(one, Record) and one.stream == stream]


def seqs_of(heard: list[Heard], stream: str) -> list[int]:
    return [record.seq for record in records_of(heard, stream)]


Told = tuple[int, dict[str, Any]]


def without_deltas(told: list[Told]) -> list[Told]:
    """How many deltas there are depends on when one reads them."""
    return [one for one in told if not str(one[1]["kind"]).endswith(".delta")]


def whole_of(heard: list[Heard], stream: str) -> list[Told]:
    return without_deltas([(one.seq, one.event) for one in records_of(heard, stream)])


def events_of(portal: Portal, session: str) -> list[Told]:
    client = reach_of(portal)()
    told = client.get(f"/api/v1/sessions/{session}/events", limit=1000)["items"]
    client.close()
    return without_deltas([(one["seq"], one["event"]) for one in told])


def post(portal: Portal, session: str, verb: str) -> None:
    client = reach_of(portal)()
    client.post(f"/api/v1/sessions/{session}/{verb}")
    client.close()


def test_streams_that_are_added_later_come_whole_and_nothing_comes_twice(portal: Portal) -> None:
    first, second = portal.new_session(), portal.new_session()
    with FeedClient(reach_of(portal), {first: 0}, 5) as feed:
        heard = heard_until(feed, is_caught_up)
        assert not records_of(heard, second)
        feed.follow_beside([second])
        heard += heard_until(feed, is_caught_up)
        feed.follow_beside([])
        feed.follow_beside([second])
        heard += heard_until(feed, is_caught_up)
        for session in (second, first):
            post(portal, session, "close")
        heard += heard_until(feed, ended(first))
        while not any(ended(second)(one) for one in heard):
            heard += heard_until(feed, lambda one: True)
    for session in (first, second):
        assert whole_of(heard, session) == events_of(portal, session)
        assert seqs_of(heard, session) == sorted(set(seqs_of(heard, session)))
    assert not [one for one in heard if isinstance(one, Remark)], "no connection was lost"


def test_what_one_looks_for_comes_first_and_the_rest_is_kept(portal: Portal) -> None:
    first, second = portal.new_session(), portal.new_session()
    with FeedClient(reach_of(portal), {first: 0, second: 0}, 5) as feed:
        found: list[Heard] = []
        last = events_of(portal, second)[-1][0]
        while not found or seqs_of(found, second)[-1] < last:
            one = feed.next_of(second, 10)
            assert isinstance(one, Record)
            found.append(one)
        rest: list[Heard] = []
        while len(whole_of(rest, first)) < len(events_of(portal, first)):
            rest += heard_until(feed, lambda one: True)
        assert not records_of(rest, second)
        assert feed.next_of(second, 0.05) is None
    for session in (first, second):
        post(portal, session, "close")


def test_after_a_kill_it_goes_on_behind_the_last_event_of_each_stream(own_portal: Portal) -> None:
    first, second = own_portal.new_session(), own_portal.new_session()
    with FeedClient(reach_of(own_portal), {first: 0, second: 0}, 60) as feed:
        heard = heard_until(feed, is_caught_up)
        own_portal.kill()
        heard += heard_until(feed, lambda one: isinstance(one, Remark))
        own_portal.start()
        heard += heard_until(feed, is_caught_up)
        remarks = [one.text for one in heard if isinstance(one, Remark)]
        assert remarks[0].startswith("Connection lost: ")
        assert remarks[1:] == ["Reconnected; nothing was missed."]
        for session in (first, second):
            assert whole_of(heard, session) == events_of(own_portal, session)
            assert seqs_of(heard, session) == sorted(set(seqs_of(heard, session)))


def test_what_does_not_exist_ends_in_the_server_s_words(portal: Portal) -> None:
    with FeedClient(reach_of(portal), {"ses_nobody": 0}, 5) as feed:
        (*_, end) = heard_until(feed, ended("ses_nobody"))
    assert isinstance(end, StreamEnded)
    assert str(end.trouble) == "There is no session ses_nobody."


def test_whoever_leaves_leaves_no_connection_behind(portal: Portal) -> None:
    session = portal.new_session()
    before = threading.active_count()
    with FeedClient(reach_of(portal), {session: 0}, 5) as feed:
        heard_until(feed, is_caught_up)
        assert threading.active_count() == before + 1
    until = time.monotonic() + 3  # a heartbeat, which would end it too, comes after 5 s
    while threading.active_count() > before:
        assert time.monotonic() < until
        time.sleep(0.01)
    post(portal, session, "close")


@pytest.mark.alone
def test_an_end_is_heard_within_a_tenth_of_a_second(portal: Portal) -> None:
    took: list[float] = []
    for _ in range(5):
        session = portal.new_session()
        with FeedClient(reach_of(portal), {session: 0}, 5) as feed:
            heard_until(feed, is_caught_up)
            post(portal, session, "close")
            began = time.monotonic()
            heard_until(feed, ended(session))
            took.append(time.monotonic() - began)
    assert statistics.median(took) < 0.1, took
