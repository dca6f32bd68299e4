"""What people attach to a request: files, folders and a marked text. Each is checked before the
request is accepted: of what is missing, the runtime would only put an error into the message."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from airboss.errors import Invalid
from airboss.harness.prompts import Extras
from airboss.model.prompt_events import PromptSelection
from airboss.service.folders import Folders

MOST_FILES: Final = 20
MOST_BYTES: Final = 10_000_000
_IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"})


def checked(folders: Folders, cwd: Path, more: Extras) -> Extras:
    files = checked_files(folders, cwd, more.files)
    marked = more.selection and checked_selection(folders, cwd, more.selection)
    return replace(more, files=files, selection=marked)


def checked_files(folders: Folders, cwd: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Real paths, each once. Relative ones begin at the working directory."""
    found = {
        checked_path(folders, cwd, f"files[{index}]", word): None
        for index, word in enumerate(files)
    }
    return tuple(found)


def checked_selection(folders: Folders, cwd: Path, marked: PromptSelection) -> PromptSelection:
    first, last = marked.first_line, marked.last_line
    if (first is None) is not (last is None):
        raise Invalid("selection: give both firstLine and lastLine, or neither.")
    if first is not None and last is not None and first > last:
        raise Invalid(f"selection: firstLine is {first}, and lastLine comes before it ({last}).")
    path = checked_path(folders, cwd, "selection.path", marked.path, is_file=True)
    return marked.model_copy(update={"path": path})


def checked_path(
    folders: Folders, cwd: Path, place: str, word: str, *, is_file: bool = False
) -> str:
    try:
        path = cwd / Path(word).expanduser()
        real = Path(os.path.realpath(path))
        is_folder, is_there = real.is_dir(), real.is_file()
        size = real.stat().st_size if is_there else 0
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, or of a user without a home
        raise Invalid(f"{place}: this is not a valid path: {word!r}.") from None
    if not folders.has(real):
        raise Invalid(f"{place}: {word} is outside the folders where agents may work.")
    if not is_there and (is_file or not is_folder):
        raise Invalid(f"{place}: there is no file {word}.")
    if size > MOST_BYTES:
        raise Invalid(f"{place}: {word} is too large: a file has up to {MOST_BYTES // 10**6} MB.")
    return str(real)


def must_be_seen(more: Extras, model: str, sees: bool | None) -> None:
    """Refused where the model is known not to look at images."""
    if sees is not False:
        return
    named = next((name for name in more.files if Path(name).suffix.lower() in _IMAGES), None)
    if more.pictures or named:
        what = f"{named} is an image" if named else "The message has an image"
        raise Invalid(f"{what}, and the model {model} does not see images. Choose another model.")
