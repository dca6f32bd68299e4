"""Kinds of values that several settings have."""

import shlex
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field

# What a kept secret is called: long enough for what we call those of accounts and providers.
KEPT_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"


def _in_words(command: object) -> object:
    """A command may be written as one text; no shell ever sees it."""
    return shlex.split(command) if isinstance(command, str) else command


Command: TypeAlias = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(_in_words),
]
