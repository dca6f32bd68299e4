"""An account of Copilot as the settings have it, and what is refused there.

Its token is in no file of ours: only where it comes from is.
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from airboss.session_keys import CLI_ACCOUNT
from airboss.setting_words import KEPT_NAME, Command

# Where a token comes from.
TokenSource: TypeAlias = Literal["variable", "command", "kept", "cli"]
# What is kept on this machine under a name: the secret, or nothing.
ReadKept: TypeAlias = Callable[[str], str | None]

_ONE_OF: Final = "Give it exactly one of token_variable, token_command, token_kept and cli = true."


def nothing_kept(_name: str) -> None:
    """For whoever keeps no secrets."""


class Account(BaseModel):
    """Somebody who is signed in to Copilot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    # The variable of the server that holds the token.
    token_variable: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    # What is run to get the token: its output is the token, or JSON with how long it is valid.
    token_command: Command | None = None
    # The name under which the token is kept on this machine.
    token_kept: str | None = Field(default=None, pattern=KEPT_NAME)
    # Whoever the Copilot CLI is signed in as.
    cli: bool = False

    @property
    def source(self) -> TokenSource:
        if self.token_variable is not None:
            return "variable"
        if self.token_command is not None:
            return "command"
        return "cli" if self.token_kept is None else "kept"

    @field_validator("name")
    @classmethod
    def _be_no_other_source(cls, name: str) -> str:
        if name.lower() == CLI_ACCOUNT:
            said = f"The name {name} stands for the sign-in of the Copilot CLI. Choose another one."
            raise PydanticCustomError("account", "{reason}", {"reason": said})
        return name

    @model_validator(mode="after")
    def _have_one_source(self) -> "Account":
        given = (self.token_variable, self.token_command, self.token_kept, self.cli or None)
        if sum(one is not None for one in given) != 1:
            raise PydanticCustomError("account", "{reason}", {"reason": _ONE_OF})
        return self
