"""Rules of one's own: what agents may do without leave, what only with it, and what never."""

from typing import Literal, TypeAlias

from airboss.model.ids import RuleId
from airboss.model.words import Frozen, Words

Verdict: TypeAlias = Literal["allow", "deny", "ask"]


class Rule(Frozen):
    """Speaks for every wish that has all of what it names; `*` and `?` stand for any letters. Of
    several the first that matches holds."""

    verdict: Verdict
    # The kind of the wish: shell, write, read, url, mcp, …
    wish: Words | None = None
    tool: Words | None = None
    command: Words | None = None
    path: Words | None = None
    host: Words | None = None
    # Only for sessions that work in this folder or below it.
    folder: Words | None = None


class KeptRule(Frozen):
    """A rule that holds, with who made it and when."""

    id: RuleId
    rule: Rule
    who: Words
    made_at: int
