"""What the tests cost, by file: whoever adds one sees it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

MOST = 10
# A handful of tests needs no table.
FEWEST = 100


def costs_by_file(reports: Iterable[pytest.TestReport]) -> list[tuple[str, float]]:
    """The seconds that each file took, set-up and clean-up included, the slowest first."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in reports:
        seconds[report.nodeid.partition("::")[0]] += report.duration
    return sorted(seconds.items(), key=lambda cost: -cost[1])


def cost_table(costs: Sequence[tuple[str, float]]) -> list[str]:
    whole = sum(seconds for _, seconds in costs)
    lines = [f"{seconds:7.1f} s  {seconds / whole:4.0%}  {name}" for name, seconds in costs[:MOST]]
    return [*lines, f"{whole:7.1f} s        in {len(costs)} files"]
