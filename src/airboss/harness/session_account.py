"""The account that one session uses, and the next one where that is refused."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from airboss.errors import AirbossError, SessionGone
from airboss.harness.account_troubles import (
    ACCOUNT_RESTING,
    REFUSED,
    AccountTrouble,
    trouble_of_opening,
    trouble_of_turn,
)
from airboss.harness.accounts import Accounts, Grant, clock
from airboss.harness.identity import Login, version_of
from airboss.harness.models import Route
from airboss.harness.token_command import NoToken
from airboss.log.writer import Writer
from airboss.model.account_events import AccountChanged
from airboss.model.setup import Setup
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import TurnFailed

Open = Callable[[Grant | None], Awaitable[RuntimeSession]]


@dataclass
class SessionAccount:
    """`now` is the one that it has, also from before a restart. It stays with it as long as that
    one works: what it costs is one person's."""

    accounts: Accounts
    writer: Writer
    now: str | None = None
    _why: str = ""
    _held: str | None = None
    # Of the token that it was opened with, and whether the service took it no more.
    _version: str | None = None
    _is_refused: bool = False

    async def opened(self, route: Route, setup: Setup, enter: Open) -> RuntimeSession:
        """On the first account that is taken. An account that is refused rests; where all are,
        the error names each."""
        if route.provider is not None:
            self._hold(None)
            return await enter(None)
        tried: dict[str, str] = {}
        while True:
            login = next((one for one in self._order(route, setup) if one.name not in tried), None)
            if login is None:
                raise self.accounts.none_left(tried)
            try:
                grant = await self.accounts.grant(login)
                agent = await enter(grant)
            except AirbossError as error:
                trouble = None if isinstance(error, SessionGone) else _trouble(error)
                if trouble is None:
                    raise
                tried[login.name] = trouble.why
                self._rest(login.name, trouble)
                if not any(one.name not in tried for one in self._order(route, setup)):
                    raise self._last_word(login, tried, error) from error
                continue
            self._take(grant)
            return agent

    def _last_word(self, login: Login, tried: dict[str, str], error: AirbossError) -> AirbossError:
        """Where the settings name nobody, what the service said is all there is to say."""
        return self.accounts.none_left(tried) if login.is_account else error

    def _order(self, route: Route, setup: Setup) -> list[Login]:
        """The one that it has comes first, unless it rests."""
        order = self.accounts.order(setup.account, route.accounts)
        # Those that offered the model may be gone by now; the service says whether others do.
        order = order or self.accounts.order(setup.account)
        own = [one for one in order if one.name == self.now]
        if not own or self.accounts.rest_of(own[0].name) is not None:
            return order
        return [*own, *(one for one in order if one is not own[0])]

    def _take(self, grant: Grant) -> None:
        if self.now is not None and self.now != grant.name:
            why = self._why or "it is not in the settings any more"
            said = {"from": self.now, "to": grant.name, "why": why}
            self.writer.say(AccountChanged.model_validate(said))
        self.now, self._why = grant.name if grant.is_account else None, ""
        self._version, self._is_refused = grant.token and version_of(grant.token), False
        self._hold(grant.name)

    def _hold(self, name: str | None) -> None:
        if self._held is not None:
            self.accounts.sessions[self._held] -= 1
        if name is not None:
            self.accounts.sessions[name] += 1
        self._held = name

    def release(self) -> None:
        self._hold(None)

    def _rest(self, name: str, trouble: AccountTrouble) -> None:
        self.accounts.rest(name, trouble.why, trouble.seconds)
        if self.now is None:
            self.now = name
        if name == self.now:
            self._why = trouble.why

    def must_move(self, route: Route, setup: Setup) -> bool:
        """Whether its next turn is for another account: its own was removed, or rests while another
        does not."""
        if self.now is not None and self._held == self.now and self.now not in self.accounts.names:
            return True
        if self._held is None or self.accounts.rest_of(self._held) is None:
            return False
        first = next(iter(self._order(route, setup)), None)
        return first is not None and first.name != self._held

    async def has_new_token(self, setup: Setup) -> bool:
        """Whether its account has another token than it was opened with: somebody put one in, or
        its command prints the next one, which is run where the last one was refused."""
        logins = self.accounts.logins(setup.account)
        login = next((one for one in logins if one.name == self._held), None)
        if login is None or login.source == "cli" or (login.command and not self._is_refused):
            return False
        try:
            grant = await self.accounts.grant(login)
        except NoToken:  # what it has may still be good
            return False
        return grant.token is None or version_of(grant.token) != self._version

    def has_other(self, route: Route, setup: Setup) -> bool:
        """Whether another account can be used in place of its own."""
        return self._held is not None and any(
            one.name != self._held and self.accounts.rest_of(one.name) is None
            for one in self._order(route, setup)
        )

    def hear(self, said: TurnFailed, route: Route, setup: Setup) -> TurnFailed:
        """A failure of its account makes that rest, and says what comes next."""
        trouble = trouble_of_turn(said.name, said.status, said.message)
        if self._held is None or trouble is None:
            return said
        self._rest(self._held, trouble)
        self._is_refused = self._is_refused or trouble.why == REFUSED
        if not self.accounts.accounts:
            return said
        if self.must_move(route, setup):
            after = self._order(route, setup)[0].name
            told = f"{said.message} The account {self._held} rests now. The next turn uses {after}."
            return replace(said, name=ACCOUNT_RESTING, message=told)
        resting = [
            f"{one.name} until {clock(rest.until)} ({rest.why})"
            for one in self._order(route, setup)
            if (rest := self.accounts.rest_of(one.name)) is not None
        ]
        return replace(said, message=f"{said.message} Accounts that rest: {', '.join(resting)}.")

    def worked(self) -> None:
        """A turn came to its end."""
        if self._held is not None:
            self.accounts.worked(self._held)


def _trouble(error: AirbossError) -> AccountTrouble | None:
    if isinstance(error, NoToken):
        return AccountTrouble(str(error).rstrip("."))
    return trouble_of_opening(error)
