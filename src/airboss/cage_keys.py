"""What may be said about the cage of a session: the name of a profile, and changes of it."""

import re
from typing import Annotated, Final, TypeAlias

from pydantic import Field, StrictBool

from airboss.cage_settings import CageProfile, UnknownHosts
from airboss.keys import Keys, PartName

MOST_WORDS: Final = 200
HOST_RULE: Final = (
    'Should be a host such as "example.org", "*.example.org" or "example.org:8443", or one of the '
    "sets @python and @node."
)
HOST_SETS: Final = ("@python", "@node")

_HOST: Final = re.compile(
    r"(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*"
    r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?::(?P<port>[1-9][0-9]{0,4}))?",
    re.IGNORECASE,
)
_LONGEST_HOST: Final = 253
_MOST_PORT: Final = 65535

Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=4096)]
Words: TypeAlias = Annotated[tuple[Word, ...], Field(max_length=MOST_WORDS)]
# As files write them; they are those of a profile.
BOUNDS: Final = {
    "memoryMb": (128, 1_048_576),
    "processes": (16, 32_768),
    "fileMb": (1, 1_048_576),
}


class CageKeys(Keys):
    """A profile of the settings by its name, and what is to be otherwise than in it. Who may not
    widen what the server allows can only take away."""

    profile: PartName | None = None
    read: Words | None = None
    write: Words | None = None
    hosts: Words | None = None
    unknown_hosts: UnknownHosts | None = None
    variables: Words | None = None
    memory_mb: Annotated[int, Field(ge=128, le=1_048_576, strict=True)] | None = None
    processes: Annotated[int, Field(ge=16, le=32_768, strict=True)] | None = None
    file_mb: Annotated[int, Field(ge=1, le=1_048_576, strict=True)] | None = None
    debuggers: StrictBool | None = None

    def over(self, profile: CageProfile) -> CageProfile:
        """The profile with what is said here in the place of its own."""
        said = {name: getattr(self, name) for name in self.said if name != "profile"}
        return profile.model_copy(update=said)


def named_profile(value: object) -> object:
    """A name alone is a profile as the settings have it."""
    return {"profile": value} if isinstance(value, str) else value


def mistake_in_host(word: str) -> str | None:
    if word in HOST_SETS:
        return None
    found = _HOST.fullmatch(word)
    if found is None or len(word) > _LONGEST_HOST or int(found["port"] or 1) > _MOST_PORT:
        return HOST_RULE
    return None
