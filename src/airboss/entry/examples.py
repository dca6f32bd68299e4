"""The entries of `examples/`, to begin one's own from. A wheel carries them inside the package."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent.parent
# Where a clone has them, which is installed from where it lies.
_CLONE: Final = _PACKAGE.parent.parent
_MARKS: Final = re.compile(r"\*\*|`")


@dataclass(frozen=True)
class ExampleEntry:
    """`script` plays it on the rehearsal model."""

    name: str
    title: str
    description: str
    text: str
    script: str


@cache
def example_entries() -> tuple[ExampleEntry, ...]:
    """In the order of their names; none in a package that was taken apart."""
    found = (sorted((place / "examples").glob("*/airboss.yaml")) for place in (_PACKAGE, _CLONE))
    return tuple(_read(file.parent) for file in next(filter(None, found), ()))


def _read(folder: Path) -> ExampleEntry:
    about = (folder / "README.md").read_text(encoding="utf-8")
    head, paragraph = about.split("\n\n")[:2]
    return ExampleEntry(
        name=folder.name,
        title=head.removeprefix("# ").strip(),
        description=" ".join(_MARKS.sub("", paragraph).split()),
        text=(folder / "airboss.yaml").read_text(encoding="utf-8"),
        script=(folder / "rehearsal.yaml").read_text(encoding="utf-8"),
    )
