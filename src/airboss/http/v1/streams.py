"""What all resources with a stream have in common: pages of events, and following them."""

import json
from typing import Annotated, Any, Final

from fastapi import Header, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from airboss.machine_settings import MOST_LABELS, Label
from airboss.model.events import Event
from airboss.service import pages

# The beginning of an absolute path, on any system.
ABSOLUTE: Final = r"^\s*(/|[A-Za-z]:[\\/]|\\\\)"
LARGEST_SEQ = 2**53  # what every client can count to
After = Annotated[int, Query(ge=0, le=LARGEST_SEQ, description="Only events after this seq.")]
LastEventId = Annotated[
    str | None,
    Header(pattern=r"^[0-9]{0,15}$", description="The id of the last event that you received."),
]
Cursor = Annotated[str | None, Query(pattern=pages.CURSOR, description="A page's `next_cursor`.")]
Time = Annotated[int | None, Query(ge=0, le=LARGEST_SEQ, description="Milliseconds, UTC.")]
ForPerson = Annotated[bool, Query(description="Only those that are waiting for a person.")]
LOOKED_FOR: Final = Query(min_length=1, max_length=400, description="In whatever case.")

# A path of the server's machine. What is relative is refused in words of ours, so the pattern is
# described here and not checked.
AbsolutePath = Annotated[
    str, Field(max_length=4096, json_schema_extra={"pattern": ABSOLUTE, "examples": ["/home/me/x"]})
]
Folder = Annotated[
    AbsolutePath | None,
    Field(description="Must exist below one of the roots. Default: the repository."),
]
Labels = Annotated[
    tuple[Label, ...],
    Field(max_length=MOST_LABELS, description="What a machine must have that works on it."),
]
ModelName = Annotated[
    Annotated[str, Field(max_length=400, json_schema_extra={"minLength": 1})] | None,
    Field(description="One of `/api/v1/models`."),
]


class RequestBody(BaseModel):
    """The body of a request: a field that we do not know is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RecordedEvent(BaseModel):
    """An event with its place in the stream and its time (ms, UTC)."""

    seq: int
    at: int
    event: Event


class StreamNote(BaseModel):
    """`heartbeat` or `end`: there is nothing new behind `seq`, or never will be."""

    seq: int
    at: int


# As text, or what each of its events has as data: generated clients read one or the other.
StreamedEvent = TypeAliasType("StreamedEvent", RecordedEvent | StreamNote | str)


class ServerSent(JSONResponse):
    """How a route that follows a stream is described. FastAPI writes the schema only of what it
    takes for JSON; as the data of each event is."""

    media_type = "text/event-stream"


def server_sent(data: Any) -> dict[str, Any]:
    """A route whose events have such data."""
    return {
        "response_class": ServerSent,
        "response_model": data,
        "response_description": "Server-sent events; the schema is that of the data of each.",
    }


SERVER_SENT: Final = server_sent(StreamedEvent)
# A stream that ends says so once; whoever comes back behind its end is sent away for good.
ENDING: Final[dict[str, Any]] = {
    **SERVER_SENT,
    "responses": {
        204: {"description": "The stream has ended, and `Last-Event-ID` is its last event."},
    },
}


class EventPage(BaseModel):
    """A page of a stream: go on with `after=next_after` as long as there is more."""

    items: list[RecordedEvent]
    next_after: int
    seq: int
    more: bool


def event_page(page: pages.StreamPage, after: int, seq: int) -> Response:
    """Composed from the stored JSON: parsing a long page only to write it again is waste."""
    last = page.items[-1].seq if page.items else after
    said = {"next_after": last, "seq": seq, "more": page.more}
    items = ",".join(recorded.json for recorded in page.items)
    body = f'{{"items":[{items}],{json.dumps(said)[1:]}'
    return Response(body, media_type="application/json")


def first_seq(last_event_id: str | None, after: int) -> int:
    """Where a follower begins; what it has seen last goes before what it asked for."""
    return int(last_event_id) if last_event_id else after
