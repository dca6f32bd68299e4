"""Numbers in what the runtime says: such as can be stored, summed and shown. The runtime may be
anybody's, and what is none of these counts as if it had not been said.
"""

from typing import Final

# Of anything: so much of it that also the sum of millions is a whole number everywhere.
_MOST: Final = 10**12


def known_amount_of(said: object) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if 0 <= said <= _MOST else None


def amount_of(said: object) -> float:
    return known_amount_of(said) or 0.0


def known_count_of(said: object) -> int | None:
    amount = known_amount_of(said)
    return None if amount is None else int(amount)


def count_of(said: object) -> int:
    return known_count_of(said) or 0
