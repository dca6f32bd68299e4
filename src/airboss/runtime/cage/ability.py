"""What holds on this machine: a strong cage, a narrow one, or none."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

HeldKind: TypeAlias = Literal["strong", "narrow", "none"]


@dataclass(frozen=True)
class Ability:
    """`why` says why it is no more than that, and `advice` what to do about it."""

    kind: HeldKind
    why: str = ""
    advice: str = ""


def ability() -> Ability:
    return Ability("none", "This version of Airboss cannot start a cage.", "")
