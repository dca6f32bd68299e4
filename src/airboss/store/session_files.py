"""The files that lie beside the database for a session: they go when it is deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

from airboss.model.ids import is_session_id
from airboss.store.folder import DataFolder
from airboss.store.places import Places, remove


@dataclass(frozen=True)
class SessionFiles:
    folder: DataFolder

    def forget(self, names: Sequence[str]) -> None:
        """Of the streams that are sessions. What is not there is forgotten already."""
        for name in names:
            if not is_session_id(name):
                continue
            for place in (self.folder.copilot_home / "session-state", self.folder.images):
                remove(place / name)
            Places(self.folder.path).forget(name)
