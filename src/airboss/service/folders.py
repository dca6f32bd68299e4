"""Where agents may work: only below the configured roots, after links are resolved, and never where
secrets of the server lie."""

import difflib
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import (
    WorkingDirectoryMissing,
    WorkingDirectoryNotAbsolute,
    WorkingDirectoryNotAllowed,
)
from airboss.harness.protected import NOTHING, Protected
from airboss.settings import Settings, default_data_folder

# So many are compared with what was typed, which takes some milliseconds.
_MOST_NAMES = 2_000


@dataclass(frozen=True)
class Folders:
    """The repository, and the roots that working directories must lie below."""

    repo_root: Path
    roots: tuple[Path, ...]
    # Not even below a root.
    protected: Protected = NOTHING

    @classmethod
    def around(
        cls,
        repo_root: Path,
        roots: tuple[Path, ...],
        home: Path,
        protected: Protected = NOTHING,
        shared: tuple[Path, ...] = (),
    ) -> "Folders":
        """Without roots of one's own: the home folder, the repository, and what lies beside it.
        Those that machines share come in addition."""
        chosen = (*(roots or (home, repo_root.parent)), *shared)
        return cls(repo_root, tuple(Path(os.path.realpath(root)) for root in chosen), protected)

    def check(self, text: str | None) -> Path:
        """The real path of a working directory; checked again whenever it is used."""
        path = Path(text.strip()) if text and text.strip() else self.repo_root
        if not path.is_absolute():
            raise WorkingDirectoryNotAbsolute(
                f"The working directory must be an absolute path; {path} is not."
            )
        try:
            real = Path(os.path.realpath(path))
            exists = real.is_dir()
        except (OSError, ValueError):  # too long, or with a NUL
            raise WorkingDirectoryMissing(f"This is not a valid path: {str(path)!r}.") from None
        if not exists:
            raise self._missing(path)
        if not self._is_allowed(real):
            allowed = ", ".join(str(root) for root in self.roots)
            raise WorkingDirectoryNotAllowed(
                f"The folder {path} is outside the folders where agents may work ({allowed}). "
                "To allow it, start Airboss with --root DIR."
            )
        if place := self._is_protected(real):
            raise WorkingDirectoryNotAllowed(
                f"The folder {path} is in {place}, which contains secrets. "
                "Agents cannot work there. Choose another folder."
            )
        return real

    def has(self, real: Path) -> bool:
        """Whether agents may look at this file or folder, by its real path."""
        return self._is_allowed(real) and self._is_protected(real) is None

    def _is_protected(self, real: Path) -> Path | None:
        """The place that it lies in. Above one agents may work: they are asked about what they read
        there."""
        touched = self.protected.touched([str(real)])
        return next((one.place for one in touched if not one.above), None)

    def _missing(self, path: Path) -> WorkingDirectoryMissing:
        """For whoever mistyped it: the folder that was meant, else how far the path was right."""
        said = f"The folder {path} does not exist."
        there = next((at for at in path.parents if at.is_dir()), None)
        if there is None or there == Path(there.anchor):
            return WorkingDirectoryMissing(said)
        meant = _corrected(there, path.relative_to(there).parts)
        if meant is None or not self._is_allowed(Path(os.path.realpath(meant))):
            return WorkingDirectoryMissing(f"{said} {there} exists.")
        return WorkingDirectoryMissing(f"{said} Did you mean {meant}?", str(meant))

    def _is_allowed(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self.roots)


def secret_places(settings: Settings, environ: Mapping[str, str], home: Path) -> Protected:
    """Where secrets lie that this server uses or was started with: its data folder and the usual
    one, the files that settings name, what Copilot and GitHub keep for the signed-in user, and what
    the system tells of processes."""
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    named = (settings.tls_key, settings.webhook_secret_file)
    places = (
        settings.data,
        default_data_folder(environ),
        *(place for place in named if place is not None),
        home / ".copilot",
        Path(environ.get("COPILOT_HOME") or home / ".copilot"),
        config / "github-copilot",
        Path(environ.get("GH_CONFIG_DIR") or config / "gh"),
        Path("/proc"),
    )
    return Protected(tuple(dict.fromkeys(Path(os.path.realpath(place)) for place in places)))


def _corrected(there: Path, names: tuple[str, ...]) -> Path | None:
    """The existing folder whose path is most like this one, name by name."""
    for name in names:
        alike = _most_alike(name, there)
        if alike is None:
            return None
        there /= alike
    return there


def _most_alike(name: str, folder: Path) -> str | None:
    try:
        with os.scandir(folder) as found:
            names = [at.name for at in itertools.islice(found, _MOST_NAMES) if at.is_dir()]
    except OSError:
        return None
    if name in names:
        return name
    by_case = {known.casefold(): known for known in names}
    alike = difflib.get_close_matches(name.casefold(), by_case, 1)
    return by_case[alike[0]] if alike else None
