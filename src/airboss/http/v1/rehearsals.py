"""Rehearsals over v1: play a job of a draft with scripted answers, see how it goes, cancel it."""

from typing import Annotated, Literal

from fastapi import Request, Response
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.v1.large_bodies import body_of, read_by_hand
from airboss.http.v1.streams import RequestBody
from airboss.service.rehearsals import MOST_INPUT, NewRehearsal, RehearsedJob

router = Router(prefix="/api/v1/rehearsals", tags=["entry"])


class StartRehearsal(RequestBody):
    """The draft, and which of its jobs. Without a script, every answer is yes."""

    text: str
    format: Literal["json", "yaml"] = "yaml"
    job: Annotated[str, Field(min_length=1, max_length=400)]
    input: Annotated[str, Field(max_length=MOST_INPUT)] | None = None
    script: str | None = None


class RehearsalStarted(BaseModel):
    """It is being played; ask for it by its id."""

    id: str


@router.post(
    "",
    status_code=202,
    response_model=RehearsalStarted,
    responses={
        413: refused("The text or the script is too large."),
        422: refused("The entry or the script has errors, or the job needs input."),
        429: refused("Two rehearsals run already."),
    },
    openapi_extra=read_by_hand(StartRehearsal),
)
async def start_rehearsal(request: Request, use: Use, response: Response) -> RehearsalStarted:
    """Plays a job in an empty folder that is thrown away. It costs nothing, changes no file of the
    project and is in no list; it ends with the server, and after ten minutes."""
    asked = await body_of(request, StartRehearsal)
    begun = await use.rehearsals.start(
        NewRehearsal(asked.text, asked.format, asked.job, asked.input or "", asked.script)
    )
    response.headers["Location"] = f"/api/v1/rehearsals/{begun.id}"
    return RehearsalStarted(id=begun.id)


@router.get("/{rehearsal}")
async def show_rehearsal(rehearsal: str, use: Use) -> RehearsedJob:
    """How it goes, or how it went. The last twenty are known, until the server ends."""
    return use.rehearsals.show(rehearsal)


@router.delete("/{rehearsal}")
async def cancel_rehearsal(rehearsal: str, use: Use) -> RehearsedJob:
    """Ends it; when this answers, nothing of it is left. One that has ended stays as it is."""
    return await use.rehearsals.cancel(rehearsal)
