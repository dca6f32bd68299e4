"""What a session was given beside its model and folder, over v1."""

from pydantic import BaseModel

from airboss.http.roles import Router
from airboss.http.services import UseSessions
from airboss.model.mcp_events import McpState
from airboss.model.setup import Setup

router = Router(prefix="/api/v1/sessions", tags=["sessions"])


class SessionTools(BaseModel):
    """The tools by where they come from: the runtime, Airboss, and each MCP server by its name."""

    built_in: tuple[str, ...]
    ours: tuple[str, ...]
    servers: dict[str, tuple[str, ...]]


class SessionBinding(BaseModel):
    """Which of the agent runtime's sessions it is (`number`, and the runtime's own name), and what
    that one is bound to, without secrets: the address and the account as prints. Empty where that
    is not known. `fits`: a resume goes on with its history; else the agent starts over. Without a
    word on it, its model is not to be had."""

    number: int
    runtime: str
    parts: dict[str, str]
    fits: bool | None = None


class SessionServer(BaseModel):
    """An MCP server of the session: its program or host, how it is, and the names of its tools.
    Where a person can sign in, and who did: `signed_in` is the name of their token here."""

    name: str
    what: str
    state: McpState
    error: str | None = None
    tools: tuple[str, ...] = ()
    can_sign_in: bool = False
    signed_in: str | None = None


class SessionSetup(BaseModel):
    """The session's setup as it is in force, and its tools. Where `live`, the runtime said which
    there are, and it does so from the first turn on; otherwise they are those that its lists
    allow."""

    setup: Setup
    tools: SessionTools
    live: bool
    binding: SessionBinding
    mcp_servers: tuple[SessionServer, ...] = ()


@router.get("/{session}/setup")
async def show_setup(session: str, sessions: UseSessions) -> SessionSetup:
    """What it was opened with, and is resumed with."""
    found = await sessions.setup(session)
    tools = SessionTools(**vars(found.tools))
    binding = SessionBinding(**vars(found.binding))
    servers = tuple(SessionServer(**vars(server)) for server in found.servers)
    return SessionSetup(
        setup=found.setup,
        tools=tools,
        live=found.live,
        binding=binding,
        mcp_servers=servers,
    )
