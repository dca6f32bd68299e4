"""What people attach to a request: files, folders and a marked text. Each is checked before the
request is accepted: of what is missing, the runtime would only put an error into the message."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from airboss.errors import Invalid
from airboss.harness.cage_guests import is_in_cage
from airboss.harness.prompts import Extras
from airboss.model.prompt_events import PromptSelection
from airboss.model.setup import Setup
from airboss.service.folders import Folders

MOST_FILES: Final = 20
MOST_BYTES: Final = 10_000_000
_IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"})

_HIDDEN: Final = (
    "is not there in the session's cage. Copy it into the working directory, or start a session "
    "that has its folder: in directories, or in read of the profile {profile}."
)


def checked(folders: Folders, setup: Setup, cwd: Path, more: Extras) -> Extras:
    """For a session of this setup in this folder."""
    view = _View(folders, cwd, setup)
    files = view.files(more.files)
    marked = more.selection and view.selection(more.selection)
    return replace(more, files=files, selection=marked)


@dataclass(frozen=True)
class _View:
    """What a session's agent can look at."""

    folders: Folders
    cwd: Path
    setup: Setup

    def files(self, files: Sequence[str]) -> tuple[str, ...]:
        """Real paths, each once. Relative ones begin at the working directory."""
        found = {self._path(f"files[{index}]", word): None for index, word in enumerate(files)}
        return tuple(found)

    def selection(self, marked: PromptSelection) -> PromptSelection:
        first, last = marked.first_line, marked.last_line
        if (first is None) is not (last is None):
            raise Invalid("selection: give both firstLine and lastLine, or neither.")
        if first is not None and last is not None and first > last:
            raise Invalid(
                f"selection: firstLine is {first}, and lastLine comes before it ({last})."
            )
        path = self._path("selection.path", marked.path, is_file=True)
        return marked.model_copy(update={"path": path})

    def _path(self, place: str, word: str, *, is_file: bool = False) -> str:
        try:
            path = self.cwd / Path(word).expanduser()
            real = Path(os.path.realpath(path))
            is_folder, is_there = real.is_dir(), real.is_file()
            size = real.stat().st_size if is_there else 0
        except (OSError, ValueError, RuntimeError):  # too long, with a NUL, or a user without home
            raise Invalid(f"{place}: this is not a valid path: {word!r}.") from None
        if not self.folders.has(real):
            raise Invalid(f"{place}: {word} is outside the folders where agents may work.")
        if not is_there and (is_file or not is_folder):
            raise Invalid(f"{place}: there is no file {word}.")
        if size > MOST_BYTES:
            most = MOST_BYTES // 10**6
            raise Invalid(f"{place}: {word} is too large: a file has up to {most} MB.")
        if self.setup.cage is not None and not is_in_cage(self.setup, self.cwd, real):
            raise Invalid(f"{place}: {word} {_HIDDEN.format(profile=self.setup.cage.profile)}")
        return str(real)


def must_be_seen(more: Extras, model: str, sees: bool | None) -> None:
    """Refused where the model is known not to look at images."""
    if sees is not False:
        return
    named = next((name for name in more.files if Path(name).suffix.lower() in _IMAGES), None)
    if more.pictures or named:
        what = f"{named} is an image" if named else "The message has an image"
        raise Invalid(f"{what}, and the model {model} does not see images. Choose another model.")
