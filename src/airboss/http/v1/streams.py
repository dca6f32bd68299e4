"""What all resources with a stream have in common: pages of events, and following them."""

import json
from typing import Annotated, Any, Final

from fastapi import Header, Query, Response
from pydantic import BaseModel, ConfigDict

from airboss.errors import Invalid
from airboss.model.events import Event
from airboss.service import pages

LARGEST_SEQ = 2**53  # what every client can count to
After = Annotated[int, Query(ge=0, le=LARGEST_SEQ, description="Only what came behind this seq.")]
LastEventId = Annotated[str | None, Header(max_length=20)]
Cursor = Annotated[str | None, Query(max_length=200, description="A page's `next_cursor`.")]
Time = Annotated[int | None, Query(ge=0, le=LARGEST_SEQ, description="Milliseconds, UTC.")]
LOOKED_FOR: Final = Query(min_length=1, max_length=400, description="In whatever case.")

# How a route that follows a stream is described.
SERVER_SENT: Final[dict[str, Any]] = {
    "response_class": Response,
    "responses": {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
}


class Asked(BaseModel):
    """The body of a request: a field that we do not know is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordedEvent(BaseModel):
    """An event with its place in the stream and its time (ms, UTC)."""

    seq: int
    at: int
    event: Event


class EventPage(BaseModel):
    """A page of a stream: go on with `after=next_after` as long as there is more."""

    items: list[RecordedEvent]
    next_after: int
    seq: int
    more: bool


def event_page(page: pages.EventPage, after: int, seq: int) -> Response:
    """Composed from the stored JSON: parsing a long page only to write it again is waste."""
    last = page.items[-1].seq if page.items else after
    told = {"next_after": last, "seq": seq, "more": page.more}
    items = ",".join(recorded.json for recorded in page.items)
    body = f'{{"items":[{items}],{json.dumps(told)[1:]}'
    return Response(body, media_type="application/json")


def first_seq(last_event_id: str | None, after: int) -> int:
    """Where a follower begins; what it has seen last goes before what it asked for."""
    if not last_event_id:
        return after
    text = last_event_id
    if not text.isascii() or not text.isdigit() or int(text) > LARGEST_SEQ:
        raise Invalid("Last-Event-ID must be the id of an event, a whole number.")
    return int(text)
