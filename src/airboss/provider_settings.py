"""A provider of one's own as the settings have it, and what is refused there.

The key is in no file of settings: only the name of the variable or of the secret that has it.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from airboss.keys import is_address
from airboss.setting_words import KEPT_NAME

ProviderType: TypeAlias = Literal["openai", "azure", "anthropic"]
Wire: TypeAlias = Literal["responses", "completions"]
Auth: TypeAlias = Literal["key", "bearer"]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]

# Where models come from without a provider; the first part of a model's id would not say which.
_TAKEN_NAMES: Final = frozenset({"copilot", "rehearsal", "cli"})
# Names under which a credential goes over the wire, without hyphens and the like.
_CREDENTIALS: Final = frozenset(
    (
        "accesstoken",
        "apikey",
        "appsecret",
        "auth",
        "authorization",
        "authtoken",
        "clientsecret",
        "code",
        "cookie",
        "credential",
        "hooktoken",
        "idtoken",
        "jwt",
        "key",
        "ocpapimsubscriptionkey",
        "pass",
        "passwd",
        "password",
        "privatekey",
        "proxyauthorization",
        "refreshtoken",
        "secret",
        "session",
        "sig",
        "signature",
        "token",
        "xaccesstoken",
        "xamzsecuritytoken",
        "xamzsignature",
        "xapikey",
        "xauthtoken",
    )
)
# They belong to one connection, or say how a body is written.
CONNECTION_HEADERS: Final = frozenset(
    (
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
# Letters that show nothing, though they count as letters.
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?")


def is_credential(name: str) -> bool:
    """Whether a parameter or a header of this name holds what lets one in."""
    return (_is_known_credential if len(name) <= _SHORT else _is_credential)(name)


def mistake_in_header(name: str) -> str | None:
    """Why a header of this name cannot be one of ours."""
    if not _HEADER_NAME.fullmatch(name):
        return f"The header {name!r} cannot be sent: only plain ASCII can."
    if name.lower() in CONNECTION_HEADERS:
        return f"The header {name} belongs to the connection. Leave it out."
    return None


def _is_credential(name: str) -> bool:
    return _bare(unquote(_bare(name))).casefold().replace("-", "").replace("_", "") in _CREDENTIALS


# The same few headers come with every call of a model, and to look at each letter of them took a
# third of a millisecond a turn. Long names, which somebody may make up, are not kept.
_is_known_credential: Final = lru_cache(maxsize=512)(_is_credential)
_SHORT: Final = 64


def is_loopback(host: str) -> bool:
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _bare(name: str) -> str:
    return "".join(
        letter
        for letter in name
        if letter != "+" and letter not in _FILLERS and unicodedata.category(letter)[0] not in "CZ"
    )


def _refused(reason: str) -> PydanticCustomError:
    return PydanticCustomError("provider", "{reason}", {"reason": reason})


class _FrozenPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProviderModel(_FrozenPart):
    """A model of a provider. What is left out, the runtime guesses from the id."""

    id: str = Field(min_length=1, max_length=200, pattern=r"^\S+$")
    # What the provider calls it, where that is another name.
    wire_model: str | None = Field(default=None, min_length=1, max_length=200, pattern=r"^\S+$")
    prompt_tokens: int | None = Field(default=None, ge=1_000, le=100_000_000)
    output_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    # Whether it is shown images.
    vision: bool = True
    efforts: tuple[Effort, ...] = ()


def _as_table(model: object) -> object:
    return {"id": model} if isinstance(model, str) else model


class Provider(_FrozenPart):
    """A service of one's own that offers models, beside Copilot's."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$")
    type: ProviderType = "openai"
    # Left out, it is completions.
    wire: Wire | None = None
    # Whether it may be at an address of this network, and be reached without https.
    private: bool = False
    base_url: str
    # The key itself is never in a file of ours: only the name of the variable that holds it.
    key_variable: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    # Or the name of a kept secret: put in on the page, or by `airboss secret set`.
    key_kept: str | None = Field(default=None, pattern=KEPT_NAME)
    # How the key is sent: as this type of provider has it, or as a bearer token.
    auth: Auth = "key"
    # Sent with every request.
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])
    api_version: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,40}$")
    models: tuple[Annotated[ProviderModel, BeforeValidator(_as_table)], ...] = Field(min_length=1)

    @property
    def is_on_loopback(self) -> bool:
        return is_loopback(urlsplit(self.base_url).hostname or "")

    def model(self, name: str) -> ProviderModel | None:
        return next((model for model in self.models if model.id == name), None)

    @field_validator("name")
    @classmethod
    def _be_no_other_source(cls, name: str) -> str:
        if name.lower() in _TAKEN_NAMES:
            raise _refused(f"The name {name} stands for something else. Choose another one.")
        return name

    @field_validator("key_kept")
    @classmethod
    def _be_the_only_key(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and info.data.get("key_variable") is not None:
            raise _refused("Name a key_variable or a key_kept, and not both.")
        return name

    @field_validator("wire")
    @classmethod
    def _be_a_wire_of_the_type(cls, wire: Wire | None, info: ValidationInfo) -> Wire | None:
        if wire is not None and info.data.get("type") == "anthropic":
            raise _refused("Providers of the type anthropic have one wire only. Leave it out.")
        return wire

    @field_validator("base_url")
    @classmethod
    def _be_an_address(cls, url: str, info: ValidationInfo) -> str:
        parts = _split(url)
        if parts is None:
            raise _refused("This is no address. Write it as https://host/path.")
        if parts.username is not None or parts.password is not None:
            raise _refused("No user and no password in an address: name a key_variable instead.")
        for parameter in re.split("[&;]", parts.query):
            if is_credential(parameter.partition("=")[0]):
                raise _refused("No key in an address: name a key_variable instead.")
        is_ours = info.data.get("private") or is_loopback(parts.hostname or "")
        if parts.scheme == "http" and not is_ours:
            raise _refused(
                "Over http everybody on the way can read the key and the conversation. Use https, "
                "or set private = true if the provider is in your own network."
            )
        return url

    @field_validator("headers")
    @classmethod
    def _be_harmless(cls, headers: Mapping[str, str]) -> Mapping[str, str]:
        for name, value in headers.items():
            if mistake := mistake_in_header(name):
                raise _refused(mistake)
            if not _HEADER_VALUE.fullmatch(value):
                raise _refused(f"The header {name!r} cannot be sent: only plain ASCII can.")
            if is_credential(name):
                raise _refused(f"The header {name} would hold a key. Name a key_variable instead.")
        return headers

    @field_validator("api_version")
    @classmethod
    def _be_of_azure(cls, version: str | None, info: ValidationInfo) -> str | None:
        if version is not None and info.data.get("type") != "azure":
            raise _refused("Only providers of the type azure have one. Leave it out.")
        return version

    @field_validator("models")
    @classmethod
    def _be_each_once(cls, models: tuple[ProviderModel, ...]) -> tuple[ProviderModel, ...]:
        ids = [model.id for model in models]
        twice = next((name for name in ids if ids.count(name) > 1), None)
        if twice is not None:
            raise _refused(f"The model {twice} is there twice. Name each once.")
        return models


def _split(url: str) -> SplitResult | None:
    """Nothing where it is no address of the web."""
    if not url.isascii() or " " in url or not is_address(url):
        return None
    parts = urlsplit(url)
    is_whole = parts.scheme in ("http", "https") and parts.hostname and not parts.fragment
    return parts if is_whole else None
