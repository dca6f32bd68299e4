"""What goes out is counted, and told once where it belongs together."""

import pytest

from airboss.model.cage_events import EgressClosed, EgressEvent, EgressOpened, EgressRefused
from airboss.runtime.cage.traffic import Traffic
from tests.runtime.cage.outside import until

pytestmark = pytest.mark.anyio


async def test_connections_at_the_same_time_are_told_as_one() -> None:
    told: list[EgressEvent] = []
    traffic = Traffic(told.append, pause_seconds=0.05)
    counts = [traffic.begin("a.example", 443, "1.1.1.1", "profile") for _ in range(5)]
    for count in counts:
        count.sent += 2
        count.received += 3
        traffic.end(count)
    again = traffic.begin("a.example", 443, "1.1.1.1", "profile")
    traffic.end(again)
    assert told == [EgressOpened(host="a.example", port=443, address="1.1.1.1", by="profile")]
    await until(lambda: len(told) == 2)
    closed = told[1]
    assert isinstance(closed, EgressClosed)
    assert (closed.connections, closed.sent, closed.received) == (6, 10, 15)


async def test_the_same_refusal_is_told_once_and_then_counted() -> None:
    told: list[EgressEvent] = []
    traffic = Traffic(told.append, repeat_seconds=0.05)
    for _ in range(10):
        traffic.refuse("a.example", 443, "No.")
    assert told == [EgressRefused(host="a.example", port=443, why="No.")]
    await until(lambda: len(told) == 2)
    assert told[1] == EgressRefused(host="a.example", port=443, why="No.", count=9)
    traffic.close()


async def test_a_flood_of_names_is_told_in_a_bounded_number_of_lines() -> None:
    told: list[EgressEvent] = []
    traffic = Traffic(told.append)
    for number in range(10_000):
        traffic.refuse(f"h{number}.example", 443, "No.")
    traffic.close()
    assert len(told) <= 60
    assert sum(one.count for one in told if isinstance(one, EgressRefused)) == 10_000


async def test_all_that_was_counted_is_told_at_the_end() -> None:
    told: list[EgressEvent] = []
    traffic = Traffic(told.append)
    count = traffic.begin("a.example", 80, "1.1.1.1", "person mona")
    count.sent = 7
    traffic.refuse("b.example", 443, "No.")
    traffic.refuse("b.example", 443, "No.")
    traffic.close()
    traffic.end(count)
    assert [one.kind for one in told] == [
        "egress.opened",
        "egress.refused",
        "egress.refused",
        "egress.closed",
    ]
    traffic.close()
