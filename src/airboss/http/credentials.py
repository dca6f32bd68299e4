"""What a request shows to get in: a token, or the cookie and the key of a sign-in."""

import functools
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from airboss.http.bounds import Headers
from airboss.http.refusals import RefusedAnswer
from airboss.model.ids import SignInId
from airboss.model.roles import Role
from airboss.service.access import Access
from airboss.service.sign_ins import SignIns

KEY_HEADER = b"x-airboss-key"
_MOST_KEYS = 4
# As many as a browser keeps for one host, and a few more.
_MOST_COOKIES = 256
_SIGN_IN_AGAIN = (
    "To sign in again, run `airboss link` on the machine running Airboss and open the link."
)

_ENDED = (
    "This token has expired. To extend it, run `airboss token change NAME --until DATE` on the "
    "machine running Airboss."
)


@dataclass(frozen=True)
class Caller:
    """Who asks, by which sign-in (none for a token), and whether they are in at this moment."""

    name: str
    sign_in: SignInId | None
    is_in: Callable[[], bool]
    # Of the token, now: it may have changed since the request began. None for one that is out.
    role: Callable[[], Role | None]


@dataclass(frozen=True)
class Credentials:
    """All values of each kind: a doubled one must not hide behind its twin."""

    bearers: tuple[str, ...]
    cookies: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def is_cookie_at_most(self) -> bool:
        """Whether it shows nothing but what a browser sends by itself."""
        return not self.bearers and not self.keys


@dataclass(frozen=True)
class Doorkeeper:
    """Knows callers by what they show."""

    access: Access
    sign_ins: SignIns

    def shown(self, headers: Headers) -> Credentials:
        return Credentials(
            _bearers(headers), _cookies(headers, self.access.cookie_name), _keys(headers)
        )

    def find(self, shown: Credentials) -> Caller | None:
        if shown.bearers:
            return self._by_token(shown.bearers[0]) if len(shown.bearers) == 1 else None
        sign_in = self.sign_ins.recognise(shown.cookies, shown.keys)
        if sign_in is None:
            return None
        name = sign_in.name
        is_open = functools.partial(self.sign_ins.is_open, sign_in)
        return Caller(name, sign_in.id, is_open, functools.partial(self.access.role, name))

    def _by_token(self, bearer: str) -> Caller | None:
        name = self.access.who(bearer)
        if name is None:
            return None
        fingerprint = self.access.fingerprint_of(bearer) or ""
        role = functools.partial(self.access.role, name)
        return Caller(name, None, functools.partial(self.access.counts, name, fingerprint), role)

    def refusal(self, shown: Credentials) -> RefusedAnswer:
        """Why nobody was found, and the way in."""
        if len(shown.bearers) == 1 and self.access.is_past(shown.bearers[0]):
            return RefusedAnswer(401, "token_ended", _ENDED)
        return _unknown(shown)


def _unknown(shown: Credentials) -> RefusedAnswer:
    """What a cookie alone is worth is not told."""
    if shown.bearers:
        return RefusedAnswer(
            401,
            "wrong_token",
            "This token is not valid, or no longer valid. "
            "To sign in, open the link that `airboss serve` prints.",
            guessed=True,
        )
    if not shown.cookies:
        return RefusedAnswer(
            401,
            "token_needed",
            "A token is required. Send it as `Authorization: Bearer …`, or open the link that "
            "`airboss serve` prints.",
        )
    # Signed, not random: the form of the cookies that earlier versions gave.
    if all(cookie.startswith("v1.") for cookie in shown.cookies):
        return RefusedAnswer(
            401,
            "sign_in_outdated",
            "This browser was signed in by an earlier version of Airboss. Such sign-ins are no "
            f"longer accepted. {_SIGN_IN_AGAIN}",
        )
    if not shown.keys:
        return RefusedAnswer(
            401,
            "key_needed",
            "The key of this sign-in is missing. The browser's storage for this site may have been "
            f"cleared. {_SIGN_IN_AGAIN}",
        )
    return RefusedAnswer(
        401, "signed_out", f"This sign-in has ended. {_SIGN_IN_AGAIN}", guessed=True
    )


def peer(scope: Scope, headers: Headers, *, is_proxied: bool) -> str:
    """From where, for people to read. Nothing is decided by it: a proxy's word is only as good as
    the proxy."""
    if is_proxied and (said := headers.get(b"x-forwarded-for", ())):
        last = said[-1].decode("latin-1").rpartition(",")[2].strip()
        try:
            return str(ipaddress.ip_address(last))
        except ValueError:
            pass
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _bearers(headers: Headers) -> tuple[str, ...]:
    """Other schemes are not for us: a proxy in front may have one of its own."""
    found: list[str] = []
    for value in headers.get(b"authorization", ()):
        scheme, _, token = value.decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            found.append(token.strip())
    return tuple(found)


def _cookies(headers: Headers, name: str) -> tuple[str, ...]:
    """A neighbour on another port of this host may have set some of the same name, for longer
    paths: those come before ours, which stays the one that counts."""
    pairs = (pair for line in headers.get(b"cookie", ()) for pair in line.split(b";"))
    parts = (pair.decode("latin-1").strip().partition("=") for pair in pairs)
    return tuple(value for key, _, value in parts if key == name)[:_MOST_COOKIES]


def _keys(headers: Headers) -> tuple[str, ...]:
    """A page has those of all servers that were at its address, one after the other."""
    said = (value.decode("latin-1") for value in headers.get(KEY_HEADER, ()))
    keys = (key.strip() for line in said for key in line.split(","))
    return tuple(key for key in keys if key)[:_MOST_KEYS]
