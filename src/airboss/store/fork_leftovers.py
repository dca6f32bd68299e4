"""What a fork has made beside the database, and is to be removed where it did not come to be."""

from itertools import chain
from pathlib import Path

from airboss.model.ids import is_session_id
from airboss.store.folder import DataFolder
from airboss.store.places import remove

_NOTE = "workspace.yaml"


def remove_fork(path: Path, session: str) -> None:
    """The runtime's copy is found by the name that it was given: its own id nobody may know."""
    if not is_session_id(session):
        return
    folder = DataFolder(path)
    remove(folder.images / session)
    notes = [home.glob(f"session-state/*/{_NOTE}") for home in folder.all_homes()]
    for note in chain.from_iterable(notes):
        if f"name: {session}" in note.read_text("utf-8", errors="replace").splitlines():
            remove(note.parent)
