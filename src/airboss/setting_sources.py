"""Where settings come from: options, then changes made while a server ran, the file, defaults."""

import copy
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from airboss.settings import Settings, checked_settings, read_settings_file

# They hold where neither an option nor the file says anything.
_VARIABLES = {"data": "AIRBOSS_DATA", "copilot_cli": "COPILOT_CLI_PATH"}
_TABLE = re.compile(r"^\s*\[{1,2}\s*([\w.\"' -]+?)\s*\]{1,2}")
_KEY = re.compile(r"^\s*([\w.\"' -]+?)\s*=")


@dataclass(frozen=True)
class SettingSources:
    """What a server was started with. The file counts as it was then; it is never written."""

    options: Mapping[str, Any]
    file: Path | None = None
    in_file: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    # By the setting: the variable that stands for it, and what that says.
    variables: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @classmethod
    def read(
        cls, file: Path, options: Mapping[str, Any], environ: Mapping[str, str] = os.environ
    ) -> "SettingSources":
        given = {name: value for name, value in options.items() if value is not None}
        in_file = read_settings_file(file)
        lines = _lines(file.read_text(encoding="utf-8-sig")) if in_file else {}
        variables = {
            name: (variable, said)
            for name, variable in _VARIABLES.items()
            if (said := environ.get(variable)) and name not in in_file and name not in given
        }
        return cls(given, file, in_file, lines, variables)

    @classmethod
    def of(cls, settings: Settings) -> "SettingSources":
        """As if all that was said were options: nothing of it can be changed."""
        return cls({name: getattr(settings, name) for name in settings.model_fields_set})

    def settings(self, changes: Mapping[str, Any]) -> Settings:
        """With these changes between the file and the options, each by its name with dots."""
        given: dict[str, Any] = copy.deepcopy(dict(self.in_file))
        for name, value in changes.items():
            _put(given, name.split("."), value)
        return checked_settings(given | dict(self.options))

    def has_option(self, name: str) -> bool:
        return name.split(".")[0] in self.options

    def is_in_file(self, name: str) -> bool:
        here: Any = self.in_file
        for part in name.split("."):
            if not isinstance(here, dict) or part not in here:
                return False
            here = cast("dict[str, Any]", here)[part]
        return True

    def line_of(self, name: str) -> int | None:
        """Where the file says it, or the table that it is in."""
        parts = name.split(".")
        places = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((self.lines[place] for place in places if place in self.lines), None)


def value_at(values: Mapping[str, Any], name: str) -> Any:
    here: Any = values
    for part in name.split("."):
        here = here[part]
    return here


def _put(values: dict[str, Any], path: list[str], value: Any) -> None:
    here = values
    for part in path[:-1]:
        # What else stands in its place cannot be used anyway, and is refused in words later.
        here = cast("dict[str, Any]", here.setdefault(part, {}))
        if not isinstance(here, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            return
    here[path[-1]] = value


def _lines(text: str) -> dict[str, int]:
    """The line of each name. The first one counts: what follows of a long text is not looked at."""
    found: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _TABLE.match(line):
            table = tuple(_parts(head[1]))
            found.setdefault(".".join(table), number)
        elif key := _KEY.match(line):
            found.setdefault(".".join((*table, *_parts(key[1]))), number)
    return found


def _parts(words: str) -> Iterable[str]:
    return (part.strip().strip("\"'") for part in words.split("."))
