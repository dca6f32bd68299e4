"""The files that lie beside the database for a session: they go when it is deleted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from airboss.model.ids import is_session_id
from airboss.store.cage_places import CagePlaces
from airboss.store.folder import DataFolder
from airboss.store.places import Places, remove

# As the runtime names a session: safe as the name of a folder.
_IS_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class SessionFiles:
    folder: DataFolder

    def forget(self, names: Sequence[str], runtime_names: Sequence[str] = ()) -> None:
        """Of the streams that are sessions, and of what the runtime calls or called them. What is
        not there is forgotten already."""
        sessions, homes = [name for name in names if is_session_id(name)], self.folder.all_homes()
        for name in sessions:
            remove(self.folder.images / name)
        for name in dict.fromkeys((*sessions, *filter(_IS_SAFE.fullmatch, runtime_names))):
            for home in homes:
                remove(home / "session-state" / name)
            Places(self.folder.path).forget(name)
        safe = [name for name in runtime_names if _IS_SAFE.fullmatch(name)]
        CagePlaces(self.folder.path).forget(names, (*sessions, *safe))
