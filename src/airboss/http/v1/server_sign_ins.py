"""Sign-ins at the MCP servers of sessions, over v1."""

from fastapi import Request
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use, Who
from airboss.http.v1.streams import RequestBody

router = Router(prefix="/api/v1", tags=["sessions"])

# The page that a browser comes back to; it says the rest to the server.
CALLBACK = "/inbox.html"
_FAILED = refused("The server, or where people sign in for it, does not do what it should.")


class BegunSignIn(BaseModel):
    """The address to open in a browser. It is good for ten minutes, and for whoever asked."""

    url: str


class FinishSignIn(RequestBody):
    """What the authorization server added to the address that the browser came back to."""

    state: str = Field(min_length=1, max_length=2_000)
    code: str | None = Field(default=None, min_length=1, max_length=8_000)
    error: str | None = Field(default=None, max_length=2_000)
    iss: str | None = Field(default=None, max_length=2_000)


class FinishedSignIn(BaseModel):
    """The server that lets the sessions in now, and the session that it was asked for."""

    session: str
    server: str


@router.post(
    "/sessions/{session}/mcp-servers/{server}/sign-in",
    responses={409: refused("Nobody signs in at this server."), 424: _FAILED},
)
async def begin_server_sign_in(
    session: str, server: str, request: Request, use: Use, who: Who
) -> BegunSignIn:
    """Begin to sign in at an MCP server. Open the address in a browser: it comes back to Airboss,
    which finishes the sign-in."""
    place = f"{request.scope['airboss.origin']}{CALLBACK}"
    return BegunSignIn(url=await use.server_sign_ins.begin(session, server, who, place))


@router.post(
    "/mcp-sign-ins",
    responses={
        409: refused("The sign-in is not known, was finished before, or is somebody else's."),
        424: _FAILED,
    },
)
async def finish_server_sign_in(asked: FinishSignIn, use: Use, who: Who) -> FinishedSignIn:
    """Finish a sign-in at an MCP server, with what the browser brought back. What waited for it
    goes on."""
    done = await use.server_sign_ins.finish(asked.state, asked.code, asked.error, asked.iss, who)
    return FinishedSignIn(session=done.session, server=done.server)


@router.delete(
    "/sessions/{session}/mcp-servers/{server}/sign-in",
    status_code=204,
    responses={409: refused("Nobody signs in at this server.")},
)
async def end_server_sign_in(session: str, server: str, use: Use, who: Who) -> None:
    """Sign out at an MCP server, for all sessions: what is kept of the sign-in is removed."""
    await use.server_sign_ins.sign_out(session, server, who)
