"""What all have in common that say something about a session: parts of it, each by its name."""

import ipaddress
import re
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
NAME_RULE: Final = "Should have letters, digits, - and _ only, and at most 64 of them."

PartName: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]

ADDRESS_PATTERN: Final = r"^https?://[^/?#@\s]+(/[^?#\s]*)?(\?[^#\s]*)?$"
NO_ADDRESS: Final = "Should be an address."
_DIGITS: Final = re.compile(r"[0-9.]+")


def is_address(url: str) -> bool:
    """What a pattern cannot say: there is such a port, and what is written like a number of a host
    is one."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        if ":" in host or _DIGITS.fullmatch(host):
            ipaddress.ip_address(host)
    except ValueError:
        return False
    return bool(host) and url.isprintable()


def be_free_of_nul(text: str) -> str:
    """No program can be started with one."""
    if "\0" in text:
        raise ValueError("Should have no NUL in it.")
    return text


def be_address(url: str) -> str:
    if not is_address(url):
        raise ValueError(NO_ADDRESS)
    return url


Address: TypeAlias = Annotated[
    str, Field(pattern=ADDRESS_PATTERN, max_length=2000), AfterValidator(be_address)
]


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
