"""The names that agents may have: not those of the runtime's own."""

import re
from typing import Final

from airboss.keys import NAME_PATTERN, NAME_RULE
from airboss.session_keys import MOST_AGENTS as MOST_AGENTS

NAME: Final = re.compile(NAME_PATTERN)
# Agents that the runtime brings: one of this name would be told to the model twice.
BUILT_IN_AGENTS: Final = (
    "explore",
    "task",
    "general-purpose",
    "code-review",
    "research",
    "security-review",
)


def mistake_in_name(name: str) -> str | None:
    if not NAME.fullmatch(name):
        return f'"{name[:80]}" is not a name of an agent. {NAME_RULE}'
    if name.lower() in BUILT_IN_AGENTS:
        return f'"{name}" is the name of an agent that the runtime brings.'
    return None
