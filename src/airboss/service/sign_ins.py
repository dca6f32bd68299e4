"""Browsers that are signed in: begun with a code, recognised by two secrets, ended at once.

The cookie reaches every port of its host, and whatever listens there. So it is not enough: the page
keeps a key beside it, per origin, and both must be of the same sign-in."""

import asyncio
import hmac
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from airboss.background import Background
from airboss.errors import NotFound, StoreUnavailable
from airboss.model.audit_events import Actor, BrowserSignedIn, BrowserSignedOut
from airboss.model.ids import SignInId, new_sign_in_id
from airboss.model.sign_ins import SignIn
from airboss.service.access import Access
from airboss.service.audit import SERVER, Audit, actor
from airboss.store.sign_ins import KeptSignIn, SignInStore
from airboss.store.tokens import LOCAL, digest, new_token

SIGN_IN_SECONDS = 30 * 24 * 3600
# Of one name; the one that was not used for longest goes. Other names' are not pushed out.
MOST_OF_ONE_NAME = 100
_WRITE_USE_MS = 60_000
_NOBODY = digest("")

Why: TypeAlias = Literal["asked", "replaced", "token-gone", "time"]

_log = logging.getLogger("airboss.access")


@dataclass(frozen=True)
class Begun:
    """The two secrets of a new sign-in, which nobody sees again."""

    sign_in: SignIn
    cookie: str
    key: str


