"""What a server does with extensions: `[extensions]` of the settings."""

from typing import Annotated, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

# The name of the folder that an extension is in.
NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,63}$"
NAME_RULE: Final = (
    "The name should have small letters, digits, - and _ only, begin with a letter or digit, "
    "and have at most 64 of them."
)

ExtensionName: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]
Names: TypeAlias = Annotated[tuple[ExtensionName, ...], Field(max_length=64)]


class ExtensionSettings(BaseModel):
    """`[extensions]` of the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Whether any extension runs at all.
    enabled: bool = True
    # Whether agents have tools to write extensions and to reload them.
    agents: bool = True
    # Whether agents of tasks have them, too. Extensions themselves run in tasks in any case.
    in_tasks: bool = False
    # These must run: while one of them does not, every tool is refused.
    required: Names = ()
    # The user's own that run outside the cage of a caged session.
    on_host: Names = ()
    # So long a hook may take. One that is asked before a tool runs counts as a no after that.
    hook_seconds: float = Field(default=15.0, gt=0, le=600)
    # More of them than this are not run at once, by all sessions together.
    most: int = Field(default=64, gt=0, le=1000)


NO_EXTENSION_SETTINGS: Final = ExtensionSettings()
