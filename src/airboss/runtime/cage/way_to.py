"""The way to a file, link by link: whoever may write anywhere on it says where it leads."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MOST_LINKS: Final = 40


def way_to(path: Path) -> Iterator[Path]:
    """Blocking. All places on the way of a whole path, with those that links on it lead to."""
    here, left, links = Path(path.root), [*reversed(path.parts[1:])], 0
    while left:
        part = left.pop()
        if part == os.pardir:
            here = here.parent
            continue
        here /= part
        yield here
        if links < _MOST_LINKS and here.is_symlink():
            links += 1
            target = here.readlink()
            here = Path(target.root) if target.is_absolute() else here.parent
            left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
