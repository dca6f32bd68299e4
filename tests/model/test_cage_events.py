"""What a session's cage and its traffic come to."""

from airboss.model.cage_events import (
    MOST_HOSTS,
    OTHER_HOSTS,
    CageClosed,
    CageLimit,
    CageLimits,
    CageOpened,
    CageView,
    EgressClosed,
    EgressOpened,
    EgressRefused,
    HostTraffic,
    cage_after,
    traffic_after,
)

LIMITS = CageLimits(memory_mb=4096, processes=512, file_mb=2048)
OPENED = CageOpened(strength="strong", profile="default", walls=("seccomp",), limits=LIMITS)


def refused(host: str, count: int = 1) -> EgressRefused:
    return EgressRefused(host=host, port=443, why="No.", count=count)


def test_a_cage_that_ended_is_still_told_of_with_what_ended_it() -> None:
    cage = cage_after(None, OPENED)
    cage = cage_after(cage, CageLimit(what="memory", text="Too much."))
    cage = cage_after(cage, CageClosed(how="Killed.", peak_memory_mb=4100))
    assert cage is not None
    assert (cage.is_open, cage.limit, cage.profile) == (False, "memory", "default")
    assert cage.peak_memory_mb == 4100
    again = cage_after(cage, OPENED)
    assert again is not None
    assert (again.is_open, again.limit, again.peak_memory_mb) == (True, None, None)


def test_what_is_told_of_no_cage_makes_none() -> None:
    assert cage_after(None, CageClosed(how="Killed.")) is None
    assert cage_after(None, CageLimit(what="memory", text="Too much.")) is None


def test_what_an_earlier_version_told_of_a_cage_is_read_and_the_rest_is_unknown() -> None:
    said = OPENED.model_dump(exclude={"git"})
    cage = cage_after(None, CageOpened.model_validate(said))
    assert cage is not None
    assert (cage.git, cage.peak_memory_mb) == (None, None)
    kept = cage.model_dump(exclude={"git", "peak_memory_mb"})
    assert CageView.model_validate(kept) == cage


def test_traffic_is_added_up_by_host_and_port() -> None:
    opened = EgressOpened(host="a.example", port=443, address="1.1.1.1", by="profile")
    closed = EgressClosed(
        host="a.example", port=443, connections=2, sent=1, received=2, seconds=0.1
    )
    told = traffic_after(None, opened)
    assert told == (HostTraffic(host="a.example", port=443, is_open=True, by="profile"),)
    for event in (closed, opened, closed, refused("b.example", 3), refused("b.example")):
        told = traffic_after(told, event)
    assert told == (
        HostTraffic(host="a.example", port=443, by="profile", connections=4, sent=2, received=4),
        HostTraffic(host="b.example", port=443, refused=4, why="No."),
    )


def test_who_allowed_a_host_last_and_when_it_was_refused_last_are_told() -> None:
    told: tuple[HostTraffic, ...] = ()
    for at, by in ((1, "profile"), (2, "person ada")):
        opened = EgressOpened(host="a.example", port=443, address="1.1.1.1", by=by)
        told = traffic_after(told, opened, at)
    for at in (3, 4):
        told = traffic_after(told, refused("b.example"), at)
    assert [(one.by, one.refused_at) for one in told] == [("person ada", None), (None, 4)]


def test_more_hosts_than_a_view_has_are_added_up_under_one_name() -> None:
    told: tuple[HostTraffic, ...] = ()
    for number in range(MOST_HOSTS + 50):
        told = traffic_after(told, refused(f"h{number}.example"))
    told = traffic_after(told, refused("h3.example"))
    assert len(told) == MOST_HOSTS + 1
    assert told[-1] == HostTraffic(host=OTHER_HOSTS, refused=50, why="No.")
    assert told[3].refused == 2
