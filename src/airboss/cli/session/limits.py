"""Limits as somebody types them."""

from collections.abc import Sequence
from typing import Final

from airboss.cli.trouble import CommandRefused

# By the names that entries have, those of the API.
_LIMITS: Final = {
    "turns": "turns",
    "tokens": "tokens",
    "cost": "cost",
    "minutes": "minutes",
    "idleMinutes": "idle_minutes",
}


def read_limits(given: Sequence[str]) -> dict[str, float]:
    """`tokens=5000`"""
    found: dict[str, float] = {}
    for text in given:
        name, _, amount = text.partition("=")
        if name not in _LIMITS:
            raise CommandRefused(f"There is no limit {name}. Limits: {', '.join(_LIMITS)}.")
        try:
            found[_LIMITS[name]] = float(amount)
        except ValueError:
            raise CommandRefused(f"--limit {name} needs a number: {name}=10") from None
    return found
