"""Where extensions lie on disk. What is in their files is not looked at here."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.extension_settings import NAME_PATTERN, NAME_RULE

Scope: TypeAlias = Literal["project", "user"]
Language: TypeAlias = Literal["python", "javascript"]

SCOPES: Final[tuple[Scope, Scope]] = ("project", "user")
MAIN_FILES: Final[Mapping[Language, str]] = {
    "python": "extension.py",
    "javascript": "extension.mjs",
}
_IN_PROJECT: Final = Path(".github", "extensions")
_NAME: Final = re.compile(NAME_PATTERN)
_LEADS_OUT: Final = "The folder .github/extensions leads out of the project."
_IS_LINK: Final = "The folder is a link that leads elsewhere. Put the extension's own folder there."
_BOTH: Final = "The folder has both extension.py and extension.mjs. Keep one of them."
_NEITHER: Final = "The folder has no extension.py and no extension.mjs."


@dataclass(frozen=True)
class ExtensionFolder:
    """A folder that holds, or should hold, an extension. `fault` says why it cannot be one, as far
    as one sees from outside."""

    scope: Scope
    path: Path
    language: Language
    fault: str = ""

    @property
    def name(self) -> str:
        return shown(self.path.name)

    @property
    def key(self) -> str:
        return key_of(self.path)


def user_folder(environ: Mapping[str, str], home: Path) -> Path:
    """Of the server's own user, whatever home an identity has."""
    return Path(environ.get("COPILOT_HOME") or home / ".copilot").absolute() / "extensions"


def project_folder(root: Path) -> Path:
    return root / _IN_PROJECT


def may_have_extensions(root: Path) -> bool:
    """Asked of each folder above a project whenever a session opens, so without a path made."""
    return os.path.isdir(f"{root}{os.sep}{_IN_PROJECT}")


def key_of(folder: Path) -> str:
    """What trust and switches are kept by. A link at this place, or in place of the folder of a
    project's extensions, is not followed: it brings in nothing that was trusted elsewhere, and what
    was trusted here is found again."""
    if ".." in folder.parts:
        return shown(os.path.realpath(folder))
    root = folder.parent
    if root.parts[-2:] == _IN_PROJECT.parts:
        place = project_folder(Path(os.path.realpath(root.parent.parent)))
    else:
        place = Path(os.path.realpath(root))
    return shown(str(place / folder.name))


def is_extension(folder: Path) -> bool:
    """Whether one begins there. A link that leads nowhere counts: somebody meant it."""
    return any(os.path.lexists(folder / name) for name in MAIN_FILES.values())


def extension_at(folder: Path, scope: Scope) -> ExtensionFolder:
    there: list[Language] = [
        language for language in MAIN_FILES if os.path.lexists(folder / MAIN_FILES[language])
    ]
    fault = ""
    if folder.is_symlink():
        fault = _IS_LINK
    elif not _NAME.fullmatch(folder.name):
        fault = NAME_RULE
    elif len(there) != 1:
        fault = _BOTH if there else _NEITHER
    elif (main := folder / MAIN_FILES[there[0]]).is_dir():
        fault = f"{main.name} is a folder, not a file."
    return ExtensionFolder(scope, folder, there[0] if there else "python", fault)


def extensions_in(root: Path, scope: Scope) -> Iterator[ExtensionFolder]:
    """The immediate subfolders of this folder that have one, by name. Blocking."""
    fault = ""
    names = _names_in(root)
    if names and scope == "project" and not is_below(root, root.parent.parent):
        fault = _LEADS_OUT
    for name in names:
        found = extension_at(root / name, scope)
        yield ExtensionFolder(scope, found.path, found.language, fault or found.fault)


def language_of(folder: Path) -> Language:
    return "python" if (folder / MAIN_FILES["python"]).is_file() else "javascript"


def shown(path: str) -> str:
    """As text that every disk and wire takes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_below(path: Path, top: Path) -> bool:
    """Also where links lead elsewhere."""
    real = os.path.realpath(top)
    return os.path.realpath(path).startswith(f"{real.rstrip(os.sep)}{os.sep}")


def _names_in(root: Path) -> list[str]:
    try:
        with os.scandir(root) as found:
            return sorted(entry.name for entry in found if _is_meant(entry))
    except OSError:
        return []


def _is_meant(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and is_extension(Path(entry.path))
    except OSError:
        return False
