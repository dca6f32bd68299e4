"""Sessions over v1: the extensions of one that is open."""

from collections.abc import Sequence

from pydantic import BaseModel

from airboss.extensions.seen import SeenExtension
from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import UseSessions

router = Router(prefix="/api/v1/sessions", tags=["sessions"])


class LiveExtension(BaseModel):
    """An extension as it is now. `reason` is its last error, or why it does not run; `words` is
    what it said last without writing it down."""

    name: str
    scope: str
    language: str
    digest: str
    state: str
    reason: str
    tools: list[str]
    hooks: list[str]
    words: str


class LiveExtensions(BaseModel):
    items: list[LiveExtension]


@router.get(
    "/{session}/extensions", responses={409: refused("The session is not open: it has none.")}
)
async def list_session_extensions(session: str, sessions: UseSessions) -> LiveExtensions:
    """List the extensions of an open session, with their state."""
    return _shown(await sessions.shown_extensions(session))


@router.post(
    "/{session}/extensions/reload",
    responses={409: refused("The session is not open: it has none.")},
)
async def reload_session_extensions(session: str, sessions: UseSessions) -> LiveExtensions:
    """Stop all extensions of an open session, look for them again, and start them. Their tools can
    be used in the running turn."""
    return _shown(await sessions.reload_extensions(session))


def _shown(found: Sequence[SeenExtension]) -> LiveExtensions:
    return LiveExtensions(
        items=[
            LiveExtension(
                name=one.file.name,
                scope=one.file.scope,
                language=one.file.language,
                digest=one.file.copy_digest or one.file.digest,
                state=one.state,
                reason=one.reason,
                tools=list(one.tools),
                hooks=list(one.hooks),
                words=one.words,
            )
            for one in found
        ]
    )
