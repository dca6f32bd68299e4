"""Sessions over v1: the commands behind a slash."""

from typing import Annotated

from pydantic import BaseModel, Field

from airboss.harness.commands import Source
from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import UseEntries, UseSessions, Who
from airboss.http.v1.streams import RequestBody
from airboss.service.session_commands import CommandDone, SessionCommands

router = Router(prefix="/api/v1/sessions", tags=["sessions"])


class InvokeCommand(RequestBody):
    """A command by its name, without the slash, and what is said behind it."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    input: str = Field(default="", max_length=100_000)


class CommandOffer(BaseModel):
    """A command: of Airboss itself, of the session's description, or of the entry in use. `takes`
    says what has to stand behind it, where something has to."""

    name: str
    description: str
    source: Source
    takes: str | None = None


class CommandOffers(BaseModel):
    items: list[CommandOffer]


@router.get("/{session}/commands")
async def list_commands(session: str, sessions: UseSessions, entries: UseEntries) -> CommandOffers:
    """List the commands that a session offers."""
    offered = await SessionCommands(sessions, entries).offered(session)
    return CommandOffers(
        items=[
            CommandOffer(
                name=one.name, description=one.description, source=one.source, takes=one.takes
            )
            for one in offered
        ]
    )


@router.post(
    "/{session}/commands",
    responses={
        409: refused("The session is not open, or the agent works and the command has to wait."),
        422: refused("There is no such command here, or it needs words behind it."),
    },
)
async def invoke_command(
    session: str, asked: InvokeCommand, sessions: UseSessions, entries: UseEntries, who: Who
) -> CommandDone:
    """Run a command. One that is a prompt is queued like a message; others answer with a text.
    Commands of the runtime that change what a session may do are refused."""
    name = asked.name.removeprefix("/")
    return await SessionCommands(sessions, entries).invoke(session, name, asked.input, who)
