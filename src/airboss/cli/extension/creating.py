"""`airboss extension new`: a file that works, and what to do with it next. Needs no server."""

import os
import shlex
import sys
from pathlib import Path
from typing import Final

from airboss.cli.screen import aside, out, print_json, visible_line
from airboss.entry.places import find_repo_root
from airboss.extensions.discovery import project_folder, user_folder
from airboss.extensions.editor_types import lend_types
from airboss.extensions.launch import CannotLaunch
from airboss.extensions.skeletons import scaffold

_PYTHON: Final = f"For completion, let your editor use this Python: {sys.executable}"
_LENT: Final = "For completion, your editor finds the types of the SDK in node_modules beside it."
_NOT_LENT: Final = (
    "For completion, your editor needs the types of @github/copilot-sdk, which could not be put "
    "beside it:"
)


def create_extension(name: str, *, is_own: bool, is_javascript: bool, is_json: bool) -> None:
    here = Path.cwd()
    root = user_folder(os.environ, Path.home()) if is_own else project_folder(find_repo_root(here))
    language = "javascript" if is_javascript else "python"
    file = scaffold(Path(os.path.realpath(root)) / name, language)
    if is_json:
        scope = "user" if is_own else "project"
        print_json({"name": name, "scope": scope, "language": language, "path": str(file.parent)})
        return
    shown = file.relative_to(here) if file.is_relative_to(here) else file
    out().line(visible_line(f"Created {shown}"))
    folder = shlex.quote(str(shown.parent))
    pen = aside()
    pen.line(visible_line(_types_for(file.parent.parent) if is_javascript else _PYTHON))
    pen.line(visible_line(f"Then: airboss extension test {folder}"))
    pen.line(visible_line(f"Then: airboss trust {folder}"))


def _types_for(folder: Path) -> str:
    """What to say of them. An extension works without."""
    try:
        return _LENT if lend_types(folder) else f"{_NOT_LENT} the agent runtime has none."
    except (CannotLaunch, OSError) as error:
        return f"{_NOT_LENT} {error}"
