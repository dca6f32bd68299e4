"""What a cage is made of: the folders, hosts, variables and limits of a profile, by its name."""

from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

# Whether sessions may or must run in a cage.
CageUse: TypeAlias = Literal["offer", "always", "off"]
UnknownHosts: TypeAlias = Literal["refuse", "ask"]
DEFAULT_PROFILE: Final = "default"


class CageProfile(BaseModel):
    """`[cages.NAME]` of the settings. What is inside may do everything there; nothing leaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Beside the system and the toolchains that are known.
    read: tuple[str, ...] = ()
    # Beside the working folder.
    write: tuple[str, ...] = ()
    # "example.org", "*.example.org", "host:8443", or a set: "@python", "@node".
    hosts: tuple[str, ...] = ()
    unknown_hosts: UnknownHosts = "refuse"
    # Handed in by name.
    variables: tuple[str, ...] = ("LANG",)
    memory_mb: int = Field(default=4096, ge=128, le=1_048_576)
    processes: int = Field(default=512, ge=16, le=32_768)
    file_mb: int = Field(default=2048, ge=1, le=1_048_576)
    debuggers: bool = False
