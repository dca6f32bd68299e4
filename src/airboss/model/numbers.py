"""Whole numbers as JSON has them."""

from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, StrictInt


def _whole(number: object) -> object:
    return int(number) if isinstance(number, float) and number.is_integer() else number


# JSON has one kind of number: 3.0 and 3e0 are as whole as 3. Beside a `StrictInt`, for which `true`
# and "3" are none, and behind its bounds, else a schema does not have them.
whole: Final = BeforeValidator(_whole)
Whole: TypeAlias = Annotated[StrictInt, whole]
