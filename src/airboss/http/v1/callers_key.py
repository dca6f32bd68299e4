"""The key that a caller may give to what it asks."""

from typing import Annotated

from fastapi import Header

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="A unique key of yours for this request. Repeating it starts nothing new.",
    ),
]
