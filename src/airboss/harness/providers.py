"""What a provider of one's own is to the runtime, and what it is to the proxy in between."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

from airboss.provider_settings import CONNECTION_HEADERS, Provider, ProviderModel, is_credential

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

# Where a provider of the type azure has no key, the runtime asks the cloud's metadata service for
# one. It is no secret, and goes nowhere: the proxy puts the key in its place.
PLACEHOLDER_KEY: Final = "airboss-adds-the-key"

# A body that goes on as it came keeps its length and its encoding.
_OF_THE_BODY: Final = frozenset({"content-length", "content-encoding"})
# What the runtime does not get, beside what belongs to the connection.
# With the demand for a sign-in the runtime would sign in at our own address.
_NOT_ANSWERED: Final = frozenset({"set-cookie", "location", "alt-svc", "www-authenticate"})


# What a session asks of a model's service, below its address: of OpenAI's kind, of Azure's, of
# Anthropic's.
_MODEL_CALL: Final = re.compile(
    r"(/openai)?(/v1|/deployments/[^/]+)?"
    r"/(chat/completions|completions|responses|embeddings|messages(/count_tokens)?|models)"
)


def is_model_call(path: str) -> bool:
    return _MODEL_CALL.fullmatch(path) is not None


@dataclass(frozen=True)
class Upstream:
    """A provider as the proxy calls it. It holds the key: it is never shown."""

    name: str
    base_url: str
    # Sent with every request, the key among them.
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    allows_private: bool = False
    # What it is, for people.
    what: str = "provider"
    # What no answer of it may repeat to the runtime.
    hidden: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # Below its address: all that is asked for there, where that is not everything.
    paths: frozenset[str] | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """An MCP server is told by DELETE that a session is over. A provider would take it for an
        order to delete what its owner keeps there."""
        return ("GET", "POST", "DELETE") if self.what == "MCP server" else ("GET", "POST")

    @property
    def setting(self) -> str:
        """The setting with its address."""
        known = {"provider": "base_url", "service": "COPILOT_API_URL"}
        return known.get(self.what, "url")

    @property
    def path(self) -> str:
        """What every address of it begins with, behind the host."""
        return urlsplit(self.base_url).path.rstrip("/")

    def address(self, path: str, query: str) -> str | None:
        """Where a request for this path goes. Nothing where that is not below the base address."""
        if not (path == self.path or path.startswith(f"{self.path}/")) or _climbs(path):
            return None
        if self.paths is not None and path[len(self.path) :] not in self.paths:
            return None
        base = urlsplit(self.base_url)
        queries = "&".join(part for part in (base.query, query) if part)
        return urlunsplit((base.scheme, base.netloc, path, queries, ""))


def upstream_of(provider: Provider, key: str | None) -> Upstream:
    headers, hidden = dict(provider.headers), (key,) if key else ()
    if key:
        name, value = _credential(provider, key)
        headers[name] = value
    allows_private = provider.private or provider.is_on_loopback
    return Upstream(provider.name, provider.base_url, headers, allows_private, hidden=hidden)


def runtime_provider(provider: Provider, model: ProviderModel) -> dict[str, Any]:
    """In the SDK's words, without an address: that is the proxy's. `model_id` stays out: where it
    differs from the session's model, the runtime passes over `wire_model`."""
    found: dict[str, Any] = {
        "type": provider.type,
        "api_key": PLACEHOLDER_KEY,
        "wire_api": provider.wire,
        "azure": provider.api_version and {"api_version": provider.api_version},
        "wire_model": model.wire_model,
        "max_prompt_tokens": model.prompt_tokens,
        "max_output_tokens": model.output_tokens,
    }
    return {name: value for name, value in found.items() if value}


def request_headers(
    given: Iterable[tuple[bytes, bytes]], upstream: Upstream, token: str | None = None
) -> RawHeaders:
    """What the runtime says, without its credentials; the provider's own instead, and the `token`
    of a person who signed in."""
    added = {name.lower().encode(): value.encode() for name, value in upstream.headers.items()}
    if token is not None:
        added[b"authorization"] = f"Bearer {token}".encode()
    kept = [pair for pair in _passed_on(given) if pair[0] not in added]
    return [*kept, *added.items(), (b"accept-encoding", b"identity")]


def answer_headers(given: Iterable[tuple[bytes, bytes]], *, is_packed: bool = False) -> RawHeaders:
    """What was packed is unpacked on its way, and then has another length."""
    left_out = _NOT_ANSWERED | _OF_THE_BODY if is_packed else _NOT_ANSWERED
    return [pair for pair in _passed_on(given) if pair[0].decode("latin-1") not in left_out]


def _passed_on(given: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    headers = [(name.lower(), value) for name, value in given]
    # A body that comes in pieces has no other length than theirs.
    is_chunked = any(name == b"transfer-encoding" for name, _ in headers)
    return [
        (name, value)
        for name, value in headers
        if not _stays_here(name.decode("latin-1"))
        and not (is_chunked and name == b"content-length")
    ]


def _stays_here(name: str) -> bool:
    return (name in CONNECTION_HEADERS and name not in _OF_THE_BODY) or is_credential(name)


def _credential(provider: Provider, key: str) -> tuple[str, str]:
    if provider.auth == "key" and provider.type == "azure":
        return "api-key", key
    if provider.auth == "key" and provider.type == "anthropic":
        return "x-api-key", key
    return "authorization", f"Bearer {key}"


def _climbs(path: str) -> bool:
    """Whether a step of it leads upwards, however that is written."""
    return any(step in (".", "..") for step in re.split(r"[/\\]", unquote(unquote(path))))
