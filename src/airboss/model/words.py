"""What events are made of: frozen records, and text that every disk and every wire takes."""

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def without_halves(text: str) -> str:
    return text if text.isascii() else _HALF_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


# A model, a file or a command may give half of a character (a lone surrogate). No disk and no wire
# takes it, so it is replaced where it enters: one for one, so that offsets stay true.
Words: TypeAlias = Annotated[str, AfterValidator(without_halves)]


class Frozen(BaseModel):
    """What crosses a border never changes afterwards, and has no field that we do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
