"""The accounts of Copilot: which of them a session gets, and which of them rest for a while."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from airboss.account_settings import Account, ReadKept, nothing_kept
from airboss.errors import NotSignedIn
from airboss.harness.identity import Login, WantedLogin, logins_for, version_of
from airboss.harness.token_command import AccountToken, NoToken, run_token_command
from airboss.model.redaction import Learn

FIRST_REST_SECONDS: Final = 30.0
LONGEST_REST_SECONDS: Final = 3600.0
# Also where the service says that it may be asked again at once: then it is another's turn.
SHORTEST_REST_SECONDS: Final = 5.0

AccountStateName: TypeAlias = Literal["fine", "resting", "missing"]


@dataclass(frozen=True)
class Grant:
    """An account that a session is opened with. It holds a secret: it is never shown."""

    name: str
    is_cli: bool = False
    is_account: bool = False
    token: str | None = field(default=None, repr=False)
    # Asks for a token again, where one lasts long enough for that.
    renew: "Callable[[], Awaitable[AccountToken]] | None" = field(default=None, repr=False)
    profile: str | None = None
    version: str | None = None

    @property
    def renewed(self) -> "Callable[[], Awaitable[tuple[str, int]]] | None":
        """As the runtime asks for it."""
        renew = self.renew
        if renew is None:
            return None

        async def next_token() -> tuple[str, int]:
            token = await renew()
            return token.text, token.seconds or 0

        return next_token


@dataclass(frozen=True)
class Rest:
    """Until then others come first."""

    until: float
    seconds: float
    why: str


@dataclass(frozen=True)
class AccountState:
    """An account as people see it."""

    name: str
    how: str
    state: AccountStateName
    sessions: int
    resting_until: float | None = None
    why: str | None = None


@dataclass
class Accounts:
    """Those of the settings in their order; without any, the one of the environment or the CLI's.
    `learn` is told every token, so that nobody says one."""

    accounts: tuple[Account, ...]
    environ: Mapping[str, str]
    read_kept: ReadKept = nothing_kept
    learn: Learn = lambda *_tokens, of="": None
    now: Callable[[], float] = time.time
    # Whether the CLI has a user, once somebody asked.
    cli_is_signed_in: bool | None = None
    # How many sessions are open on each.
    sessions: Counter[str] = field(default_factory=Counter[str])
    _rests: dict[str, Rest] = field(default_factory=dict[str, Rest])

    def replace(self, accounts: Sequence[Account]) -> None:
        """From now on these. What is known of those that stay, stays."""
        self.accounts = tuple(accounts)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(account.name for account in self.accounts)

    @property
    def has_token(self) -> bool:
        """Whether anything but the CLI's sign-in is there."""
        return any(login.source != "cli" for login in self.logins())

    def logins(self, account: str | None = None) -> tuple[Login, ...]:
        return logins_for(WantedLogin(account), self.accounts, self.environ)

    def order(
        self, account: str | None = None, offering: Collection[str] | None = None
    ) -> list[Login]:
        """Those that may be used, and of them those that offer the model. Who rests comes last,
        whoever wakes soonest first."""
        logins = [one for one in self.logins(account) if offering is None or one.name in offering]
        awake = [one for one in logins if self.rest_of(one.name) is None]
        resting = [one for one in logins if one not in awake]
        return [*awake, *sorted(resting, key=lambda one: self._rests[one.name].until)]

    def rest_of(self, name: str) -> Rest | None:
        rest = self._rests.get(name)
        return rest if rest is not None and rest.until > self.now() else None

    def rest(self, name: str, why: str, seconds: float | None = None) -> Rest:
        """It was refused: others come first for a while, and each time for longer, until it has
        worked again. While it rests, more of the same is no news."""
        before, now = self._rests.get(name), self.now()
        told = None if seconds is None else max(seconds, SHORTEST_REST_SECONDS)
        if before is not None and now < before.until:
            until = before.until if told is None else now + told
            rest = Rest(until, before.seconds, why)
        else:
            if before is not None and now - before.until > LONGEST_REST_SECONDS:
                before = None
            doubled = FIRST_REST_SECONDS if before is None else before.seconds * 2
            length = min(doubled, LONGEST_REST_SECONDS)
            rest = Rest(now + (length if told is None else told), length, why)
        self._rests[name] = rest
        return rest

    def worked(self, name: str) -> None:
        self._rests.pop(name, None)

    def unread(self, login: Login) -> Grant:
        """Without its token."""
        if login.source == "cli":
            return Grant(login.name, is_cli=True, is_account=login.is_account)
        # A command's token changes while its account stays the same.
        text = " ".join(login.command) if login.command else self._stored(login)
        version = login.version or version_of(text)
        is_account = login.is_account
        return Grant(login.name, is_account=is_account, profile=login.name, version=version)

    async def grant(self, login: Login) -> Grant:
        """With its token, read now."""
        grant = self.unread(login)
        if grant.is_cli:
            return grant
        token = await self._token(login)
        if token.is_renewed:
            return replace(grant, renew=lambda: self._token(login))
        return replace(grant, token=token.text)

    async def _token(self, login: Login) -> AccountToken:
        if login.command is not None:
            token = await run_token_command(login.command, self.environ)
            self.learn(token.text, of=f"account {login.name}")
            return token
        text = self._stored(login)
        if not text:
            raise NoToken(f"There is no token in {login.words}.")
        self.learn(text, of=f"account {login.name}")
        return AccountToken(text)

    def _stored(self, login: Login) -> str:
        """Without the end of a line, which files of tokens often have."""
        text = login.token
        if login.variable is not None:
            text = self.environ.get(login.variable)
        elif login.kept is not None:
            text = self.read_kept(login.kept)
        return (text or "").strip()

    def is_missing(self, login: Login) -> bool:
        """As far as one can say without running anything."""
        return login.source not in ("cli", "command") and not self._stored(login)

    def states(self) -> tuple[AccountState, ...]:
        return tuple(self._state(login) for login in self.logins())

    def _state(self, login: Login) -> AccountState:
        rest, sessions = self.rest_of(login.name), self.sessions[login.name]
        if self.is_missing(login):
            why = f"There is no token in {login.words}."
            return AccountState(login.name, login.words, "missing", sessions, None, why)
        if login.source == "cli" and self.cli_is_signed_in is False:
            why = "Nobody is signed in to the Copilot CLI."
            return AccountState(login.name, login.words, "missing", sessions, None, why)
        if rest is not None:
            state: AccountStateName = "resting"
            return AccountState(login.name, login.words, state, sessions, rest.until, rest.why)
        return AccountState(login.name, login.words, "fine", sessions)

    def none_left(self, tried: Mapping[str, str]) -> NotSignedIn:
        """Names each that was tried, and when it wakes."""
        told = "; ".join(f"{name}: {why}{self._wakes(name)}" for name, why in tried.items())
        why = told or "None that is left offers the model"
        return NotSignedIn(
            f"No account of Copilot can be used now. {why}. To see them, run `airboss accounts`."
        )

    def _wakes(self, name: str) -> str:
        rest = self.rest_of(name)
        return "" if rest is None else f" (it is tried again at {clock(rest.until)})"


def clock(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S %Z")
