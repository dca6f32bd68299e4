"""How much may be used, and what a person has granted beyond it."""

from typing import Annotated, TypeAlias

from pydantic import Field

from airboss.model.words import Frozen, Words

_Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class UsageLimits(Frozen):
    """How much a session may use, or a task, or a job. What is left out has no limit."""

    turns: _Amount | None = None
    tokens: _Amount | None = None
    cost: _Amount | None = None
    minutes: _Amount | None = None
    idle_minutes: _Amount | None = None


class Granted(Frozen):
    """A limit that was reached, and a person said: go on."""

    scope: Words
    limit: Words
    # So much may be used now; without it, as much as it takes.
    upto: float | None = None
