"""Where a server keeps its things. In a module of its own: a server needs no client to find it."""

import os
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_data_path

from airboss.store.folder import DataFolder


def data_folder(chosen: Path | None, environ: Mapping[str, str] = os.environ) -> DataFolder:
    """The folder named, else the one that a server uses which was told nothing.

    `airboss.settings` says the same; asking it would cost half of the start-up time.
    """
    named = chosen or environ.get("AIRBOSS_DATA")
    return DataFolder(Path(named).expanduser().absolute() if named else user_data_path("airboss"))
