"""Where Airboss itself lies: what runs next time, outside of every cage.

Whoever could write there would be run with the rights of the server's user.
"""

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from airboss.runtime.cage.walls import Bind, same
from airboss.runtime.locate import cache_folder

_OF_THE_SYSTEM: Final = (Path("/"), Path("/usr"), Path("/usr/local"))


def own_code(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Real paths: the package, its interpreter with all that is installed, the installed runtime.
    Of an interpreter of the system only its libraries."""
    found = [_package(), cache_folder(environ).parents[1]]
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        if prefix in _OF_THE_SYSTEM:
            found += (Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))
        else:
            found.append(prefix)
    real = dict.fromkeys(Path(os.path.realpath(path)) for path in found)
    return tuple(one for one in real if not any(other in one.parents for other in real))


def refusal_to_write(folder: Path, code: tuple[Path, ...]) -> str | None:
    """Why a cage may not have all of this folder to write."""
    for place in code:
        if place == folder or place in folder.parents:
            return "it is a part of Airboss itself"
        if folder in place.parents:
            return f"a part of Airboss itself is in it ({place})"
    return None


def refusal_to_work(folder: Path, code: tuple[Path, ...]) -> str | None:
    """In a working folder the parts that are in it can be closed, if no link leads to them."""
    if any(place == folder or place in folder.parents for place in code):
        return "it is a part of Airboss itself"
    for path in (Path(sys.prefix), _package()):
        if folder in path.parents and os.path.realpath(path) != str(path):
            return f"a link in it leads to a part of Airboss itself ({path})"
    return None


def code_binds(folder: Path, code: tuple[Path, ...]) -> tuple[Bind, ...]:
    """What is closed in a working folder. The folders on the way to it are bound on themselves, as
    nobody can move a mount away."""
    places = [place for place in code if folder in place.parents and place.exists()]
    way = dict.fromkeys(step for place in places for step in _between(folder, place))
    return (*(same(step, writable=True) for step in way), *map(same, places))


def _between(folder: Path, place: Path) -> Iterator[Path]:
    steps = [step for step in place.parents if folder in step.parents]
    return reversed(steps)


def _package() -> Path:
    import airboss

    return Path(airboss.__file__).parent
