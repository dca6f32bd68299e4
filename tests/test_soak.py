"""What the soak of `make bench ARGS=--soak` takes for a time, and for growth."""

from dataclasses import replace

import pytest

from bench.processes import Taken
from bench.soak import has_grown, seconds_of

EARLY = Taken(server=120.0, runtime=300.0, descriptors=40, threads=20)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "10 m", "-1h", "1d", "m"])
def test_anything_else_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="is no time: write it as 90s, 10m or 1h"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("late", "grown"),
    [
        (EARLY, []),
        (replace(EARLY, server=127.0, descriptors=42, threads=19, runtime=900.0), []),
        (replace(EARLY, server=128.0), ["memory"]),
        (replace(EARLY, descriptors=43, threads=23), ["descriptors", "threads"]),
    ],
)
def test_growth_is_more_than_a_look_differs_from_the_next(late: Taken, grown: list[str]) -> None:
    assert has_grown(EARLY, late) == grown
