"""An account of Copilot for a runtime that must not have its token: it is lent a word instead.

The word says which account is meant, and is good for nothing elsewhere. The token is put in its
place on the way out, and only into the calls that a session needs.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from urllib.parse import urlsplit

from airboss.errors import AirbossError, Invalid
from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import RawHeaders, Upstream
from airboss.harness.proxy_terms import ProxyRefused
from airboss.net.loopback import Peer, Receive, Scope, Send
from airboss.provider_settings import is_loopback

if TYPE_CHECKING:
    from airboss.harness.accounts import Grant

WORD: Final = "caged"
USER_PATH: Final = "/copilot_internal/user"
# All that a session asks of Copilot's service. With its token one could do far more there.
_CALLS: Final = frozenset(
    {
        "/models",
        "/models/session",
        "/models/session/intent",
        "/auto",
        "/chat/completions",
        "/responses",
        "/v1/messages",
    }
)
_API: Final = "https://api.githubcopilot.com"
_GITHUB: Final = "https://api.github.com"
# Every shell beside the runtime may ask who it is, and each time would be one of the account's.
_KEPT_SECONDS: Final = 30.0
_MOST_BYTES: Final = 1024 * 1024
_STRANGER: Final = 401
_PASSING: Final = 502
_WORD: Final = re.compile(rf"(?:bearer|token)\s+({WORD}-[0-9a-f]+)", re.IGNORECASE)


class Call(Protocol):
    """Makes one call as the proxy makes all."""

    async def __call__(
        self,
        lent: LentAddress,
        scope: Scope,
        receive: Receive,
        send: Send,
        cut: Callable[[Peer], None],
    ) -> None: ...


@dataclass(frozen=True)
class UserAnswer:
    status: int
    body: bytes


@dataclass(frozen=True)
class CopilotService:
    """Where it is, by the same variables as for the runtime itself."""

    api_url: str | None = None
    github_url: str = _GITHUB

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "CopilotService":
        host = environ.get("COPILOT_GH_HOST") or environ.get("GH_HOST") or "github.com"
        github = environ.get("COPILOT_DEBUG_GITHUB_API_URL") or f"https://api.{host}"
        return cls(environ.get("COPILOT_API_URL") or None, github.rstrip("/"))

    @property
    def api(self) -> Upstream:
        return _service(self.api_url or _API, _CALLS)

    @property
    def user(self) -> Upstream:
        return _service(self.github_url, frozenset({USER_PATH}))


def _service(url: str, paths: frozenset[str]) -> Upstream:
    private = is_loopback(urlsplit(url).hostname or "")
    return Upstream("Copilot", url.rstrip("/"), {}, private, "service", paths=paths)


def word_in(headers: RawHeaders) -> str:
    """What a call shows in the place of a token."""
    shown = [value.decode("latin-1") for name, value in headers if name == b"authorization"]
    found = _WORD.fullmatch(shown[0].strip()) if len(shown) == 1 else None
    return found[1] if found else ""


def nonce_in(word: str) -> str:
    return word.removeprefix(f"{WORD}-")


@dataclass
class AccountPass:
    """The token of an account, and the next one where the service does not take it any more."""

    grant: "Grant" = field(repr=False)
    _token: str | None = field(default=None, repr=False)
    _renewing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def token(self) -> str | None:
        async with self._renewing:
            if self._token is None:
                self._token = self.grant.token or await self._next()
            return self._token

    async def renewed(self, stale: str) -> str | None:
        """None where there is no other."""
        async with self._renewing:
            if self._token == stale:
                self._token = await self._next() or stale
            return self._token if self._token != stale else None

    async def _next(self) -> str | None:
        if self.grant.renew is None:
            return None
        try:
            return (await self.grant.renew()).text
        except AirbossError as error:
            raise ProxyRefused(_STRANGER, str(error)) from error


def account_pass(grant: "Grant") -> AccountPass:
    if grant.is_cli:
        raise Invalid(
            "A caged session cannot use the sign-in of the Copilot CLI: its token would have to "
            "be in the cage. Name an account with a token in settings.toml, or use a provider."
        )
    return AccountPass(grant)


@dataclass
class LentAccount:
    """For one session, for as long as it is open."""

    api: LentAddress
    user: LentAddress
    service: CopilotService
    _known: UserAnswer | None = None
    _asked_at: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def word(self) -> str:
        """What the runtime has in the place of the token."""
        return f"{WORD}-{self.api.nonce}"

    def give_back(self) -> None:
        self.api.give_back()
        self.user.give_back()

    async def who(self, headers: RawHeaders, call: Call) -> UserAnswer:
        """What GitHub says of the account, without where its services are: all calls are handed to
        us, and go there."""
        async with self._asking:
            is_old = time.monotonic() - self._asked_at > _KEPT_SECONDS
            if self._known is None or is_old:
                collected = _WholeAnswer()
                scope: Scope = {
                    "type": "http",
                    "method": "GET",
                    "raw_path": USER_PATH.encode(),
                    "query_string": b"",
                    "headers": headers,
                    "client": ("door", 0),
                }
                await call(self.user, scope, collected.receive, collected.send, collected.cut)
                answer = self._learned(collected.answer())
                # What may be different a moment later is asked again.
                self._known = answer if answer.status < 500 else None
                self._asked_at = time.monotonic()
                return answer
            return self._known

    def _learned(self, answer: UserAnswer) -> UserAnswer:
        try:
            found: object = json.loads(answer.body)
        except (ValueError, RecursionError):
            return answer
        if not isinstance(found, dict):
            return answer
        said = cast("dict[str, Any]", found)
        where = said.pop("endpoints", None)
        api = cast("dict[str, Any]", where).get("api") if isinstance(where, dict) else None
        if self.service.api_url is None and isinstance(api, str) and api.startswith("https://"):
            self.api.replace(replace(self.api.upstream, base_url=api.rstrip("/")))
        return UserAnswer(answer.status, json.dumps(said).encode())


@dataclass
class _WholeAnswer:
    """An answer of the proxy, kept whole."""

    status: int = _PASSING
    body: bytearray = field(default_factory=bytearray)
    is_cut: bool = False
    _gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        self.body += message.get("body", b"")
        if len(self.body) > _MOST_BYTES:
            self.cut(None)

    def cut(self, _peer: Peer) -> None:
        self.is_cut = True
        self._gone.set()

    def answer(self) -> UserAnswer:
        if self.is_cut:
            return UserAnswer(_PASSING, b'{"message": "The answer was cut off."}')
        return UserAnswer(self.status, bytes(self.body))
