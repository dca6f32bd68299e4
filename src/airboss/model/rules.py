"""Rules of one's own: what agents may do without permission, what only with it, and what never."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from airboss.model.ids import RuleId
from airboss.model.words import Frozen, Words

Verdict: TypeAlias = Literal["allow", "deny", "ask"]
LONGEST_WORDS = 4096
# Described and not checked here: who writes a rule is refused in words of ours, and what is stored
# is read as it is.
_Named: TypeAlias = Annotated[
    Words, Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_WORDS})
]


class Rule(Frozen):
    """Speaks for every request that has all of what it names; `*` and `?` stand for any letters. Of
    several the first that matches holds."""

    verdict: Verdict
    # The kind of the request: shell, write, read, url, mcp, …
    wish: _Named | None = None
    tool: _Named | None = None
    command: _Named | None = None
    path: _Named | None = None
    host: _Named | None = None
    # Only for sessions that work in this folder or below it.
    folder: _Named | None = None


class KeptRule(Frozen):
    """A rule that holds, with who made it and when."""

    id: RuleId
    rule: Rule
    who: Words
    made_at: int
