"""Who hears what of a cage, and which doors it has."""

from pathlib import Path
from typing import Any

import pytest

from airboss.cage_settings import CageProfile
from airboss.harness.open_cages import CagedSession, OpenCages
from airboss.model.cage_events import (
    CageClosed,
    CageEvent,
    CageLimit,
    CageOpened,
    EgressClosed,
    EgressEvent,
)
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from airboss.runtime.cage.launch import CageNews
from airboss.runtime.cage.plan import CagePlan

PLAN = CagePlan("strong", "default", CageProfile(memory_mb=512), Path("/work"), "key")
NARROW = CagePlan("narrow", "default", CageProfile(), Path("/work"), "other")


class Inside:
    """A session that says yes, and keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[CageEvent | EgressEvent] = []
        self.session = CagedSession(self._permit, self.heard.append)

    async def _permit(self, _: HostRequest) -> HostAnswer:
        return HostAnswer(True, "", "profile")


def test_whoever_enters_before_or_after_it_opens_hears_of_it_once() -> None:
    cages, first, second = OpenCages(), Inside(), Inside()
    cages.enter(PLAN, first.session)
    cages.hear(CageNews("opened", PLAN, group=1))
    cages.enter(PLAN, first.session)
    cages.enter(PLAN, second.session)
    for one in (first, second):
        [opened] = one.heard
        assert isinstance(opened, CageOpened)
        assert (opened.strength, opened.limits.memory_mb) == ("strong", 512)
        assert opened.walls[-1] == "control group v1"


def test_without_a_control_group_it_says_that_limits_are_watched() -> None:
    cages, one = OpenCages(), Inside()
    cages.enter(NARROW, one.session)
    cages.hear(CageNews("opened", NARROW))
    [opened] = one.heard
    assert isinstance(opened, CageOpened)
    assert opened.walls == (
        "Landlock",
        "seccomp",
        "no network",
        "unreadable runtime",
        "watched limits",
    )


@pytest.mark.parametrize(
    ("news", "held"),
    [
        (CageNews("opened", PLAN, bounds_processes=True), "bounded processes"),
        (CageNews("opened", PLAN), "watched limits"),
        (CageNews("opened", PLAN, group=2, bounds_processes=True), "control group v2"),
    ],
)
def test_a_strong_cage_says_whether_the_kernel_bounds_its_processes(
    news: CageNews, held: str
) -> None:
    cages, one = OpenCages(), Inside()
    cages.enter(PLAN, one.session)
    cages.hear(news)
    [opened] = one.heard
    assert isinstance(opened, CageOpened)
    assert opened.walls[-1] == held


def test_a_strong_cage_names_landlock_where_the_kernel_has_it_and_whether_there_is_git() -> None:
    cages, one = OpenCages(), Inside()
    cages.enter(PLAN, one.session)
    cages.hear(CageNews("opened", PLAN, has_landlock=True, has_git=False))
    [opened] = one.heard
    assert isinstance(opened, CageOpened)
    assert opened.walls[:2] == ("namespaces", "Landlock")
    assert opened.git is False


def test_a_limit_is_told_in_words_and_is_why_the_cage_closed() -> None:
    cages, one = OpenCages(), Inside()
    cages.enter(PLAN, one.session)
    cages.hear(CageNews("opened", PLAN))
    cages.hear(CageNews("limit", PLAN, limit="memory"))
    cages.hear(CageNews("closed", PLAN, peak=lambda: 600 << 20))
    _, limit, closed = one.heard
    assert limit == CageLimit(
        what="memory", text="The cage was ended: it used more than 512 MB of memory."
    )
    assert closed == CageClosed(how="Its limit of memory was reached.", peak_memory_mb=600)
    cages.leave(PLAN, one.session)
    assert len(one.heard) == 3, "it was told already"


def test_who_comes_while_a_cage_ends_at_its_limit_hears_of_the_next_one_only() -> None:
    cages, first, second = OpenCages(), Inside(), Inside()
    cages.enter(PLAN, first.session)
    cages.hear(CageNews("opened", PLAN))
    cages.hear(CageNews("limit", PLAN, limit="memory"))
    cages.leave(PLAN, first.session)
    cages.enter(PLAN, second.session)
    cages.hear(CageNews("closed", PLAN))
    cages.hear(CageNews("opened", PLAN))
    assert first.heard[-1] == CageClosed(how="Its limit of memory was reached.")
    assert [one.kind for one in second.heard] == ["cage.opened"]


def test_a_session_that_leaves_hears_no_more_of_it() -> None:
    cages, stays, leaves = OpenCages(), Inside(), Inside()
    for one in (stays, leaves):
        cages.enter(PLAN, one.session)
    cages.hear(CageNews("opened", PLAN))
    cages.leave(PLAN, leaves.session)
    cages.leave(PLAN, leaves.session)
    assert leaves.heard[1:] == [CageClosed(how="The session left it.")]
    cages.hear(CageNews("closed", PLAN))
    assert len(leaves.heard) == 2
    assert stays.heard[1:] == [CageClosed(how="It was ended with everything in it.")]


def test_a_session_that_leaves_hears_how_much_memory_was_used_until_then() -> None:
    cages, one = OpenCages(), Inside()
    peaks = [7 << 20]
    cages.enter(PLAN, one.session)
    cages.hear(CageNews("opened", PLAN, peak=lambda: peaks[-1]))
    peaks.append(96 << 20)
    cages.leave(PLAN, one.session)
    assert one.heard[1:] == [CageClosed(how="The session left it.", peak_memory_mb=96)]


def test_a_narrow_cage_has_no_doors_and_a_strong_one_has_a_way_out() -> None:
    cages = OpenCages()
    assert cages.doors(NARROW).by_port == {}
    assert len(cages.doors(PLAN).by_port) == 1


async def test_what_is_counted_is_told_before_nobody_is_there_to_hear_it() -> None:
    cages: Any = OpenCages()
    first, last = Inside(), Inside()
    cages.enter(PLAN, first.session)
    cages.enter(PLAN, last.session)
    doors = cages.doors(PLAN)
    cages.hear(CageNews("opened", PLAN))
    traffic = cages._ways_out[PLAN.key].traffic
    count = traffic.begin("a.example.org", 443, "1.1.1.1", "profile")
    count.sent = 7
    cages.leave(PLAN, last.session)
    assert not [one for one in last.heard if isinstance(one, EgressClosed)]
    cages.leave(PLAN, first.session)
    [closed] = [one for one in first.heard if isinstance(one, EgressClosed)]
    assert (closed.host, closed.sent, closed.connections) == ("a.example.org", 7, 1)
    assert doors.close is not None
    await doors.close()
    traffic.end(count)
    assert len([one for one in first.heard if isinstance(one, EgressClosed)]) == 1


def test_a_cage_whose_closed_files_were_replaced_ends_in_those_words() -> None:
    cages: Any = OpenCages()
    inside = Inside()
    cages.enter(PLAN, inside.session)
    for news in (CageNews("opened", PLAN), CageNews("limit", PLAN, "replaced")):
        cages.hear(news)
    cages.hear(CageNews("closed", PLAN))
    [limit] = [one for one in inside.heard if isinstance(one, CageLimit)]
    assert limit.what == "replaced"
    assert "Read it before you use git there." in limit.text
    assert inside.heard[-1] == CageClosed(how="What is closed in its folder was replaced outside.")
