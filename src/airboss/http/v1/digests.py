"""Digests over v1: a page asks whether what it shows is what the log says."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel

from airboss.http.description import Refusals, refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.v1.streams import LARGEST_SEQ
from airboss.model.inbox_events import INBOX
from airboss.service.digests import Compared

router = Router(prefix="/api/v1", tags=["digests"])

Seq = Annotated[
    int,
    Query(
        ge=0, le=LARGEST_SEQ, description="The state as of this event, which must not be a delta."
    ),
]
Have = Annotated[
    str | None, Query(pattern="^[0-9a-f]{16}$", description="The digest that the page computed.")
]

_NO_STATE: Final[Refusals] = {
    422: refused("No such event is in the stream, or it is a delta: take one that is none.")
}


class Digest(BaseModel):
    """The server's own. `same` is null where none was given to compare with."""

    seq: int
    digest: str
    same: bool | None


def _digest(compared: Compared) -> Digest:
    return Digest(seq=compared.seq, digest=compared.digest, same=compared.same)


@router.get("/sessions/{session}/digest", responses=_NO_STATE)
async def session_digest(session: str, use: Use, seq: Seq, have: Have = None) -> Digest:
    """Of the session's view and conversation. A difference is counted in `/metrics`."""
    return _digest(await use.digests.compare("session", session, seq, have))


@router.get("/runs/{run}/digest", responses=_NO_STATE)
async def run_digest(run: str, use: Use, seq: Seq, have: Have = None) -> Digest:
    """Of the run with all its works."""
    return _digest(await use.digests.compare("run", run, seq, have))


@router.get("/task-runs/{run}/digest", responses=_NO_STATE)
async def task_run_digest(run: str, use: Use, seq: Seq, have: Have = None) -> Digest:
    """Of the task run with all that it did."""
    return _digest(await use.digests.compare("task", run, seq, have))


@router.get("/inbox/digest", responses=_NO_STATE)
async def inbox_digest(use: Use, seq: Seq, have: Have = None) -> Digest:
    """Of all that waits for a person."""
    return _digest(await use.digests.compare("inbox", INBOX, seq, have))
