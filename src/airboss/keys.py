"""What all have in common that say something about a session: parts of it, each by its name."""

from typing import Annotated, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
NAME_RULE: Final = "Should have letters, digits, - and _ only, and at most 64 of them."

PartName: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]


class Keys(BaseModel):
    """Any part of what is said. What is left out is decided elsewhere."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @property
    def said(self) -> tuple[str, ...]:
        """The names of what is said here."""
        return tuple(name for name, value in self if value is not None)
