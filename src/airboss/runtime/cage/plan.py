"""Which cage a runtime is started in: what sessions must have in common to share one."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.cage_settings import CageProfile

CageKind: TypeAlias = Literal["strong", "narrow"]
_KEY_LETTERS: Final = 24


@dataclass(frozen=True)
class CagePlan:
    """`key` names its folder: the next cage of the same finds there what this one left. `cwd` is a
    real path, so that it cannot become another folder by a link."""

    kind: CageKind
    profile: str
    terms: CageProfile
    cwd: Path
    key: str
    # The task run or the session that it is deleted with.
    owner: str = ""

    @property
    def written(self) -> tuple[Path, ...]:
        """Where agents in it write, of folders that are not its own."""
        return (self.cwd, *(Path(path).expanduser() for path in self.terms.write))


def cage_key(identity: str, folder: Path, profile: str, owner: str) -> str:
    """`owner` is the task run or the chat session whose cage it is."""
    said = "\0".join((identity, str(folder), profile, owner))
    return hashlib.sha256(said.encode()).hexdigest()[:_KEY_LETTERS]
