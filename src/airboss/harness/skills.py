"""Folders of skills: which skills are in them, and what is wrong with one that the runtime would
pass over in silence."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from airboss import strange_files
from airboss.errors import Invalid

SKILL_FILE: Final = "SKILL.md"
_FENCE: Final = "---"
_LARGEST_BYTES: Final = 1024 * 1024
_HEAD: Final = "It should begin with a line ---, then `name:` and `description:`, then a line ---."


def skills_in(folder: Path) -> list[str]:
    """The names of the skills; refused where there is none, or one is not readable."""
    found = sorted(skill_files(folder))
    if not found:
        raise Invalid(f"The folder {folder} has no skill: a skill is a file NAME/{SKILL_FILE}.")
    return [_name_of(file) for file in found]


def skill_files(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            names = [at.name for at in found if at.is_dir()]
    except (OSError, ValueError):  # also of a path with a NUL
        return
    for name in names:
        file = folder / name / SKILL_FILE
        if os.path.isfile(file):
            yield file


def _name_of(file: Path) -> str:
    head = _head_of(file)
    described = head.get("description")
    if not isinstance(described, str) or not described.strip():
        raise Invalid(f"{file}: `description:` is missing. {_HEAD}")
    name = head.get("name", file.parent.name)
    if not isinstance(name, str) or not name.strip():
        raise Invalid(f"{file}: `name:` should be text. {_HEAD}")
    return "-".join(name.split())


def _head_of(file: Path) -> Mapping[str, object]:
    import yaml

    try:
        text = strange_files.read(file, _LARGEST_BYTES).decode("utf-8-sig")
    except strange_files.FileTooLarge:
        raise Invalid(f"{file}: is larger than 1 MiB.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file}: cannot be read: {error}") from None
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != _FENCE or _FENCE not in map(str.rstrip, lines[1:]):
        raise Invalid(f"{file}: has no head. {_HEAD}")
    end = [line.rstrip() for line in lines].index(_FENCE, 1)
    try:
        head = yaml.safe_load("\n".join(lines[1:end]))
    # A date or a number that there is not, and a list in ten thousand lists, are no errors of YAML.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        head = None
    if not isinstance(head, dict):
        raise Invalid(f"{file}: has a head that is not YAML. {_HEAD}")
    return head  # pyright: ignore[reportUnknownVariableType]
