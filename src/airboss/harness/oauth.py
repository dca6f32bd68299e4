"""A sign-in at an MCP server by OAuth 2.1: begun, finished, and renewed.

Every request goes by the guarded way out, bounded in size and time, and follows no redirect. The
person's browser goes to the authorization server by itself and brings back a code.
"""

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from airboss.errors import AirbossError, SignInFailed
from airboss.harness.oauth_metadata import (
    DoorMetadata,
    OAuthClient,
    OAuthTokens,
    ResourceMetadata,
    challenge,
    door_places,
    must_be_address,
    must_be_of,
    must_be_safe,
    origin_of,
    read,
    resource_places,
)
from airboss.net.address_guard import AddressBlocked, Egress, NameNotFound
from airboss.net.egress import guarded_client

_SECONDS: Final = 20.0
_MOST_BYTES: Final = 256 * 1024
_PROBE: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_BASIC: Final = "client_secret_basic"
_FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
_UNKNOWN: Final = (401, 403)


class NoLongerValid(SignInFailed):
    """What let us in does so no more: a person signs in again."""


@dataclass(frozen=True)
class BegunServerSignIn:
    """A sign-in that a browser is to bring a code for."""

    url: str
    redirect_uri: str
    door: DoorMetadata
    client: OAuthClient
    resource: str
    scope: str | None
    allows_private: bool
    # The one with our secret, where the settings say who we are.
    secret_variable: str | None = None
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(64), repr=False)

    @property
    def address(self) -> str:
        """What a person opens."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        given = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": self.redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "resource": self.resource,
            "scope": self.scope,
        }
        query = urlencode({name: value for name, value in given.items() if value})
        sign = "&" if urlsplit(self.door.authorization_endpoint).query else "?"
        return f"{self.door.authorization_endpoint}{sign}{query}"


@dataclass(frozen=True)
class _OAuthAnswer:
    status: int
    body: bytes
    challenge: str = ""


@dataclass(frozen=True)
class _SignInPlace:
    """Where people sign in for a server."""

    resource: ResourceMetadata
    door: DoorMetadata
    scope: str | None


@dataclass(frozen=True)
class SetClient:
    """Who we are, as somebody has registered us by hand and the settings say."""

    client_id: str
    secret: str | None = field(default=None, repr=False)
    secret_variable: str | None = None

    def at(self, door: DoorMetadata) -> OAuthClient:
        return OAuthClient(
            client_id=self.client_id,
            client_secret=self.secret,
            token_endpoint_auth_method=door.method_with_secret if self.secret else "none",
        )


async def look(url: str, *, allows_private: bool, has_client: bool = False) -> None:
    """Refused where nobody can sign in, for whatever reason: then nobody is asked to."""
    async with _Asking(allows_private) as ask:
        found = await _found(ask, url, allows_private=allows_private)
        if not has_client:
            _registration_at(found.door)


async def begin(
    url: str, redirect_uri: str, *, allows_private: bool, known: SetClient | None = None
) -> BegunServerSignIn:
    """Find out where a person signs in, and make ourselves known there, unless we are `known`."""
    async with _Asking(allows_private) as ask:
        found = await _found(ask, url, allows_private=allows_private)
        client = known.at(found.door) if known else await _registered(ask, found.door, redirect_uri)
        return BegunServerSignIn(
            url=url,
            redirect_uri=redirect_uri,
            door=found.door,
            client=client,
            resource=found.resource.resource,
            scope=found.scope,
            allows_private=allows_private,
            secret_variable=known and known.secret_variable,
        )


async def _found(ask: "_Asking", url: str, *, allows_private: bool) -> _SignInPlace:
    asked = await ask("POST", url, json=_PROBE, accept="application/json, text/event-stream")
    if asked.status not in _UNKNOWN:
        raise SignInFailed(
            f"{_host(url)} does not ask for a sign-in (it answered {asked.status}). "
            "Resume the session, or start a new one."
        )
    told = challenge(asked.challenge)
    resource = await _resource(ask, url, told.get("resource_metadata"))
    issuer = next(iter(resource.authorization_servers), origin_of(url))
    door = await _door(ask, issuer, allows_private=allows_private)
    scope = told.get("scope") or " ".join(resource.scopes_supported or ()) or None
    return _SignInPlace(resource, door, scope)


def _registration_at(door: DoorMetadata) -> str:
    """Where we make ourselves known."""
    if door.registration_endpoint is None:
        raise SignInFailed(
            f"{_host(door.issuer)} does not let programs register themselves. Register Airboss "
            "there by hand, and name its client_id in settings.toml. Or make a token there, put it "
            "into an environment variable, and name it as token_variable."
        )
    return door.registration_endpoint


async def finish(begun: BegunServerSignIn, code: str, issuer: str | None) -> OAuthTokens:
    """What the authorization server gives for the code that a browser brought."""
    door = begun.door
    is_missing = issuer is None and door.authorization_response_iss_parameter_supported
    if is_missing or (issuer is not None and issuer.rstrip("/") != door.issuer.rstrip("/")):
        raise SignInFailed("The answer came from another server than the one you signed in at.")
    given = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": begun.redirect_uri,
        "code_verifier": begun.verifier,
        "resource": begun.resource,
    }
    async with _Asking(begun.allows_private) as ask:
        return await _tokens(ask, door.token_endpoint, begun.client, given)


async def renew(
    endpoint: str, client: OAuthClient, refresh_token: str, resource: str, *, allows_private: bool
) -> OAuthTokens:
    given = {"grant_type": "refresh_token", "refresh_token": refresh_token, "resource": resource}
    async with _Asking(allows_private) as ask:
        return await _tokens(ask, endpoint, client, given)


class _Asking:
    """Requests of one sign-in, within one time."""

    def __init__(self, allows_private: bool) -> None:
        self.egress = Egress(allows_private)
        self._client = guarded_client(self.egress, _SECONDS)
        self._limit = asyncio.timeout(_SECONDS)
        self._asked = ""

    async def __aenter__(self) -> "_Asking":
        await self._limit.__aenter__()
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        await self._client.aclose()
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise SignInFailed(
                f"{self._asked} did not answer within {_SECONDS:g} s. Try again later."
            ) from None

    async def must_reach(self, url: str) -> None:
        """A browser is to be sent to no address that we would not call."""
        self._asked, parts = _host(url), urlsplit(url)
        try:
            await self.egress.addresses(parts.hostname or "", parts.port or 443)
        except (AddressBlocked, NameNotFound) as error:
            raise SignInFailed(f"{_in_words(error)}") from error

    async def __call__(
        self,
        method: str,
        url: str,
        *,
        accept: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> _OAuthAnswer:
        self._asked = _host(url)
        # Packed, a few bytes could become gigabytes before anybody counts them.
        sent = {"accept": accept, "accept-encoding": "identity", **(headers or {})}
        try:
            async with self._client.stream(method, url, headers=sent, **body) as answer:
                told = answer.headers.get("www-authenticate", "")
                return _OAuthAnswer(answer.status_code, await self._whole(answer), told)
        except (AddressBlocked, NameNotFound) as error:
            raise SignInFailed(_in_words(error)) from error
        except httpx2.TimeoutException as error:
            raise SignInFailed(f"{self._asked} did not answer in time. Try again later.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SignInFailed(
                f"{self._asked} cannot be reached, or does not speak HTTP."
            ) from error

    async def _whole(self, answer: httpx2.Response) -> bytes:
        if 300 <= answer.status_code < 400:
            where = _host(answer.headers.get("location", ""))
            raise SignInFailed(
                f"{self._asked} redirects to {where} ({answer.status_code}), which is not followed."
            )
        found = bytearray()
        async for piece in answer.aiter_raw():
            found += piece
            if len(found) > _MOST_BYTES:
                raise SignInFailed(f"{self._asked} answered with more than 256 KB.")
        return bytes(found)


async def _resource(ask: _Asking, url: str, told: str | None) -> ResourceMetadata:
    for place in resource_places(url, told):
        answer = await ask("GET", place)
        if answer.status == 200:
            found = read(ResourceMetadata, answer.body, _host(place), "a description of a server")
            must_be_of(found, url)
            return found
    return ResourceMetadata(resource=url)


async def _door(ask: _Asking, issuer: str, *, allows_private: bool) -> DoorMetadata:
    must_be_address(issuer, allows_private=allows_private)
    for place in door_places(issuer):
        answer = await ask("GET", place)
        if answer.status != 200:
            continue
        door = read(DoorMetadata, answer.body, _host(issuer), "a description of sign-ins")
        must_be_safe(door, issuer)
        ends = (door.authorization_endpoint, door.token_endpoint, door.registration_endpoint)
        for end in filter(None, ends):
            must_be_address(end, allows_private=allows_private)
        await ask.must_reach(door.authorization_endpoint)
        return door
    raise SignInFailed(
        f"{_host(issuer)} does not say how to sign in. If the server takes a token, put that into "
        "an environment variable, and name it as token_variable in settings.toml."
    )


async def _registered(ask: _Asking, door: DoorMetadata, redirect_uri: str) -> OAuthClient:
    registration = _registration_at(door)
    wished = {
        "client_name": "Airboss",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": door.method,
    }
    answer = await ask("POST", registration, json=wished)
    if answer.status not in (200, 201):
        raise SignInFailed(
            f"{_host(door.issuer)} did not register Airboss (status {answer.status}"
            f"{_error_in(answer.body)})."
        )
    client = read(OAuthClient, answer.body, _host(door.issuer), "a registration")
    return client.model_copy(
        update={"token_endpoint_auth_method": client.token_endpoint_auth_method or door.method}
    )


async def _tokens(
    ask: _Asking, endpoint: str, client: OAuthClient, given: Mapping[str, str]
) -> OAuthTokens:
    form, headers = {**given, "client_id": client.client_id}, dict(_FORM)
    if client.client_secret and client.token_endpoint_auth_method == _BASIC:
        pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif client.client_secret:
        form["client_secret"] = client.client_secret
    answer = await ask("POST", endpoint, headers=headers, content=urlencode(form))
    if answer.status in (400, 401, 403):
        raise NoLongerValid(
            f"{_host(endpoint)} refused the sign-in (status {answer.status}"
            f"{_error_in(answer.body)}). Begin it again."
        )
    if answer.status not in (200, 201):
        raise SignInFailed(f"{_host(endpoint)} gave no token (status {answer.status}).")
    tokens = read(OAuthTokens, answer.body, _host(endpoint), "a token")
    if tokens.token_type.lower() != "bearer":
        raise SignInFailed(f"{_host(endpoint)} gave a token of a kind that is not known.")
    return tokens


def _error_in(body: bytes) -> str:
    """The word for what went wrong, where it is one of the standard's form; no more is told."""
    try:
        said: Any = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    is_word = isinstance(said, str) and len(said) <= 60 and said.replace("_", "").isalpha()
    return f", {said}" if is_word else ""


def secrets_in(*found: OAuthClient | OAuthTokens) -> Iterable[str]:
    """All that nobody else is to see."""
    for one in found:
        values = (
            (one.client_secret,)
            if isinstance(one, OAuthClient)
            else (one.access_token, one.refresh_token)
        )
        yield from (value for value in values if value)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "an unknown address"
    except ValueError:
        return "an unknown address"


def _in_words(error: AirbossError) -> str:
    if isinstance(error, AddressBlocked) and error.is_private:
        return f"{error}. If it is meant to be reached, set private = true for it in settings.toml."
    return f"{error}."
