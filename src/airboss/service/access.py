"""Who may come in: by a token, or by a one-time code. Browsers that did are in `sign_ins`."""

import hmac
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airboss.errors import NotFound, SettingsInvalid, StoreUnavailable
from airboss.model.audit_events import TokenFacts
from airboss.model.roles import Role
from airboss.store.folder import DataFolder
from airboss.store.shared_access import AccessStore, KeptCode
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
    """The tokens that count now. `refresh` reads the disk, `look` the database that servers share;
    what requests are compared with is memory."""

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
        # Where several servers share a database: what it says, and the owners of the others.
        self._store: AccessStore | None = None
        self._shared: dict[str, NamedToken] = {}
        self._owners: dict[str, _Known] = {}
        self._reading = threading.Lock()
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
        seen = (owner, None if self._store else _stamp(self._folder.named_tokens))
        with self._reading:
            if seen != self._seen:
                self._know(self._read())
                self._seen = seen

    def _know(self, known: dict[str, NamedToken]) -> None:
        self._known = {name: _known(name, token) for name, token in known.items()}
        self.version += 1

    async def share(self, store: AccessStore, *, lets_in: bool) -> None:
        """From now on all servers on a database let in whom one of them does. The owner of a
        folder whose process has no pages is let in by none of them."""
        self._store, self._seen = store, None
        self.cookie_name = f"airboss_{digest(await store.cookies())[:8]}"
        if lets_in:
            await store.keep_owner(digest(self.token))
        await self.look()

    async def look(self) -> None:
        """What the database says by now, where several servers share one."""
        if self._store is None:
            return
        named, owners = await self._store.tokens()
        others = {one.fingerprint: one for one in (_known(OWNER, token) for token in owners)}
        with self._reading:
            if (named, others) != (self._shared, self._owners) or self._seen is None:
                self._shared, self._owners = named, others
                self._know(self._read())

    def _read(self) -> dict[str, NamedToken]:
        """Whatever cannot be read lets nobody in."""
        known: dict[str, NamedToken] = {}
        self.is_certain = True
        try:
            known = dict(self._shared) if self._store else self._named.read()
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
        return found[0] if found and self.counts(*found) else None

    def is_past(self, bearer: str) -> bool:
        """Whether this is a token whose end has come. Only its holder can ask."""
        found = self._named_by(bearer)
        return found is not None and not self.counts(*found)

    def fingerprint_of(self, bearer: str) -> str | None:
        """Stands for this very token."""
        found = self._named_by(bearer)
        return found[1] if found else None

    def _named_by(self, bearer: str) -> tuple[str, str] | None:
        """The name of a token, and what stands for it."""
        presented = digest(bearer)
        found = None
        owners = ((OWNER, known) for known in self._owners.values())
        for name, known in (*owners, *self._known.items()):
            if hmac.compare_digest(presented, known.sha256):
                found = name, known.fingerprint
        return found

    def counts(self, name: str, fingerprint: str) -> bool:
        """Whether what stands for a token of this name still does. Each server's owner is one."""
        other = self._owners.get(fingerprint) if name == OWNER else None
        if other is not None:
            return other.until > self._clock()
        return self.fingerprint(name) == fingerprint

    def fingerprint(self, name: str) -> str | None:
        """Stands for a name's token: another once that is replaced, none once it is gone or its
        end has come."""
        known = self._counting(name)
        return known.fingerprint if known else None

    def role(self, name: str) -> Role | None:
        """What the holder of a name's token may do now; None for one that does not count."""
        known = self._counting(name)
        if known is None and name == OWNER and self._owners:
            return "own"
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

    async def make_code(
        self, name: str, is_in: Callable[[], bool] = lambda: True, sign_in: str | None = None
    ) -> str:
        """The same as `new_code`, good at every server that shares a database."""
        fingerprint = self.fingerprint(name)
        if self._store is None or fingerprint is None:
            return self.new_code(name, is_in)
        code = secrets.token_urlsafe(24)
        kept = KeptCode(name, fingerprint)
        await self._store.add_code(digest(code), kept, sign_in, CODE_SECONDS, _MOST_CODES)
        return code

    async def name_of(self, code: str) -> str | None:
        """The name that a code is for, whichever server made it. It can still be redeemed."""
        if self._store is None:
            return self.name_of_code(code)
        return self._counting_name(await self._store.look_at_code(digest(code)))

    async def take(self, code: str) -> str | None:
        """The name that a code is for, once."""
        if self._store is None:
            return self.redeem(code)
        return self._counting_name(await self._store.take_code(digest(code)))

    def _counting_name(self, kept: KeptCode | None) -> str | None:
        return kept.name if kept and self.counts(kept.name, kept.token) else None

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
