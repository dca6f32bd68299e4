"""Who may come in: by a token, or by a one-time code. Browsers that did are in `sign_ins`."""

import hmac
import logging
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import NotFound, SettingsInvalid, StoreUnavailable
from airboss.model.audit_events import TokenFacts
from airboss.model.roles import Role
from airboss.store.folder import DataFolder
from airboss.store.tokens import (
    OWNER,
    NamedToken,
    NamedTokens,
    digest,
    keep_owner_token,
    read_owner_token,
    take_token_from_environment,
)

__all__ = ["Access", "take_token_from_environment"]

CODE_SECONDS = 10 * 60

# Of one name; the oldest goes. Other names' are not pushed out.
_MOST_CODES = 64

_log = logging.getLogger("airboss.access")


@dataclass(frozen=True)
class _Code:
    name: str
    fingerprint: str
    until: float
    # Whether whoever asked for it is still in.
    is_in: Callable[[], bool]


@dataclass(frozen=True)
class _Known:
    """A token as it is recognised, and what stands for it in the sign-ins that came from it."""

    sha256: str
    fingerprint: str
    role: Role
    # Seconds, as clocks count them.
    until: float


class Access:
    """The tokens that count now. `refresh` reads the disk; all else is memory, on one thread."""

    def __init__(
        self,
        folder: DataFolder,
        given: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._given = given
        self._clock = clock
        self._named = NamedTokens(folder)
        self._codes: dict[str, _Code] = {}
        self._known: dict[str, _Known] = {}
        self._seen: tuple[object, object] | None = None
        # How often the tokens were read, and whether the last time all of them could be.
        self.version = 0
        self.is_certain = False
        # Browsers share the cookies of one host among all its ports.
        self.cookie_name = f"airboss_{digest(folder.owner_id())[:8]}"
        # For those who remove secrets from what is stored: one that was given may have any shape.
        self.token = given or keep_owner_token(folder)
        _forget_cookie_key(folder)
        self.refresh()

    def refresh(self) -> None:
        """Blocks: asks the disk whether tokens came or went, and reads them only then."""
        owner = None if self._given else _stamp(self._folder.token)
        seen = (owner, _stamp(self._folder.named_tokens))
        if seen != self._seen:
            known = self._read()
            self._known = {name: _known(name, token) for name, token in known.items()}
            self._seen = seen
            self.version += 1

    def _read(self) -> dict[str, NamedToken]:
        """Whatever cannot be read lets nobody in."""
        known: dict[str, NamedToken] = {}
        self.is_certain = True
        try:
            known = self._named.read()
        except (SettingsInvalid, StoreUnavailable) as error:
            self.is_certain = False
            _log.error("%s", error)
        try:
            owner = self._given or read_owner_token(self._folder)
        except (SettingsInvalid, StoreUnavailable) as error:
            self.is_certain = False
            _log.error("%s", error)
            owner = None
        if owner:
            known[OWNER] = NamedToken(sha256=digest(owner), created_at=0, role="own")
        else:
            known.pop(OWNER, None)
        return known

    def who(self, bearer: str) -> str | None:
        """Whose token this is. Every known one is compared, so that time tells nothing."""
        found = self._named_by(bearer)
        return found if found and self._counting(found) else None

    def is_past(self, bearer: str) -> bool:
        """Whether this is a token whose end has come. Only its holder can ask."""
        found = self._named_by(bearer)
        return found is not None and self._counting(found) is None

    def _named_by(self, bearer: str) -> str | None:
        presented = digest(bearer)
        found = None
        for name, known in self._known.items():
            if hmac.compare_digest(presented, known.sha256):
                found = name
        return found

    def fingerprint(self, name: str) -> str | None:
        """Stands for a name's token: another once that is replaced, none once it is gone or its
        end has come."""
        known = self._counting(name)
        return known.fingerprint if known else None

    def role(self, name: str) -> Role | None:
        """What the holder of a name's token may do now; None for one that does not count."""
        known = self._counting(name)
        return known.role if known else None

    def until(self, name: str) -> float:
        """When a name's token ends, in seconds; infinity for one without an end."""
        known = self._known.get(name)
        return known.until if known else math.inf

    def tokens(self) -> tuple[TokenFacts, ...]:
        """All that have a name, with what each may do."""
        return tuple(
            TokenFacts(
                name=name,
                role=known.role,
                until=None if known.until == math.inf else int(known.until * 1000),
            )
            for name, known in sorted(self._known.items())
        )

    def _counting(self, name: str) -> _Known | None:
        known = self._known.get(name)
        return known if known and known.until > self._clock() else None

    def new_code(self, name: str, is_in: Callable[[], bool] = lambda: True) -> str:
        """For the address that lets a browser in once, as `name`, while whoever asked is in: a
        sign-in that was ended must not come back by a code that it had put aside."""
        fingerprint = self.fingerprint(name)
        if fingerprint is None:
            raise NotFound("token named", name)
        now = self._clock()
        self._codes = {code: kept for code, kept in self._codes.items() if kept.until > now}
        of_name = [code for code, kept in self._codes.items() if kept.name == name]
        if len(of_name) >= _MOST_CODES:
            del self._codes[of_name[0]]
        code = secrets.token_urlsafe(24)
        self._codes[digest(code)] = _Code(name, fingerprint, now + CODE_SECONDS, is_in)
        return code

    def redeem(self, code: str) -> str | None:
        """The name that a code is for, once."""
        return self._name_of(self._codes.pop(digest(code), None))

    def name_of_code(self, code: str) -> str | None:
        """The name that a code is for. It can still be redeemed."""
        return self._name_of(self._codes.get(digest(code)))

    def _name_of(self, kept: _Code | None) -> str | None:
        if kept is None or kept.until <= self._clock() or not kept.is_in():
            return None
        return kept.name if self.fingerprint(kept.name) == kept.fingerprint else None


def _known(name: str, token: NamedToken) -> _Known:
    until = math.inf if token.until is None else token.until / 1000
    return _Known(token.sha256, digest(f"sign-ins of {name} {token.sha256}"), token.role, until)


def _forget_cookie_key(folder: DataFolder) -> None:
    """Earlier versions signed cookies with it: whoever had read it could make one."""
    try:
        (folder.path / "cookie-key").unlink(missing_ok=True)
    except OSError as error:
        _log.warning("Could not delete the unused file cookie-key: %s", error)


def _stamp(file: Path) -> object:
    """Changes whenever the file does; None when there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size)
