"""How much is tried of what could be tried for ever: `make test` has a share, `make trials` all."""

import os
import random
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import pytest

IS_WHOLE: Final = "AIRBOSS_TRIALS" in os.environ

trial: Final = pytest.mark.trial
# What `make test` leaves out: it proves again, at some length, what others prove there.
whole_only: Final = pytest.mark.trial(is_whole=True)


def share(part: int, whole: int) -> int:
    return whole if IS_WHOLE else part


def sampled(part: int, cases: Iterable[Any]) -> list[Any]:
    """Cases of one rule, each with a server or an agent: the tests have the first of them."""
    first, others = (given := list(cases))[:part], given[part:]
    return [*first, *(pytest.param(*_values(case), marks=whole_only) for case in others)]


def _values(case: Any) -> Sequence[Any]:
    return cast("tuple[Any, ...]", case) if isinstance(case, tuple) else (case,)


def is_left_out(item: pytest.Item) -> bool:
    marks = item.iter_markers("trial")
    return not IS_WHOLE and any("is_whole" in mark.kwargs for mark in marks)


def dice() -> random.Random:
    """The same throws each time in a share, others each time in the whole."""
    return random.Random(None if IS_WHOLE else 9)  # noqa: S311 - no secret is made of it
