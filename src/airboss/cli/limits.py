"""Limits as one types them: `tokens=5000`."""

from collections.abc import Sequence

from airboss.cli.trouble import Refused

_LIMITS = {
    name: name.replace("M", "_m") for name in ("turns", "tokens", "cost", "minutes", "idleMinutes")
}


def read_limits(given: Sequence[str]) -> dict[str, float]:
    """`tokens=5000`, by the names that entries have too."""
    found: dict[str, float] = {}
    for text in given:
        name, _, amount = text.partition("=")
        if name not in _LIMITS:
            raise Refused(f"There is no limit {name}. There are: {', '.join(_LIMITS)}.")
        try:
            found[_LIMITS[name]] = float(amount)
        except ValueError:
            raise Refused(f"--limit {name} needs a number: {name}=10") from None
    return found
