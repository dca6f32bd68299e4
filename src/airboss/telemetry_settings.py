"""Where traces are sent to, as the settings have it, and what is refused there.

What lets one in there is in no file: only the name of the variable that holds it is.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from airboss.errors import SettingsInvalid
from airboss.keys import is_address
from airboss.provider_settings import CONNECTION_HEADERS, is_loopback

Protocol: TypeAlias = Literal["http/protobuf", "http/json"]

# Under which the runtime's spans come; a program of an agent's has another one.
RUNTIME_SCOPE: Final = "airboss.runtime"
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# A space at one of its ends is not sent.
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?")
_NO_ADDRESS: Final = "This is no address. Write it as https://host:4318."


def _refused(reason: str) -> PydanticCustomError:
    return PydanticCustomError("telemetry", "{reason}", {"reason": reason})


class Telemetry(BaseModel):
    """Off without an endpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Whether the collector may be at an address of this network, and be reached without https.
    private: bool = False
    # The collector's address; /v1/traces is added to it.
    endpoint: str | None = Field(default=None, max_length=2000)
    protocol: Protocol = "http/protobuf"
    # The variable that holds the headers, as name=value,name=value.
    headers_variable: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    # Whether prompts, answers, arguments, outputs and paths are sent too.
    content: bool = False

    @property
    def is_on(self) -> bool:
        return self.endpoint is not None

    @property
    def allows_private(self) -> bool:
        return self.private or is_loopback(urlsplit(self.endpoint or "").hostname or "")

    @property
    def host(self) -> str:
        """What is told of the address: a path may hold a secret."""
        return urlsplit(self.endpoint or "").netloc

    @property
    def traces_url(self) -> str:
        return f"{(self.endpoint or '').rstrip('/')}/v1/traces"

    @field_validator("endpoint")
    @classmethod
    def _be_an_address(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url is None:
            return None
        if not url.isascii() or " " in url or not is_address(url):
            raise _refused(_NO_ADDRESS)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise _refused(_NO_ADDRESS)
        if parts.username is not None or parts.password is not None:
            raise _refused("No user and no password in an address: use headers_variable instead.")
        if parts.query or parts.fragment:
            raise _refused("Leave out what follows ? or #. For a key, use headers_variable.")
        if parts.path.rstrip("/").endswith("/v1/traces"):
            raise _refused("Leave out /v1/traces: it is added.")
        is_ours = info.data.get("private") or is_loopback(parts.hostname or "")
        if parts.scheme == "http" and not is_ours:
            raise _refused(
                "Over http everybody on the way can read the traces. Use https, or set "
                "private = true if the collector is in your own network."
            )
        return url


NO_TELEMETRY: Final = Telemetry()


def headers_of(telemetry: Telemetry, environ: Mapping[str, str]) -> dict[str, str]:
    """What the variable holds, in the form that OpenTelemetry's own variable has."""
    name = telemetry.headers_variable
    if not telemetry.is_on or name is None:
        return {}
    text = environ.get(name, "").strip()
    if not text:
        raise SettingsInvalid(
            f"telemetry.headers_variable: {name} is not set. Set it before `airboss serve`, for "
            "example to: authorization=Bearer%20KEY"
        )
    headers: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        header, is_there, value = part.partition("=")
        header, value = unquote(header.strip()).lower(), unquote(value.strip())
        is_good = is_there and _NAME.fullmatch(header) and _VALUE.fullmatch(value)
        if not is_good or header in CONNECTION_HEADERS:
            raise SettingsInvalid(
                f"telemetry.headers_variable: {name} does not hold headers. Write name=value, with "
                "a comma between two of them, and a space as %20."
            )
        headers[header] = value
    return headers
