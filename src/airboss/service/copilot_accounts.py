"""Accounts of Copilot: those of the settings file, and those that people sign in with a token while
a server runs. What is added is kept beside the changes of settings, its token with the secrets."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from airboss.account_settings import Account
from airboss.errors import AirbossError, Conflict, Invalid, NotFound
from airboss.fault_words import fault_words
from airboss.harness.accounts import Accounts, Grant
from airboss.harness.identity import version_of
from airboss.harness.models import Catalog, ModelOffer
from airboss.log.writer import now_ms
from airboss.model.audit_events import SourceChanged
from airboss.model.redaction import Redactor
from airboss.service.audit import Audit, actor
from airboss.service.secrets import Secrets
from airboss.settings import Settings
from airboss.store.kept_secrets import checked_value
from airboss.store.settings import KeptSetting, SettingStore, is_of_a_list, item_name

_log = logging.getLogger("airboss.accounts")

ACCOUNT: Final = "account"
MOST_ACCOUNTS: Final = 100
# The agent runtime may have to start first.
_TEST_SECONDS: Final = 60.0


class AccountTrial(BaseModel):
    """What came of it. Where it did not work, `problem` says why."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    problem: str | None = None
    # The models that Copilot offers to it.
    models: tuple[str, ...] = ()


@dataclass
class CopilotAccounts:
    """`given` are those of the settings file, which is never written."""

    given: tuple[Account, ...]
    store: SettingStore
    secrets: Secrets
    accounts: Accounts
    catalog: Catalog
    audit: Audit
    redactor: Redactor
    announce: Callable[[], None] = lambda: None
    # The address of a runtime that somebody else started: it is signed in by them.
    outside: str | None = None
    _added: dict[str, str] = field(default_factory=dict[str, str])
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> None:
        self._added = await self._stored()
        self._follow()

    async def reload(self) -> None:
        """What somebody did at another server of the same database holds here, too. Tokens stay on
        the machine on which they were put in."""
        async with self._changing:
            before, self._added = self._added, await self._stored()
            if before.keys() == self._added.keys():
                return
            self._follow()
            for name in before.keys() - self._added.keys():
                self.catalog.forget(name)

    async def _stored(self) -> dict[str, str]:
        """What cannot be used any more keeps nobody from starting. The file's names win."""
        taken = {account.name for account in self.given}
        found = [one for one in await self.store.all() if is_of_a_list(one.name, ACCOUNT)]
        added: dict[str, str] = {}
        for kept in sorted(found, key=lambda one: one.at):
            name = kept.name.partition(":")[2]
            if name in taken:
                _log.warning("Ignored the stored %s: the settings file has its name.", kept.name)
                continue
            added[name] = kept.who
        if added and self.outside is not None:
            _log.warning("Accounts are not used: the runtime at %s has its own.", self.outside)
            return {}
        return added

    def added_by(self, name: str) -> str | None:
        """Who added it here; None for one of the settings file."""
        return self._added.get(name)

    async def add(self, name: str, token: str, who: str) -> None:
        """In use when this returns."""
        if self.outside is not None:
            raise Conflict(
                f"This server uses the runtime at {self.outside} (runtime_url), which is signed in "
                "by whoever started it. Sign in there, or remove runtime_url from the settings."
            )
        async with self._changing:
            try:
                Account(name=name, token_kept=_secret_of(name))
            except ValidationError as error:
                # What its secret is kept as is made of the name, and wrong with it.
                raise Invalid(f"name: {fault_words(error.errors()[0])}") from None
            if name in self.accounts.names:
                raise Conflict(
                    f"There is an account {name} already. Change its token, or choose another name."
                )
            if len(self._added) >= MOST_ACCOUNTS:
                raise Conflict(f"There are {MOST_ACCOUNTS} accounts already. Remove one first.")
            await self.secrets.keep(_secret_of(name), token, who)
            await self.store.put(KeptSetting(item_name(ACCOUNT, name), {}, who, now_ms()))
            self._added[name] = who
            self._follow()
        await self._record(who, "added", name)

    async def change(self, name: str, token: str, who: str) -> None:
        """Another token: it does not rest any more."""
        async with self._changing:
            self._must_be_added(name)
            await self.secrets.keep(_secret_of(name), token, who)
            self.accounts.worked(name)
            self.catalog.forget(name)
        self.announce()
        await self._record(who, "changed", name)

    async def remove(self, name: str, who: str) -> None:
        """With its token. Sessions go on with another account from their next turn on."""
        async with self._changing:
            self._must_be_added(name)
            await self.store.remove(item_name(ACCOUNT, name))
            del self._added[name]
            self._follow()
            self.catalog.forget(name)
            if self.secrets.kept.value(_secret_of(name)) is not None:
                await self.secrets.remove(_secret_of(name), who, is_used=False)
        await self._record(who, "removed", name)

    async def test(self, token: str) -> AccountTrial:
        """One that is not kept yet."""
        token = checked_value(token)
        grant = Grant("test", is_account=True, token=token, profile="test")
        return await self._tried(lambda: self._offers(token, grant))

    async def test_known(self, name: str) -> AccountTrial:
        login = next((one for one in self.accounts.logins() if one.name == name), None)
        if login is None:
            raise NotFound("account", name)

        async def ask() -> list[ModelOffer]:
            return await self.catalog.ask_copilot(await self.accounts.grant(login))

        result = await self._tried(ask)
        if result.ok:
            self.accounts.worked(name)
        self.catalog.forget(name)
        self.announce()
        return result

    def user_of(self, secret: str) -> str | None:
        """Who uses this secret, in words."""
        known = self.accounts.accounts
        found = next((one.name for one in known if one.token_kept == secret), None)
        return found and f"the account {found}"

    async def _offers(self, token: str, grant: Grant) -> list[ModelOffer]:
        self.redactor.learn(token)
        return await self.catalog.ask_copilot(replace(grant, version=version_of(token)))

    async def _tried(self, ask: Callable[[], Awaitable[list[ModelOffer]]]) -> AccountTrial:
        try:
            async with asyncio.timeout(_TEST_SECONDS):
                offers = await ask()
        except TimeoutError:
            words = f"Copilot did not answer within {_TEST_SECONDS:g} s. Try again."
            return AccountTrial(ok=False, problem=words)
        except AirbossError as error:
            return AccountTrial(ok=False, problem=self.redactor.text(str(error)))
        return AccountTrial(ok=True, models=tuple(offer.id for offer in offers))

    def _must_be_added(self, name: str) -> None:
        if name in self._added:
            return
        if name in self.accounts.names:
            raise Conflict(
                f"The account {name} comes from the settings file. Change it there, and restart "
                "the server."
            )
        raise NotFound("account", name)

    def _follow(self) -> None:
        added = (Account(name=name, token_kept=_secret_of(name)) for name in self._added)
        self.accounts.replace((*self.given, *added))
        self.announce()

    async def _record(
        self, who: str, change: Literal["added", "changed", "removed"], name: str
    ) -> None:
        _log.info("%s: %s the account %s", who, change, name)
        await self.audit.write(
            SourceChanged(by=actor(who), change=change, source="account", name=name)
        )


async def with_added(settings: Settings, store: SettingStore) -> Settings:
    """With the accounts that were added: other settings may speak of them."""
    kept = [one.name for one in await store.all() if is_of_a_list(one.name, ACCOUNT)]
    names = [name.partition(":")[2] for name in kept]
    added = (Account(name=name, token_kept=_secret_of(name)) for name in names)
    return settings.model_copy(update={"accounts": (*settings.accounts, *added)})


def _secret_of(name: str) -> str:
    return f"account-{name}"
