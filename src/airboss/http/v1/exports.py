"""Sessions, tasks and runs as files to take away, over v1."""

from typing import Any, Final

from fastapi.responses import StreamingResponse

from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.service.export import MEDIA_TYPES, Exported, Exports, Format, file_name

router = Router(prefix="/api/v1", tags=["history"])

_TEXT: Final = {"schema": {"type": "string"}}
_FILE: Final[dict[str, Any]] = {
    "response_class": StreamingResponse,
    "responses": {
        200: {
            "description": "A file to keep.",
            "content": {kind.partition(";")[0]: _TEXT for kind in MEDIA_TYPES.values()},
        }
    },
}


@router.get("/sessions/{session}/export", **_FILE)
async def export_session(session: str, use: Use, format: Format = "html") -> StreamingResponse:
    """The session's transcript: one HTML file that opens anywhere, Markdown, or its events as JSON
    lines (without deltas)."""
    return _file(use, await use.sessions.show(session), format)


@router.get("/runs/{run}/export", **_FILE)
async def export_run(run: str, use: Use, format: Format = "html") -> StreamingResponse:
    """Export a run with each of its tasks and the transcripts of their sessions."""
    return _file(use, await use.runs.show(run), format)


@router.get("/task-runs/{run}/export", **_FILE)
async def export_task_run(run: str, use: Use, format: Format = "html") -> StreamingResponse:
    """Export a task run with the transcripts of the sessions that it opened."""
    return _file(use, await use.tasks.show(run), format)


def _file(use: Use, view: Exported, form: Format) -> StreamingResponse:
    name = file_name(view, form)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    pieces = Exports(use.log).write(view, form)
    return StreamingResponse(pieces, headers=headers, media_type=MEDIA_TYPES[form])
