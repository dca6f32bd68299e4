"""How much is tried of what could be tried for ever: `make test` has a share, `make trials` all."""

import os
import random
from typing import Final

import pytest

IS_WHOLE: Final = "AIRBOSS_TRIALS" in os.environ

trial: Final = pytest.mark.trial


def share(part: int, whole: int) -> int:
    return whole if IS_WHOLE else part


def dice() -> random.Random:
    """The same throws each time in a share, others each time in the whole."""
    return random.Random(None if IS_WHOLE else 9)  # noqa: S311 - no secret is made of it
