"""In which of the encodings that we have a browser wants its answer (RFC 9110, 12.5.3)."""

import re
from typing import Final

# How each of them ends a file's name; of those that are wanted alike, the first is the smallest.
SUFFIXES: Final = {"br": ".br", "gzip": ".gz"}
PLAIN: Final = "identity"

_WEIGHT: Final = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.IGNORECASE)
_ALIASES: Final = {"x-gzip": "gzip"}


def preferred(header: str | None) -> list[str]:
    """The best first. What is plain is the last resort, unless it is asked for by its name, and is
    sent even to those who refuse it: they get something rather than nothing."""
    weights = _weights(header or "")
    others = weights.get("*", 0.0)
    ranked = [(weights.get(name, others), name) for name in SUFFIXES]
    ranked.append((weights.get(PLAIN, 0.0), PLAIN))
    # Sorting keeps the order of those that weigh the same.
    wanted = sorted((one for one in ranked if one[0] > 0), key=lambda one: -one[0])
    names = [name for _, name in wanted]
    return names if PLAIN in names else [*names, PLAIN]


def _weights(header: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights[_ALIASES.get(name, name)] = _weight(parameters)
    return weights


def _weight(parameters: list[str]) -> float:
    """What cannot be read is not wanted: a plain answer is understood by everybody."""
    if not parameters:
        return 1.0
    found = _WEIGHT.fullmatch(parameters[0])
    return float(found[1]) if found and len(parameters) == 1 else 0.0
