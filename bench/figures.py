"""Numbers out of many: medians, percentiles and their spread. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from statistics import median


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: a value that was really seen."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(frozen=True)
class Spread:
    """A median with the range in which it would fall again, 19 times of 20."""

    middle: float
    low: float
    high: float

    def words(self, unit: str, digits: int = 1) -> str:
        number = f"{{:.{digits}f}}"
        low, high = number.format(self.low), number.format(self.high)
        return f"{number.format(self.middle)}{unit} ({low} to {high})"


def spread(values: Sequence[float], draws: int = 400) -> Spread:
    """Drawn again and again from the same values (bootstrap), always in the same way."""
    chance = Random(1)  # noqa: S311 - repeatable on purpose, and no secret
    medians = [median(chance.choices(values, k=len(values))) for _ in range(draws)]
    return Spread(median(values), percentile(medians, 0.025), percentile(medians, 0.975))


@dataclass
class Pairs:
    """Milliseconds of the same work on both sides, in the order in which they were taken."""

    bare: list[float] = field(default_factory=list[float])
    portal: list[float] = field(default_factory=list[float])

    @property
    def differences(self) -> list[float]:
        return [ours - theirs for ours, theirs in zip(self.portal, self.bare, strict=True)]

    @property
    def ratios(self) -> list[float]:
        return [ours / theirs for ours, theirs in zip(self.portal, self.bare, strict=True)]


@dataclass(frozen=True)
class Delays:
    """How long events were on their way, in milliseconds."""

    p50: float
    p99: float
    count: int

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Delays":
        return cls(percentile(milliseconds, 0.5), percentile(milliseconds, 0.99), len(milliseconds))

    def words(self) -> str:
        return f"{self.p50:.1f} / {self.p99:.1f} ms"


def is_rising(numbers: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(numbers))
