"""What a server that wants a sign-in says of itself, and where that is looked up. Nothing is asked
here: RFC 9728 for the server, RFC 8414 for who lets people in, RFC 7591 for our name there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airboss.errors import SignInFailed
from airboss.provider_settings import is_loopback

M = TypeVar("M", bound=BaseModel)

Short = Annotated[str, Field(max_length=2_000)]
Token = Annotated[str, Field(min_length=8, max_length=8_000, pattern=r"^[\x21-\x7e]+$")]

_PARAMETER: Final = re.compile(r'(\w+)="([^"]{1,2000})"')
_METHODS: Final = ("none", "client_secret_post", "client_secret_basic")
_WELL_KNOWN: Final = "/.well-known/"


class _ToldByOthers(BaseModel):
    """Of somebody else: what we do not know is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ResourceMetadata(_ToldByOthers):
    resource: Short
    authorization_servers: tuple[Short, ...] = Field(default=(), max_length=20)
    scopes_supported: tuple[Short, ...] | None = Field(default=None, max_length=100)


class DoorMetadata(_ToldByOthers):
    """Of the authorization server."""

    issuer: Short
    authorization_endpoint: Short
    token_endpoint: Short
    registration_endpoint: Short | None = None
    code_challenge_methods_supported: tuple[Short, ...] = Field(default=(), max_length=20)
    token_endpoint_auth_methods_supported: tuple[Short, ...] | None = Field(
        default=None, max_length=20
    )
    authorization_response_iss_parameter_supported: bool = False

    @property
    def method(self) -> str:
        """How we say who we are: with the least that it takes."""
        return self._first_of(_METHODS)

    @property
    def method_with_secret(self) -> str:
        return self._first_of(_METHODS[1:])

    def _first_of(self, methods: Sequence[str]) -> str:
        offered = self.token_endpoint_auth_methods_supported
        if offered is None:
            return "client_secret_basic"
        return next((one for one in methods if one in offered), "client_secret_basic")


class OAuthClient(_ToldByOthers):
    """Who we are to the authorization server."""

    client_id: Annotated[str, Field(min_length=1, max_length=2_000)]
    client_secret: Token | None = Field(default=None, repr=False)
    token_endpoint_auth_method: Short | None = None


class OAuthTokens(_ToldByOthers):
    """What lets us in, and for how many seconds."""

    access_token: Token = Field(repr=False)
    token_type: Short = "Bearer"  # noqa: S105 - a kind, no secret
    expires_in: int | None = Field(default=None, ge=0, le=10**9)
    refresh_token: Token | None = Field(default=None, repr=False)


def read(model: type[M], body: bytes, who: str, what: str) -> M:
    """Nothing of what it is not is repeated: it may hold secrets."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "its form"
        raise SignInFailed(
            f"{who} answered something that is not {what} ({place}). Ask whoever runs it."
        ) from None


def challenge(header: str) -> dict[str, str]:
    """The parameters of a WWW-Authenticate header."""
    return dict(_PARAMETER.findall(header[:8_000]))


def resource_places(url: str, told: str | None) -> Iterator[str]:
    """Where a server may say who lets people in."""
    if told:
        yield told
    origin, path = _split(url)
    if path:
        yield f"{origin}{_WELL_KNOWN}oauth-protected-resource{path}"
    yield f"{origin}{_WELL_KNOWN}oauth-protected-resource"


def door_places(issuer: str) -> Iterator[str]:
    origin, path = _split(issuer)
    yield f"{origin}{_WELL_KNOWN}oauth-authorization-server{path}"
    yield f"{origin}{_WELL_KNOWN}openid-configuration{path}"
    if path:
        yield f"{origin}{path}{_WELL_KNOWN}openid-configuration"


def origin_of(url: str) -> str:
    return _split(url)[0]


def must_be_of(found: ResourceMetadata, url: str) -> None:
    """A token for one server is not to be sent to another."""
    said, path = _split(found.resource)
    origin, whole = _split(url)
    if said.lower() != origin.lower() or not f"{whole}/".startswith(f"{path}/"):
        raise SignInFailed(
            f"{_host(url)} says that it is {_host(found.resource)}. Set its url to where it is."
        )


def must_be_safe(door: DoorMetadata, issuer: str) -> None:
    who = _host(issuer)
    if door.issuer.rstrip("/") != issuer.rstrip("/"):
        raise SignInFailed(f"{who} says that it is {_host(door.issuer)}. Nobody signs in there.")
    if "S256" not in door.code_challenge_methods_supported:
        raise SignInFailed(f"{who} does not protect sign-ins by PKCE (S256), which is needed.")


def must_be_address(url: str, *, allows_private: bool) -> None:
    """Where a browser or a secret may go."""
    try:
        address = urlsplit(url)
        host, _ = address.hostname or "", address.port
    except ValueError:
        raise SignInFailed("The server names an address that is none.") from None
    is_plain = address.scheme == "http" and (allows_private or is_loopback(host))
    if not host or address.username or not (address.scheme == "https" or is_plain):
        raise SignInFailed(f"The server names an address without https: {host or 'no host'}.")


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise SignInFailed("The server names an address that is none.") from None
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _host(url: str) -> str:
    """No more of an address is told: its path may hold a secret."""
    return urlsplit(url).hostname or "no address"