@dataclass
class SignIns:
    """Loaded once; all that a request needs is in memory, and what is in memory is on disk."""

    store: SignInStore
    access: Access
    clock: Callable[[], float] = time.time
    audit: Audit | None = None
    # Tells other servers on the same database that one came or went.
    announce: Callable[[], None] = lambda: None
    _kept: dict[SignInId, KeptSignIn] = field(default_factory=dict[SignInId, KeptSignIn])
    _by_cookie: dict[str, SignInId] = field(default_factory=dict[str, SignInId])
    _unwritten: dict[SignInId, int] = field(default_factory=dict[SignInId, int])
    _writing: "asyncio.Task[None] | None" = None
    _background: Background = field(default_factory=lambda: Background("sign-ins"))
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    # The version of the tokens that all of them came from.
    _settled: int = 0

    async def load(self) -> None:
        for kept in await self.store.all():
            self._keep(kept)
        await self._drop((kept for kept in self._all() if kept.until <= self._now()), "time")
        await self.settle()

    async def look(self) -> None:
        """What other servers on the same database began and ended."""
        async with self._changing:
            found = {kept.id: kept for kept in await self.store.all()}
            self._forget([kept for kept in self._all() if kept.id not in found])
            for kept in found.values():
                if kept.id not in self._kept:
                    self._keep(kept)
        await self.settle()

    async def close(self) -> None:
        """When each was last used, as of the end."""
        await self._background.close()
        await self._write_use()

    async def begin(
        self, name: str, address: str, device: str, instead_of: SignInId | None = None
    ) -> Begun:
        """Signs a browser in, on disk when this answers; its earlier sign-in, if any, ends."""
        token = self.access.fingerprint(name)
        if token is None:
            raise NotFound("token named", name)
        cookie, key, now = new_token(), new_token(), self._now()
        kept = KeptSignIn(
            id=new_sign_in_id(),
            cookie=digest(cookie),
            key=digest(key),
            name=name,
            token=token,
            address=address,
            device=device,
            since=now,
            until=int(min(now + SIGN_IN_SECONDS * 1000, self.access.until(name) * 1000)),
            used_at=now,
        )
        async with self._changing:
            gone = [old for old in self._all() if old.until <= now or old.id == instead_of]
            gone += self._too_many(name)
            await self.store.add(kept, [old.id for old in gone])
            self._forget(gone)
            self._keep(kept)
        self.announce()
        _log.info("%s signed in from %s (%s)", name, address, kept.id)
        await self._record_begin(kept, gone, now)
        return Begun(_shown(kept), cookie, key)

    def _too_many(self, name: str) -> list[KeptSignIn]:
        of_name = [kept for kept in self._all() if kept.name == name]
        of_name.sort(key=lambda kept: kept.used_at, reverse=True)
        return of_name[MOST_OF_ONE_NAME - 1 :]

    def recognise(self, cookies: Iterable[str], keys: Sequence[str]) -> SignIn | None:
        """Whose browser shows these. A cookie without its key is nobody's."""
        shown = [digest(key) for key in keys]
        found = None
        for cookie in cookies:
            kept = self._with_cookie(digest(cookie))
            for key in shown:
                fits = hmac.compare_digest(key, kept.key if kept else _NOBODY)
                if kept and fits and self._counts(kept):
                    found = kept
        return self._used(found) if found else None

    def is_open(self, sign_in: SignIn) -> bool:
        kept = self._kept.get(sign_in.id)
        return kept is not None and self._counts(kept)

    def _counts(self, kept: KeptSignIn) -> bool:
        return kept.until > self._now() and self.access.counts(kept.name, kept.token)

    def _used(self, kept: KeptSignIn) -> SignIn:
        now = self._now()
        if now - kept.used_at >= _WRITE_USE_MS:
            kept = self._kept[kept.id] = replace(kept, used_at=now)
            self._unwritten[kept.id] = now
            if self._writing is None or self._writing.done():
                self._writing = self._background.start(self._write_use(), "use")
        return _shown(kept)

    async def _write_use(self) -> None:
        used, self._unwritten = self._unwritten, {}
        try:
            if used:
                await self.store.note_used(used)
        except StoreUnavailable as error:
            _log.warning("When sign-ins were last used was not written: %s", error)

    def seen_by(self, who: str) -> list[SignIn]:
        """The newest first. Owners see those of every name, others their own."""
        seen = [kept for kept in self._all() if self._counts(kept) and self._may_see(who, kept)]
        return [_shown(kept) for kept in sorted(seen, key=lambda kept: kept.since, reverse=True)]

    async def end(self, sign_in: str, who: str) -> None:
        """What it shows gets in no longer, and what it has open is closed."""
        kept = self._kept.get(SignInId(sign_in))
        if kept is None or not self._may_see(who, kept):
            raise NotFound("sign-in", sign_in)
        await self._drop([kept], "asked", who)
        _log.info("%s ended the sign-in %s of %s", who, kept.id, kept.name)

    async def end_all(self, who: str, *, but: SignInId | None = None) -> int:
        """All that `who` sees; how many those were."""
        gone = [kept for kept in self._all() if kept.id != but and self._may_see(who, kept)]
        await self._drop(gone, "asked", who)
        _log.info("%s ended %d sign-ins", who, len(gone))
        return len(gone)

    async def settle(self) -> None:
        """Ends those whose token was removed or replaced. They count no longer in any case, so a
        disk that cannot be written is no reason to keep anybody waiting."""
        if self._settled == self.access.version:
            return
        self._settled = self.access.version
        if self.audit:
            await self.audit.take_token_changes()
        if not self.access.is_certain:  # a damaged file says nothing about who was removed
            return
        gone = [kept for kept in self._all() if not self.access.counts(kept.name, kept.token)]
        try:
            await self._drop(gone, "token-gone")
        except StoreUnavailable as error:
            _log.warning("Sign-ins whose token is gone were not deleted: %s", error)

    async def _drop(self, gone: Iterable[KeptSignIn], why: Why, who: str | None = None) -> None:
        """On disk first: one that a full disk kept would be back after the next start."""
        leaving = list(gone)
        if not leaving:
            return
        async with self._changing:
            removed = await self.store.remove([kept.id for kept in leaving])
            self._forget(leaving)
        self.announce()
        # What another server was faster at, that one has told.
        for kept in (one for one in leaving if one.id in removed):
            await self._record_end(kept, why, actor(who) if who else SERVER)

    async def _record_begin(self, kept: KeptSignIn, gone: list[KeptSignIn], now: int) -> None:
        for old in gone:
            await self._record_end(old, "time" if old.until <= now else "replaced", SERVER)
        if self.audit:
            await self.audit.write(
                BrowserSignedIn(
                    by=Actor(who=kept.name, address=kept.address, via="page"),
                    sign_in=kept.id,
                    device=kept.device,
                    until=kept.until,
                )
            )

    async def _record_end(self, kept: KeptSignIn, why: Why, by: Actor) -> None:
        if self.audit:
            await self.audit.write(
                BrowserSignedOut(by=by, sign_in=kept.id, name=kept.name, why=why)
            )

    def _keep(self, kept: KeptSignIn) -> None:
        self._kept[kept.id] = kept
        self._by_cookie[kept.cookie] = kept.id

    def _forget(self, gone: Iterable[KeptSignIn]) -> None:
        for kept in gone:
            self._kept.pop(kept.id, None)
            self._by_cookie.pop(kept.cookie, None)
            self._unwritten.pop(kept.id, None)

    def _with_cookie(self, cookie: str) -> KeptSignIn | None:
        sign_in = self._by_cookie.get(cookie)
        return self._kept[sign_in] if sign_in else None

    def _all(self) -> list[KeptSignIn]:
        return list(self._kept.values())

    def _may_see(self, who: str, kept: KeptSignIn) -> bool:
        return kept.name == who or who == LOCAL or self.access.role(who) == "own"

    def _now(self) -> int:
        return int(self.clock() * 1000)


def _shown(kept: KeptSignIn) -> SignIn:
    return SignIn(
        id=kept.id,
        name=kept.name,
        address=kept.address,
        device=kept.device,
        since=kept.since,
        until=kept.until,
        used_at=kept.used_at,
    )
