"""What all parts of an entry have in common, and the kinds of values that several have."""

from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, StrictStr
from pydantic.alias_generators import to_camel

# Where something is either text or an object: steps of pydantic's that are in no file.
TEXT: Final = "[text]"
OBJECT: Final = "[object]"

Prompt: TypeAlias = tuple[StrictStr, ...]


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number


# JSON has one kind of number: 5 is written as 5, not as 5.0.
Number: TypeAlias = Annotated[
    float,
    Field(strict=True, ge=0, allow_inf_nan=False),
    PlainSerializer(_plain, return_type=float | int, when_used="unless-none"),
]


class Part(BaseModel):
    """Any part of an entry: camelCase in files and on the wire, PEP 8 in Python."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def to_wire(self) -> dict[str, Any]:
        """As JSON has it: what is absent is left out; an empty cell of the grid stays null."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def text_or_object(value: object) -> str:
    return OBJECT if isinstance(value, dict | Part) else TEXT
