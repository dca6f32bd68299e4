"""A short word for a state, which a page that has folded the same events comes to as well.

It tells states apart that differ by accident; it is no proof against anybody who wants them to be
taken for equal.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, cast

_PART = 8
# Beyond this, no two languages write a number alike.
_MOST = 2**53


def digest(state: object) -> str:
    """16 hexadecimal digits."""
    text = canonical(state).encode()
    return f"{zlib.crc32(text):0{_PART}x}{zlib.adler32(text):0{_PART}x}"


def canonical(state: object) -> str:
    """One text for one state, in any language: what is empty is left out, names are sorted, and
    numbers are whole thousandths, since no two languages write fractions alike."""
    return json.dumps(_plain(state), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _plain(value: Any) -> Any:
    match value:
        case bool() | None | str():
            return value
        case int() | float():
            return _thousandths(value)
        case Mapping():
            named = cast("Mapping[str, Any]", value)
            plain = {name: _plain(part) for name, part in named.items() if name not in _UNKEPT}
            return {name: part for name, part in plain.items() if part not in _EMPTY}
        case _:
            return [_plain(part) for part in cast("Sequence[Any]", value)]


def _thousandths(value: float) -> int:
    whole = value * 1000 if isinstance(value, int) else value * 1000 + 0.5
    return floor(max(-_MOST, min(_MOST, whole)))


# Views that an earlier version kept of what still goes on do not have them.
_UNKEPT = frozenset(("worked_ms", "working_since"))
_EMPTY: Sequence[Any] = (None, False, 0, "", [], {})
