"""The files of a session's folder over v1: to read along, and to name one in a request."""

import asyncio
from typing import Annotated

from fastapi import Query

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.service.folder_files import LONGEST_PATH, FileNames, FolderFiles, TextFile

router = Router(prefix="/api/v1/sessions", tags=["sessions"])

AFilePath = Annotated[
    str, Query(min_length=1, max_length=LONGEST_PATH, description="From the session's folder on.")
]


@router.get(
    "/{session}/file",
    responses={422: refused("It lies outside of the folder, may hold secrets, or is no text.")},
)
async def show_file(session: str, path: AFilePath, use: Use) -> TextFile:
    """Return a text file below the session's folder as it is now, up to its first MiB."""
    return await asyncio.to_thread((await _files(session, use)).read, path)


@router.get("/{session}/files")
async def find_files(
    session: str,
    use: Use,
    text: Annotated[str, Query(max_length=400, description="Letters of the path.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> FileNames:
    """Find files below the session's folder by letters of their path. Files that a build created
    and files that may contain secrets are left out."""
    return await asyncio.to_thread((await _files(session, use)).names, text, limit)


async def _files(session: str, use: Use) -> FolderFiles:
    view = await use.sessions.show(session)
    folder = await asyncio.to_thread(use.folders.check, view.cwd)
    return FolderFiles(folder, use.folders.protected, use.sessions.redactor)
