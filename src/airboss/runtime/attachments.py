"""What a request has beside its words, as the runtime takes it."""

import base64
from pathlib import Path
from typing import Any

from airboss.model.prompt_events import PromptSelection
from airboss.model.views import QueuedPrompt
from airboss.store.images import Pictures


def attachments_of(asked: QueuedPrompt, pictures: Pictures = ()) -> list[Any] | None:
    """Looks at the disk. The runtime tells the model the paths of files and folders, and the text
    of a selection."""
    shown = [
        *blobs(pictures),
        *(_path(Path(name)) for name in asked.files or ()),
        *([_selection(asked.selection)] if asked.selection else []),
    ]
    return shown or None


def blobs(pictures: Pictures) -> list[Any]:
    """Images; the runtime names each in the request."""
    return [
        {
            "type": "blob",
            "data": base64.b64encode(picture.data).decode(),
            "mimeType": picture.mime,
            "displayName": f"image {number}",
        }
        for number, picture in enumerate(pictures, start=1)
    ]


def _path(path: Path) -> dict[str, Any]:
    kind = "directory" if path.is_dir() else "file"
    return {"type": kind, "path": str(path), "displayName": path.name or str(path)}


def _selection(marked: PromptSelection) -> dict[str, Any]:
    said = {
        "type": "selection",
        "filePath": marked.path,
        "displayName": Path(marked.path).name,
        "text": marked.text,
    }
    if marked.first_line is None or marked.last_line is None:
        return said
    # The runtime counts from 0.
    start = {"line": marked.first_line - 1, "character": 0}
    end = {"line": marked.last_line - 1, "character": len(marked.text.rpartition("\n")[2])}
    return {**said, "selection": {"start": start, "end": end}}
