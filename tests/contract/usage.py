"""Usage as v1 tells it where nothing was used, and limits where there are none."""

from typing import Any

NOTHING_SPENT: dict[str, Any] = {
    "requests": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "cached_tokens": 0,
    "cost": 0.0,
}
NOTHING_USED: dict[str, Any] = {
    **NOTHING_SPENT,
    "sub_agents": NOTHING_SPENT,
    "turns": 0,
    "milliseconds": 0,
    "multiplier": None,
}
NO_LIMITS = dict.fromkeys(("turns", "tokens", "cost", "minutes", "idle_minutes"))
