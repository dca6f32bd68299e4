"""Which cage a runtime is started in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from airboss.cage_settings import CageProfile

CageKind: TypeAlias = Literal["strong", "narrow"]


@dataclass(frozen=True)
class CagePlan:
    """`key` names the folder of its state: the same for all that share the cage, and for the next
    one that goes on with it."""

    kind: CageKind
    profile: str
    terms: CageProfile
    cwd: Path
    key: str
