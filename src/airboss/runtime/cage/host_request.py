"""A host that something in a cage wants to reach, and what is said to that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class HostRequest:
    """By its name; `listed` where the cage's profile names it. `unclear` says why nobody knows all
    that the profile names."""

    host: str
    port: int
    listed: bool
    unclear: str = ""


@dataclass(frozen=True)
class HostAnswer:
    """Yes with who said it, no with why; None while a person is asked."""

    allowed: bool | None
    why: str
    by: str = ""


HostPermission: TypeAlias = Callable[[HostRequest], Awaitable[HostAnswer]]
