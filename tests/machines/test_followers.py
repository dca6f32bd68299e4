"""Two servers on one database: what waits at one for a person, the other's people decide when it is
theirs."""

import pytest

from tests.machines.story import Fleet

pytestmark = [pytest.mark.timeout(180), pytest.mark.timed]


def test_what_waits_for_a_person_is_in_every_servers_list_once_and_decided_after_a_takeover(
    fleet: Fleet,
) -> None:
    first, second = fleet.machine("build-1", "ask"), fleet.machine("build-2", "ask")
    first.serve()
    second.serve()
    run = fleet.start(job="short")
    fleet.until(lambda: len(first.items()) == 1)
    fleet.until(lambda: [one["id"] for one in second.items()] == [first.items()[0]["id"]])
    first.portal.kill()
    fleet.until(lambda: "run.moved" in fleet.kinds(run))
    approved: set[str] = set()

    def decide() -> bool:
        for item in second.items():
            if item["id"] not in approved and fleet.view(item["session"])["state"] == "working":
                second.approve(item["id"])
                approved.add(item["id"])
        return fleet.view(run)["state"] in ("succeeded", "failed")

    fleet.until(decide)
    assert fleet.view(run)["state"] == "succeeded"
    assert fleet.done == ["first", "last"]
    assert second.items() == []
    arrived = [one["item"]["id"] for one in fleet.events("inbox") if one["kind"] == "inbox.arrived"]
    assert len(arrived) == len(set(arrived)), "none was listed twice"
    seqs = [one["seq"] for one in fleet.events("inbox")]
    assert seqs == list(range(1, len(seqs) + 1))
