"""What lets us in at MCP servers where a person signed in: kept, hidden, renewed.

It is a secret of this machine, in the keyring or in `secrets/`. Only the proxy adds it to calls, so
that no process of an agent has it. Sessions of one address share it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from airboss.errors import AirbossError
from airboss.harness.oauth_metadata import OAuthClient, OAuthTokens
from airboss.model.redaction import Learn
from airboss.model.words import Frozen
from airboss.store.kept_secrets import KeptSecrets

if TYPE_CHECKING:
    from airboss.harness.oauth import BegunServerSignIn

_log = logging.getLogger("airboss.sign_ins")

# So long before its end a token is renewed.
_EARLY_SECONDS: Final = 30
_LONGEST: Final = 8_000
_SPACE: Final = "\\u0020"
_PARTS: Final = ("access", "refresh", "client")


class ServerGrant(Frozen):
    """What is known of one, beside its secrets."""

    url: str
    token_endpoint: str
    client_id: str
    method: str | None = None
    resource: str
    allows_private: bool = False
    # Of one whom the settings name: the variable with the secret, which is kept nowhere else.
    secret_variable: str | None = None
    # Who signed in, as this server knows them; and until when the token is good, in seconds.
    who: str
    ends_at: int | None = None


@dataclass(frozen=True)
class _HeldGrant:
    grant: ServerGrant
    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    client_secret: str | None = field(default=None, repr=False)


@dataclass
class ServerGrants:
    """Of all servers. `learn` hides a value wherever texts are shown or kept."""

    kept: KeptSecrets
    learn: Learn
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    _held: dict[str, _HeldGrant] = field(default_factory=dict[str, _HeldGrant], repr=False)
    _renewing: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])

    def load(self) -> None:
        """What an earlier server kept; the secrets themselves have been read before."""
        for one in self.kept.all():
            held = self._read(one.name) if one.name.startswith("mcp-") else None
            if held is not None:
                self._held[held.grant.url] = held
                self._hide(held)

    def _read(self, name: str) -> _HeldGrant | None:
        said, access = self.kept.value(name), self.kept.value(f"{name}-access")
        if said is None or access is None:
            return None
        try:
            grant = ServerGrant.model_validate_json(said)
        except ValidationError:
            return None
        others = (self.kept.value(f"{name}-{part}") for part in _PARTS[1:])
        return _HeldGrant(grant, access, *others) if name_of(grant.url) == name else None

    def of(self, url: str) -> ServerGrant | None:
        held = self._held.get(url)
        return held and held.grant

    async def keep(self, begun: "BegunServerSignIn", tokens: OAuthTokens, who: str) -> None:
        """Hidden before anything is written."""
        client = begun.client
        grant = ServerGrant(
            url=begun.url,
            token_endpoint=begun.door.token_endpoint,
            client_id=client.client_id,
            method=client.token_endpoint_auth_method,
            resource=begun.resource,
            allows_private=begun.allows_private,
            secret_variable=begun.secret_variable,
            who=who,
            ends_at=_end_of(tokens),
        )
        secret = None if begun.secret_variable else client.client_secret
        held = _HeldGrant(grant, tokens.access_token, tokens.refresh_token, secret)
        await self._put(held)

    async def _put(self, held: _HeldGrant) -> None:
        self._hide(held)
        self._held[held.grant.url] = held
        await asyncio.to_thread(self._write, held)

    def _write(self, held: _HeldGrant) -> None:
        """What a renewal needs first: with a token that is too old all the rest comes again."""
        name = name_of(held.grant.url)
        parts = {"client": held.client_secret, "refresh": held.refresh, "access": held.access}
        for part, value in parts.items():
            if value is not None:
                self.kept.keep(f"{name}-{part}", value, _LONGEST)
            elif self.kept.value(f"{name}-{part}") is not None:
                self.kept.remove(f"{name}-{part}")
        said = held.grant.model_dump_json().replace(" ", _SPACE)
        self.kept.keep(name, said, _LONGEST)

    def _hide(self, held: _HeldGrant) -> None:
        values = (held.access, held.refresh, held.client_secret)
        self.learn(*(value for value in values if value), of=f"sign-in {held.grant.url}")

    async def forget(self, url: str) -> bool:
        """Nobody is let in by it any more. Whether there was one."""
        held = self._held.pop(url, None)
        if held is not None:
            await asyncio.to_thread(self._remove, name_of(url))
        return held is not None

    def _remove(self, name: str) -> None:
        for secret in (name, *(f"{name}-{part}" for part in _PARTS)):
            if self.kept.has(secret):
                self.kept.remove(secret)

    async def token(self, url: str) -> str | None:
        """A good one, renewed where it ends just now, or else the old one; None where nobody signed
        in."""
        held = self._held.get(url)
        if held is None:
            return None
        ends_at = held.grant.ends_at
        if ends_at is not None and ends_at - _EARLY_SECONDS <= time.time() and held.refresh:
            with contextlib.suppress(AirbossError):
                return await self.renewed(url, held.access)
        return held.access

    async def renewed(self, url: str, stale: str) -> str | None:
        """Another one instead of a token that the server does not take. None where a person has to
        sign in again; raises where that is not said, and it may work later."""
        async with self._renewing.setdefault(url, asyncio.Lock()):
            held = self._held.get(url)
            if held is None or held.access != stale:  # somebody else was faster
                return held and held.access
            if held.refresh is None:
                await self.forget(url)
                return None
            return await self._renew(held, held.refresh)

    async def _renew(self, held: _HeldGrant, refresh: str) -> str | None:
        # Here, for a server where nobody signs in loads no HTTP client.
        from airboss.harness.oauth import NoLongerValid, renew

        grant = held.grant
        client = OAuthClient(
            client_id=grant.client_id,
            client_secret=held.client_secret or self.environ.get(grant.secret_variable or ""),
            token_endpoint_auth_method=grant.method,
        )
        private = grant.allows_private
        try:
            tokens = await renew(
                grant.token_endpoint, client, refresh, grant.resource, allows_private=private
            )
        except NoLongerValid as error:
            _log.info("A sign-in at an MCP server is no longer valid: %s", error)
            await self.forget(grant.url)
            return None
        except AirbossError as error:  # it may be there again later
            _log.warning("A sign-in at an MCP server could not be renewed: %s", error)
            raise
        now = grant.model_copy(update={"ends_at": _end_of(tokens)})
        again = tokens.refresh_token or refresh
        await self._put(_HeldGrant(now, tokens.access_token, again, held.client_secret))
        return tokens.access_token


@dataclass(frozen=True)
class ServerPass:
    """What one session shows at one server."""

    grants: ServerGrants
    url: str
    # Whether the settings say who we are there.
    has_client: bool = False

    async def token(self) -> str | None:
        return await self.grants.token(self.url)

    async def renewed(self, stale: str) -> str | None:
        return await self.grants.renewed(self.url, stale)


def may_sign_in(url: str | None, headers: Mapping[str, str], token_variable: str | None) -> bool:
    """Whether a person can sign in there: it is called, and settings say nothing else."""
    is_told = token_variable is not None or any(key.lower() == "authorization" for key in headers)
    return url is not None and not is_told


def name_of(url: str) -> str:
    """Of its secrets. Another address under the same name gets nothing of it."""
    return f"mcp-{sha256(url.encode()).hexdigest()[:16]}"


def _end_of(tokens: OAuthTokens) -> int | None:
    return None if tokens.expires_in is None else int(time.time()) + tokens.expires_in
