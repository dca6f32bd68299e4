"""The times of a lease: a worker gives up long before anybody may take its place."""

from hypothesis import given
from hypothesis import strategies as st

from airboss.machines.lease import BeatNotes, LeaseTimes

LEASES = st.floats(3, 300)


@given(LEASES)
def test_a_worker_ends_itself_while_its_lease_lasts_and_has_tried_often_before(
    seconds: float,
) -> None:
    times = LeaseTimes(seconds)
    assert times.own_limit < seconds * 0.61
    # Beats that fail are sent again often, and a call that hangs leaves time for others.
    assert times.between_beats * 5 < times.own_limit
    assert times.before_next_try <= times.between_beats
    assert times.of_a_call * 2 < times.own_limit


@given(st.floats(13, 300))
def test_a_database_that_was_away_for_half_a_lease_is_back_in_time(seconds: float) -> None:
    times = LeaseTimes(seconds)
    # At worst it went away when the next beat was due, and came back right behind a try.
    assert times.between_beats + seconds / 2 + times.before_next_try < times.own_limit


def test_agents_are_gone_at_three_fifths_of_the_lease_and_not_a_moment_later() -> None:
    assert 11.5 < LeaseTimes(20).own_limit < 11.9, "killing them takes a moment"


def test_who_does_not_move_for_a_lease_is_overdue() -> None:
    notes = BeatNotes(10)
    assert notes.overdue({"a": 1, "b": 7}, 100) == {}
    assert notes.overdue({"a": 2, "b": 7}, 109.9) == {}
    assert notes.overdue({"a": 2, "b": 7}, 110) == {"b": 7}
    assert notes.overdue({"a": 3, "b": 8}, 111) == {}
    assert notes.overdue({"a": 3, "b": 8}, 121) == {"a": 3, "b": 8}


def test_a_beat_that_goes_back_has_moved() -> None:
    """A database that was restored: its worker lives."""
    notes = BeatNotes(10)
    notes.overdue({"a": 9}, 0)
    assert notes.overdue({"a": 4}, 10) == {}
    assert notes.overdue({"a": 4}, 20) == {"a": 4}


def test_who_is_gone_from_the_table_is_noted_anew_when_it_comes_back() -> None:
    notes = BeatNotes(10)
    notes.overdue({"a": 1}, 0)
    notes.overdue({}, 5)
    assert notes.overdue({"a": 1}, 11) == {}


def test_a_read_that_failed_forgets_all_since_nobody_could_beat() -> None:
    notes = BeatNotes(10)
    notes.overdue({"a": 1}, 0)
    notes.forget()
    assert notes.overdue({"a": 1}, 60) == {}
    assert notes.overdue({"a": 1}, 70) == {"a": 1}


def test_a_beat_is_as_old_as_the_moment_at_which_it_was_seen_first() -> None:
    notes = BeatNotes(10)
    notes.overdue({"a": 1, "b": 7}, 100)
    notes.overdue({"a": 2, "b": 7}, 103)
    assert notes.age("a", 2, 104) == 1
    assert notes.age("b", 7, 104) == 4
    # Somebody read it just now, and saw it further than these notes are.
    assert notes.age("b", 8, 104) == 0
    assert notes.age("nobody", 1, 104) is None
    assert notes.moved_since(101) == {"a": True, "b": False}


@given(st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=40))
def test_nobody_is_overdue_who_moved_within_the_lease(
    steps: list[tuple[float, bool]],
) -> None:
    notes, now, beat, moved_at = BeatNotes(5), 0.0, 0, 0.0
    notes.overdue({"a": beat}, now)
    for wait, moves in steps:
        now += wait
        if moves:
            beat, moved_at = beat + 1, now
        overdue = notes.overdue({"a": beat}, now)
        assert bool(overdue) == (now - moved_at >= 5)
