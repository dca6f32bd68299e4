"""What a cage leaves behind: the runtime's state, its home, its temporary files, in one folder.

The agent can write most of it. Whoever reads it from outside follows no link in it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.store.cage_places import CagePlaces, note_owner

_CAGES: Final = "cages"
# Those that are written from inside.
_INSIDE: Final = ("home", "state", "scratch", "worktrees")
_OURS: Final = ("doors", "programs")
_ETC: Final = "cage-etc"


@dataclass(frozen=True)
class CageFolders:
    """Those of one cage."""

    root: Path

    @classmethod
    def of(cls, data: Path, key: str) -> "CageFolders":
        return cls(data / _CAGES / key)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def state(self) -> Path:
        """The runtime's own: its sessions."""
        return self.root / "state"

    @property
    def scratch(self) -> Path:
        """Its folder for temporary files. In memory they would count as memory."""
        return self.root / "scratch"

    @property
    def worktrees(self) -> Path:
        """What git notes of worktrees that are made inside."""
        return self.root / "worktrees"

    @property
    def etc(self) -> Path:
        """What it sees as /etc. That is the same for all cages, and none can write it."""
        return self.root.parents[1] / _ETC

    @property
    def written(self) -> tuple[Path, ...]:
        """Those that agents write."""
        return tuple(self.root / name for name in _INSIDE)

    @property
    def doors(self) -> Path:
        """Where the warden hands its doors out, and reads what it has to do."""
        return self.root / "doors"

    @property
    def programs(self) -> Path:
        """Files of programs that are started inside, and that nobody there can change."""
        return self.root / "programs"

    @property
    def walls(self) -> Path:
        """The options of the outer process, which nobody inside sees."""
        return self.root / "walls"

    def make(self, owner: str = "") -> None:
        """`owner` is whom it is deleted with."""
        for folder in (self.etc, *(self.root / name for name in ("", *_INSIDE, *_OURS))):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
        if owner:
            note_owner(self.root, owner)


def remove_cage(data: Path, key: str) -> None:
    """With what it was for. A link in it is removed, and not what it leads to."""
    CagePlaces(data).remove(key)
