"""Whose Copilot a session uses, where that changes."""

from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from airboss.model.words import Frozen, Words


class AccountChanged(Frozen):
    """The session goes on with another account, and with its history: `why` says what was wrong
    with the one before."""

    model_config = ConfigDict(
        serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )

    kind: Literal["account.changed"] = "account.changed"
    before: Words | None = Field(default=None, alias="from")
    to: Words
    why: Words


AccountEvent: TypeAlias = AccountChanged
