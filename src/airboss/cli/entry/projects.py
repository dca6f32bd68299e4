"""What a folder is, by the files in it: how its tests are run. Nothing in it is started."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

# Such files are small; of one that is not, the beginning says enough.
_MOST_BYTES: Final = 256 * 1024
_MAKEFILES: Final = ("Makefile", "makefile", "GNUmakefile")
_PYTHON: Final = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_SAY_PYTEST: Final = (*_PYTHON, "tox.ini", "requirements-dev.txt", "dev-requirements.txt")
# What `npm init` writes where nobody has a test yet.
_NO_TEST: Final = "no test specified"


@dataclass(frozen=True)
class Project:
    """A kind of project, and the command that runs its tests."""

    kind: str
    command: str


def projects_in(folder: Path) -> list[Project]:
    """All that a folder seems to be; the first is the best guess."""
    kinds = (_python, _node, _rust, _go, _make)
    return [found for find in kinds for found in find(folder)]


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:  # not there, or not for us to read
        return ""


def _has(folder: Path, *names: str) -> bool:
    return any((folder / name).is_file() for name in names)


def _first(folder: Path, choices: dict[str, str], otherwise: str) -> str:
    """By the first of these files that is there."""
    return next((said for name, said in choices.items() if _has(folder, name)), otherwise)


def _python(folder: Path) -> Iterator[Project]:
    has_pytest = _has(folder, "pytest.ini", "conftest.py", "tests/conftest.py") or any(
        re.search(r"\bpytest\b", _text(folder / name)) for name in _SAY_PYTEST
    )
    if not has_pytest and not _has(folder, *_PYTHON):
        return
    runner = _first(
        folder,
        {"uv.lock": "uv run", "poetry.lock": "poetry run", "pdm.lock": "pdm run"},
        "",
    )
    if has_pytest:
        yield Project("Python with pytest", f"{runner} pytest" if runner else "python -m pytest")
    else:
        yield Project("Python", f"{runner} python -m unittest".strip())


def _node(folder: Path) -> Iterator[Project]:
    try:
        read: object = json.loads(_text(folder / "package.json"))
    except (ValueError, RecursionError):
        return
    scripts = cast("dict[str, object]", read).get("scripts") if isinstance(read, dict) else None
    test = cast("dict[str, object]", scripts).get("test") if isinstance(scripts, dict) else None
    if not isinstance(test, str) or not test.strip() or _NO_TEST in test:
        return
    names = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun run"}
    yield Project("Node", f"{_first(folder, names, 'npm')} test")


def _by_file(name: str, kind: str, command: str) -> Callable[[Path], Iterator[Project]]:
    def find(folder: Path) -> Iterator[Project]:
        if _has(folder, name):
            yield Project(kind, command)

    return find


_rust = _by_file("Cargo.toml", "Rust", "cargo test")
_go = _by_file("go.mod", "Go", "go test ./...")


def _make(folder: Path) -> Iterator[Project]:
    text = next((said for name in _MAKEFILES if (said := _text(folder / name))), "")
    for target in ("test", "tests", "check"):
        if re.search(rf"(?m)^{target}\s*:(?!=)", text):
            yield Project("a Makefile", f"make {target}")
            return
