"""How long a test waits between two looks at a server: a little longer each time. A look costs both
sides a request, and hundreds of them took more of the machine than what was waited for."""

from collections.abc import Iterator

_SHORTEST = 0.02
_LONGEST = 0.2
_GROWTH = 1.25


def pauses() -> Iterator[float]:
    """Seconds, for ever; whoever waits has a bound of its own."""
    seconds = _SHORTEST
    while True:
        yield seconds
        seconds = min(seconds * _GROWTH, _LONGEST)
