"""The audit over v1: read, followed, taken away. Nothing here changes it."""

import json
from typing import Annotated, Any, Final

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.sse import EventStream
from airboss.http.v1.streams import (
    LARGEST_SEQ,
    After,
    LastEventId,
    StreamNote,
    first_seq,
    server_sent,
)
from airboss.model.audit_events import AUDIT, AuditEvent
from airboss.service.export import MEDIA_TYPES

router = Router(prefix="/api/v1/audit", tags=["audit"])

_LINES: Final = MEDIA_TYPES["jsonl"]
_FILE: Final[dict[str, Any]] = {
    "response_class": StreamingResponse,
    "responses": {
        200: {
            "description": "A file to keep.",
            "content": {_LINES.partition(";")[0]: {"schema": {"type": "string"}}},
        }
    },
}


class RecordedAct(BaseModel):
    """What was done, with its place in the audit and its time (ms, UTC)."""

    seq: int
    at: int
    event: Annotated[AuditEvent, Field(discriminator="kind")]


StreamedAct = TypeAliasType("StreamedAct", RecordedAct | StreamNote | str)


class AuditPage(BaseModel):
    """Newest first. Continue with `cursor=next_cursor` as long as there is one."""

    items: list[RecordedAct]
    next_cursor: int | None


@router.get("", response_model=AuditPage)
async def list_audit(
    use: Use,
    cursor: Annotated[
        int | None, Query(ge=1, le=LARGEST_SEQ, description="A page's `next_cursor`.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Who did what, from where: sign-ins, refusals, decisions, rules, trust, tokens, deletions,
    and the server's own beginnings and ends. It needs the role `own`."""
    found = await use.audit.page(cursor, limit + 1)
    shown = found[:limit]
    cursor = shown[-1].seq if len(found) > limit else None
    # Composed from the stored JSON, as it is told everywhere.
    items = ",".join(one.json for one in shown)
    body = f'{{"items":[{items}],"next_cursor":{json.dumps(cursor)}}}'
    return Response(body, media_type="application/json")


@router.get("/stream", **server_sent(StreamedAct))
async def follow_audit(use: Use, after: After = 0, last_event_id: LastEventId = None) -> Response:
    """Follow the audit log as server-sent events, from now or from any seq."""
    return EventStream(use.log, AUDIT, first_seq(last_event_id, after))


@router.get("/export", **_FILE)
async def export_audit(use: Use) -> StreamingResponse:
    """Export the whole audit log as JSON lines, oldest first."""
    headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(use.audit.lines(), headers=headers, media_type=_LINES)
