"""Where a project keeps its own entry. What is in the files is not looked at here."""

import os
from pathlib import Path
from typing import Final

# The first that is there counts.
NAMES: Final = ("airboss.yaml", "airboss.yml", "airboss.json", "airboss.py")
SUFFIXES: Final = (".yaml", ".yml", ".json", ".py")
_FOLDERS: Final = ("", ".github")


def find_repo_root(start: Path) -> Path:
    """The nearest folder at or above `start` that has a `.git`; without one, `start` itself."""
    return next((at for at in (start, *start.parents) if (at / ".git").exists()), start)


def own_entries(root: Path) -> list[Path]:
    """The entries of a project, in the order in which they count. A link that leads nowhere is
    among them: somebody meant it to be one."""
    places = (root / folder / name for folder in _FOLDERS for name in NAMES)
    return [place for place in places if os.path.lexists(place)]
