"""What a session was given beside its model and folder, over v1."""

from pydantic import BaseModel

from airboss.http.roles import Router
from airboss.http.services import UseSessions
from airboss.model.setup import Setup

router = Router(prefix="/api/v1/sessions", tags=["sessions"])


class SessionTools(BaseModel):
    """The tools by where they come from: the runtime, Airboss, and each MCP server by its name."""

    built_in: tuple[str, ...]
    ours: tuple[str, ...]
    servers: dict[str, tuple[str, ...]]


class SessionSetup(BaseModel):
    """The session's setup as it is in force, and its tools. Where `live`, the runtime said which
    there are, and it does so from the first turn on; otherwise they are those that its lists
    allow."""

    setup: Setup
    tools: SessionTools
    live: bool


@router.get("/{session}/setup")
async def show_setup(session: str, sessions: UseSessions) -> SessionSetup:
    """What it was opened with, and is resumed with."""
    found = await sessions.setup(session)
    tools = SessionTools(**vars(found.tools))
    return SessionSetup(setup=found.setup, tools=tools, live=found.live)
