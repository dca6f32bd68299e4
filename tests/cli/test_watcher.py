"""Ctrl-C while something is watched: real signals, counted."""

import os
import signal

import pytest

from airboss.cli.client import Address, Client
from airboss.cli.feed import FeedClient
from airboss.cli.heard import Heard, Pressed, Remark, StreamEnded
from airboss.cli.trouble import Exit, Trouble
from airboss.cli.watcher import Interrupts, StopRequest, watch_to_the_end


def nowhere() -> Client:
    return Client(Address("http://127.0.0.1:1", None))


def a_feed() -> FeedClient:
    """One that is not connected: it has what the test puts in."""
    return FeedClient(nowhere, {"run_1": 0}, 60)


def press(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


STOP = StopRequest(nowhere, "/api/v1/runs/run_1/stop", "The run", "Left.", "Stopping …")


def test_who_only_watches_leaves_with_the_first_press() -> None:
    feed = a_feed()
    before = signal.getsignal(signal.SIGINT)
    with Interrupts() as interrupts:
        interrupts.wake(feed)
        assert not interrupts.is_leaving(feed)
        press()
        assert isinstance(feed.next(1), Pressed), "whoever listens is woken at once"
        assert interrupts.is_leaving(feed)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_started_it_stops_it_and_leaves_with_the_next_press(number: int) -> None:
    feed = a_feed()
    with Interrupts.of_starter() as interrupts:
        press(number)  # before it is known what there is to stop
        interrupts.stop = STOP
        interrupts.wake(feed)
        assert not interrupts.is_leaving(feed)
        assert interrupts.is_stopping
        said = [feed.next(5), feed.next(5)]
        assert said[0] == Remark("Stopping …")
        assert isinstance(said[1], Remark)
        assert said[1].text.startswith(
            "The run could not be stopped: Could not connect to the server"
        )
        assert said[1].text.endswith("Ctrl-C again to exit.")
        assert not interrupts.is_leaving(feed)
        press(number)
        with pytest.raises(Trouble, match="Left") as left:
            interrupts.is_leaving(feed)
        assert left.value.code == Exit.STOPPED


def test_what_is_at_work_next_is_stopped_by_a_press_of_its_own() -> None:
    feed = a_feed()
    with Interrupts.of_starter() as interrupts:
        interrupts.stop = STOP
        for _ in range(3):
            press()
            assert not interrupts.is_leaving(feed)
            interrupts.start_anew()


def test_presses_that_nobody_heeds_cut_what_hangs() -> None:
    with Interrupts.of_starter():
        press()
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


class Listening:
    """Notes what it hears, and has enough at a word."""

    def __init__(self) -> None:
        self.heard: list[Heard | None] = []

    def hear(self, heard: Heard | None) -> bool:
        self.heard.append(heard)
        return heard != Remark("enough")


def test_it_is_watched_to_the_end_of_its_own_stream_or_until_it_is_enough() -> None:
    for last in (StreamEnded("run_1"), Remark("enough")):
        feed, viewer = a_feed(), Listening()
        for heard in (StreamEnded("tsk_1", Trouble("It is gone.")), last):
            feed.put(heard)
        with Interrupts() as interrupts:
            assert watch_to_the_end(feed, viewer, interrupts)
        assert viewer.heard[-1] == last
    feed = a_feed()
    feed.put(StreamEnded("run_1", Trouble("It is gone.")))
    with Interrupts() as interrupts, pytest.raises(Trouble, match="It is gone"):
        watch_to_the_end(feed, Listening(), interrupts)
