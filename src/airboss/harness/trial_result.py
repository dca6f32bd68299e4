"""What comes of a try of a provider, and how far one may go.

The try itself needs the HTTP client, and is loaded with the first one.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from airboss.harness.offered_models import OfferedByProvider

MEGABYTE: Final = 1024 * 1024

# Why it does not work, for programs; people get a sentence.
TrialCause: TypeAlias = Literal[
    "key",
    "address",
    "private",
    "dns",
    "tls",
    "unreachable",
    "time",
    "redirect",
    "too-large",
    "garbage",
    "cut",
    "model",
    "busy",
    "refused",
]


class TrialResult(BaseModel):
    """What came of it. Where it did not work, `problem` says why and what to do."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    problem: str | None = None
    cause: TrialCause | None = None
    # The model that was called; none where nothing says which there are.
    model: str | None = None
    # From the call to the first word of the answer.
    first_word_ms: int | None = None
    tokens: int | None = None
    # None where the provider has no list.
    models: tuple[OfferedByProvider, ...] | None = None


@dataclass(frozen=True)
class TrialLimits:
    """Enough for a model that has to be loaded first."""

    seconds: float = 60.0
    connect_seconds: float = 10.0
    list_bytes: int = 8 * MEGABYTE
    answer_bytes: int = MEGABYTE
