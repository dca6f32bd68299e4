"""The files that a permission request names: what is read, changed or run."""

from collections.abc import Iterator, Mapping
from itertools import dropwhile
from typing import Any, Final, cast

from airboss.harness.command_words import texts
from airboss.harness.patterns import is_assignment, pieces
from airboss.runtime.permission import PermissionRequest

# What follows them is a file that is run.
_INTERPRETERS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "exec", "env", "sudo", "nohup"}
    | {"python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "make", "chmod"}
)


def file_names(request: PermissionRequest) -> Iterator[str]:
    yield from request.paths
    edits: Any = request.raw.get("fileEdits")
    for edit in cast("list[Any]", edits) if isinstance(edits, list) else []:
        for side in ("before", "after"):
            path = _field(_field(edit, side), "path")
            if isinstance(path, str):
                yield path
    for piece in pieces(request.command or ""):
        yield from _run_by(list(dropwhile(is_assignment, texts(piece))))


def _run_by(words: list[str]) -> Iterator[str]:
    """The program, and the script that it is given."""
    yield from words[:1]
    if words and words[0].rpartition("/")[2] in _INTERPRETERS:
        yield from [word for word in words[1:] if not word.startswith("-")][:1]


def _field(value: object, name: str) -> Any:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
