"""Where agents may work: only below the configured roots, after links are resolved."""

import os
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import (
    WorkingDirectoryMissing,
    WorkingDirectoryNotAbsolute,
    WorkingDirectoryNotAllowed,
)


@dataclass(frozen=True)
class Folders:
    """The repository, and the roots that working directories must lie below."""

    repo_root: Path
    roots: tuple[Path, ...]

    @classmethod
    def around(cls, repo_root: Path, roots: tuple[Path, ...], home: Path) -> "Folders":
        """Without roots of one's own: the home folder, the repository, and what lies beside it."""
        chosen = roots or (home, repo_root.parent)
        return cls(repo_root, tuple(Path(os.path.realpath(root)) for root in chosen))

    def check(self, text: str | None) -> Path:
        """The real path of a working directory; checked again whenever it is used."""
        path = Path(text.strip()) if text and text.strip() else self.repo_root
        if not path.is_absolute():
            raise WorkingDirectoryNotAbsolute(
                f"A working directory is written in full, beginning at the root; {path} is not."
            )
        try:
            real = Path(os.path.realpath(path))
            exists = real.is_dir()
        except (OSError, ValueError):  # too long, or with a NUL
            raise WorkingDirectoryMissing(f"This is no usable path: {str(path)!r}.") from None
        if not exists:
            raise WorkingDirectoryMissing(f"The folder {path} does not exist.{self._near(path)}")
        if not any(real.is_relative_to(root) for root in self.roots):
            allowed = ", ".join(str(root) for root in self.roots)
            raise WorkingDirectoryNotAllowed(
                f"The folder {path} lies outside of where agents may work ({allowed}). "
                "Start Airboss with --root DIR to allow another."
            )
        return real

    def _near(self, path: Path) -> str:
        """The longest part of the path that does exist, for whoever mistyped it."""
        there = next((at for at in path.parents if at.is_dir()), None)
        return f" {there} does." if there and there != Path(there.anchor) else ""
