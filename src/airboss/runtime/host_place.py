"""Where a program of a caged session starts that runs outside: in a folder of its own.

In the session's folder it could take for its own what the agent wrote there: a module, a package, a
configuration. It learns by a variable where that folder is.
"""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airboss.runtime.cage.way_to import way_to

FOLDER: Final = "AIRBOSS_SESSION_FOLDER"
# They run the first file that they are given.
_INTERPRETER: Final = re.compile(
    r"(?:python|pypy|node|deno|bun|ruby|perl|php|java|lua|(?:ba|da|z|k)?sh|uv|env)[0-9.]*"
)


@dataclass(frozen=True)
class HostPlace:
    """Empty at first; removed with all that the program wrote there."""

    folder: Path
    of_session: Path

    @property
    def environ(self) -> dict[str, str]:
        return {FOLDER: str(self.of_session), "PWD": str(self.folder)}

    async def remove(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


async def host_place(of_session: Path) -> HostPlace:
    made = await asyncio.to_thread(tempfile.mkdtemp, prefix="airboss-host-")
    return HostPlace(Path(made), of_session)


def refusal_outside(words: Sequence[str], written: Sequence[Path]) -> str | None:
    """Blocking. Why such a program is not run: an agent writes it, or says where it is. `written`
    are the folders in which one may write."""
    program, *more = words
    files = [program] if os.path.isabs(program) else []
    if _INTERPRETER.fullmatch(os.path.basename(program)):
        files += [word for word in more if os.path.isabs(word) and os.path.isfile(word)][:1]
    for file in files:
        steps = set(way_to(Path(os.path.normpath(file))))
        if any(folder in (step, *step.parents) for step in steps for folder in written):
            return f"{file} is not run outside of the cage: an agent can write there. Move it."
    return None
