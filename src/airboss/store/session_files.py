"""The files that lie beside the database for a session: they go when it is deleted."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import StoreUnavailable
from airboss.model.ids import is_session_id
from airboss.store.folder import DataFolder


@dataclass(frozen=True)
class SessionFiles:
    folder: DataFolder

    def forget(self, names: Sequence[str]) -> None:
        """Of the streams that are sessions. What is not there is forgotten already."""
        for name in names:
            if not is_session_id(name):
                continue
            for place in (self.folder.copilot_home / "session-state", self.folder.images):
                _remove(place / name)


def _remove(place: Path) -> None:
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreUnavailable(
            f"The files in {place} cannot be deleted: {error.strerror or error}. "
            "Mend the rights of the data folder, then try again."
        ) from error
