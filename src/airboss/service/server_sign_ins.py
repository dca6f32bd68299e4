"""Sign-ins of people at MCP servers: begun from a session, finished by what a browser brings."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.errors import AirbossError, Conflict, NotFound, SignInFailed
from airboss.harness.server_grants import ServerGrants, may_sign_in, name_of
from airboss.harness.server_launch import client_secret
from airboss.model.audit_events import SecretChanged
from airboss.model.ids import SessionId
from airboss.model.inbox_events import SignInAsked
from airboss.model.setup import ServerSetup
from airboss.service.audit import Audit, actor
from airboss.service.decisions import Decisions
from airboss.service.session_setup import setup_of
from airboss.service.sessions import Sessions

if TYPE_CHECKING:
    from airboss.harness.oauth import BegunServerSignIn, SetClient

# So long a person may take at the authorization server.
SECONDS: Final = 600.0
_MOST: Final = 100
_NOT_KNOWN: Final = (
    "This sign-in is not known here: it was finished before, took too long, or the server was "
    "restarted. Begin it again, from the inbox or the session."
)


@dataclass(frozen=True)
class _BegunByPerson:
    begun: "BegunServerSignIn"
    session: SessionId
    server: str
    who: str
    until: float


@dataclass(frozen=True)
class SignedInAtServer:
    """Where somebody has signed in, and what they were asked for."""

    session: SessionId
    server: str


@dataclass
class ServerSignIns:
    """BegunServerSignIn ones are of this server's life: the next one has a person begin again."""

    sessions: Sessions
    decisions: Decisions
    grants: ServerGrants
    audit: Audit
    _waiting: dict[str, _BegunByPerson] = field(
        default_factory=dict[str, _BegunByPerson], repr=False
    )

    async def begin(self, session: str, server: str, who: str, redirect_uri: str) -> str:
        """The address that a person opens."""
        described = await self._described(session, server)
        from airboss.harness.oauth import begin, secrets_in

        private, known = described.private, self._known(server, described)
        begun = await begin(described.url or "", redirect_uri, allows_private=private, known=known)
        begun_with = (*secrets_in(begun.client), begun.state, begun.verifier)
        self.grants.learn(*begun_with, of=f"begun sign-in {described.url}")
        self._tidy()
        until = time.monotonic() + SECONDS
        self._waiting[begun.state] = _BegunByPerson(begun, SessionId(session), server, who, until)
        return begun.address

    def _known(self, server: str, described: ServerSetup) -> "SetClient | None":
        """Who we are there, where the settings say so."""
        from airboss.harness.oauth import SetClient

        if described.client_id is None:
            return None
        secret = client_secret(server, described, self.sessions.environ)
        return SetClient(described.client_id, secret, described.client_secret_variable)

    def _tidy(self) -> None:
        now = time.monotonic()
        kept = [(name, one) for name, one in self._waiting.items() if one.until > now]
        self._waiting = dict(kept[-(_MOST - 1) :])

    async def _described(self, session: str, server: str) -> ServerSetup:
        view = await self.sessions.show(session)
        found = (await setup_of(self.sessions.log, view)).mcp_servers.get(server)
        if found is None:
            raise NotFound("MCP server", server)
        if not may_sign_in(found.url, found.headers, found.token_variable):
            raise Conflict(
                f"Nobody signs in at the MCP server {server}: it is a program, or the settings "
                "have its token."
            )
        return found

    async def finish(
        self, state: str, code: str | None, error: str | None, issuer: str | None, who: str
    ) -> SignedInAtServer:
        """With what the browser brought back. It counts once."""
        waiting = self._waiting.get(state)
        if waiting is None or waiting.until <= time.monotonic():
            raise Conflict(_NOT_KNOWN)
        if waiting.who != who:
            raise Conflict(
                f"{waiting.who} began this sign-in, and finishes it. To sign in yourself, begin "
                "it again, from the inbox or the session."
            )
        del self._waiting[state]
        if code is None:
            said = error if error and error.replace("_", "").isalpha() else "no code"
            raise SignInFailed(
                f"The sign-in at {waiting.server} was not granted ({said[:60]}). Begin it again, "
                "or have the session go on without the server."
            )
        from airboss.harness.oauth import finish

        tokens = await finish(waiting.begun, code, issuer)
        await self.grants.keep(waiting.begun, tokens, who)
        await self._record(waiting.begun.url, "kept", who)
        await self._let_in(waiting.begun.url, who)
        return SignedInAtServer(waiting.session, waiting.server)

    async def sign_out(self, session: str, server: str, who: str) -> None:
        """Nobody is let in there by an earlier sign-in any more."""
        url = (await self._described(session, server)).url or ""
        if not await self.grants.forget(url):
            raise NotFound("sign-in at", server)
        await self._record(url, "removed", who)

    def who(self, url: str | None) -> str | None:
        """Who signed in there."""
        grant = self.grants.of(url) if url else None
        return grant and grant.who

    async def _record(self, url: str, change: str, who: str) -> None:
        name = name_of(url)
        kept = next((one for one in self.grants.kept.all() if one.name == name), None)
        place = kept.place if kept else await asyncio.to_thread(self.grants.kept.place_of_new)
        said = "kept" if change == "kept" else "removed"
        await self.audit.write(SecretChanged(by=actor(who), change=said, name=name, place=place))

    async def _let_in(self, url: str, who: str) -> None:
        """All that wait for this server go on, and open sessions try it again."""
        for item in self.decisions.inbox.waiting():
            asked = item.asked
            if isinstance(asked, SignInAsked) and await self._is_at(item.session, asked, url):
                with contextlib.suppress(AirbossError):  # somebody said no meanwhile
                    await self.decisions.signed_in(item.id, who)
        self.sessions.come_in(url)

    async def _is_at(self, session: SessionId, asked: SignInAsked, url: str) -> bool:
        with contextlib.suppress(AirbossError):
            return (await self._described(session, asked.server)).url == url
        return False
