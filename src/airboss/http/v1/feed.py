"""The feed over v1: one connection for all that a page shows."""

from typing import Annotated

import anyio.to_thread
from fastapi import Query, Response
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from airboss.errors import Invalid
from airboss.http.feed import Feed
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.static import PAGES, build_of
from airboss.http.v1.streams import LARGEST_SEQ, RecordedEvent, server_sent

router = Router(prefix="/api/v1/feed", tags=["feed"])


class FeedEvent(RecordedEvent):
    """An event with the stream that it is of."""

    stream: str


class FeedProgress(BaseModel):
    """`caught-up` or `heartbeat`: up to which seq each stream was told. `lists`, of `caught-up`: a
    list whose answer had this `X-Airboss-Lists`, or a larger one, misses nothing. `database_ms`, of
    `heartbeat`: how long ago a database that several machines share last answered this server."""

    streams: dict[str, int]
    at: int | None = None
    lists: int | None = None
    database_ms: int | None = None


class FeedChanges(BaseModel):
    """`changed`: which streams have changed."""

    streams: list[str]


class FeedEnd(BaseModel):
    """`end`, with the last seq of a stream that is over; or `gone`: there is none of that name."""

    stream: str
    seq: int | None = None


class FeedBuild(BaseModel):
    """`build`: of which build the server's pages are."""

    build: str


StreamedFeed = TypeAliasType(
    "StreamedFeed", FeedEvent | FeedProgress | FeedChanges | FeedEnd | FeedBuild | str
)

MOST_STREAMS = 64
_LONGEST_NAME = 64


@router.get("", **server_sent(StreamedFeed))
async def follow_feed(
    use: Use,
    follow: Annotated[
        list[str],
        Query(
            max_length=MOST_STREAMS,
            description="`STREAM:AFTER`: a session, a run, a task run or `inbox`, and the last seq "
            "of it that is known. Once for each.",
        ),
    ] = [],  # noqa: B006 - FastAPI reads it, nobody writes
    lists: Annotated[bool, Query(description="Report which streams have changed.")] = False,
    compact: Annotated[
        bool,
        Query(description="Start without the deltas of finished blocks."),
    ] = True,
) -> Response:
    """Server-sent events of several streams. First comes `build`, by which a page knows whether
    it is of an earlier build than the server's pages. Each event has its `stream`, and goes on
    behind what is known. What was there at the beginning comes without the deltas of blocks that
    have ended, unless `compact` is false, and `caught-up` behind it; `end` says that a stream is
    over, `gone` that there is none of that name; `changed` names what was told something, at most
    four times a second; and every 5 s a `heartbeat` says how far each stream was told; each second
    while a shared database does not answer."""
    followed = _followed(follow)
    # Read each time: pages may be built anew while the server runs.
    build = await anyio.to_thread.run_sync(build_of, PAGES)
    return Feed(use.log, followed, lists=lists, compact=compact, build=build)


def _followed(follow: list[str]) -> dict[str, int]:
    followed: dict[str, int] = {}
    for one in follow:
        stream, _, after = one.partition(":")
        seq = after or "0"
        if not 0 < len(stream) <= _LONGEST_NAME:
            raise Invalid("`follow` must be `STREAM:AFTER`, such as `inbox:0`.")
        if not seq.isascii() or not seq.isdigit() or int(seq[:20]) > LARGEST_SEQ:
            raise Invalid(f"`follow={stream}:` needs the seq of an event, a whole number.")
        if stream in followed:
            raise Invalid(f"`follow` names {stream} twice.")
        followed[stream] = int(seq)
    return followed
