"""Where a program of a caged session starts that runs outside: in a folder of its own.

In the session's folder it could take for its own what the agent wrote there: a module, a package, a
configuration. It learns by a variable where that folder is.
"""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = "AIRBOSS_SESSION_FOLDER"


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
