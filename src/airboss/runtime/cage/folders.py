"""What a cage leaves behind: the runtime's state, its home, its temporary files, in one folder.

The agent can write most of it. Whoever reads it from outside follows no link in it.
"""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CAGES: Final = "cages"
# Those that are written from inside.
_INSIDE: Final = ("home", "state", "scratch")
_OURS: Final = ("etc", "doors")


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
    def etc(self) -> Path:
        """Made-up files of the system."""
        return self.root / "etc"

    @property
    def doors(self) -> Path:
        """Where the warden hands its doors out, and reads what it has to do."""
        return self.root / "doors"

    @property
    def walls(self) -> Path:
        """The options of the outer process, which nobody inside sees."""
        return self.root / "walls"

    def make(self) -> None:
        for name in ("", *_INSIDE, *_OURS):
            folder = self.root / name
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)


def remove_cage(data: Path, key: str) -> None:
    """With the session that it was for. A link in it is removed, and not what it leads to."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(CageFolders.of(data, key).root)


def left_cages(data: Path) -> frozenset[str]:
    """The keys of all that are kept."""
    try:
        return frozenset(folder.name for folder in (data / _CAGES).iterdir())
    except OSError:
        return frozenset()
