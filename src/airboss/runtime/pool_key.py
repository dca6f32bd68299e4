"""What sessions have in common that share a process of the runtime."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from airboss.runtime.cage.plan import CagePlan

# Whose models a process is for: those of whoever the CLI is signed in as, those of a token that
# comes with each session, or those of providers of one's own.
Mode: TypeAlias = Literal["cli", "token", "byok"]


@dataclass(frozen=True)
class PoolKey:
    """What sessions have in common that share a process. `profile` and `version` are of the account
    whose token they have; the version tells one token of it from the next."""

    identity: str
    home: Path
    mode: Mode
    profile: str | None = None
    version: str | None = None
    # The walls around the process: such are not counted with the others.
    cage: CagePlan | None = None
