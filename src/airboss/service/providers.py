"""Providers of one's own: those of the settings file, and those that people add while a server
runs. What is added is kept beside the changes of settings, its key where secrets are kept."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from airboss.errors import Conflict, Invalid, NotFound
from airboss.fault_words import fault_place, fault_words, told_faults
from airboss.harness.models import Catalog
from airboss.harness.providers import Upstream, upstream_of
from airboss.harness.trial_result import TrialLimits, TrialResult
from airboss.log.writer import now_ms
from airboss.model.audit_events import SourceChanged
from airboss.model.redaction import Redactor
from airboss.provider_settings import Provider
from airboss.service.audit import Audit, actor
from airboss.service.secrets import Secrets
from airboss.store.kept_secrets import checked_value
from airboss.store.settings import KeptSetting, SettingStore, is_of_a_list, item_name

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy

_log = logging.getLogger("airboss.providers")

PROVIDER: Final = "provider"
# More are a mistake.
MOST_PROVIDERS: Final = 100
# A call with no model to name is made with this one, which counts as none.
_NO_MODEL: Final = "?"
_UNNAMED: Final = "test"


@dataclass(frozen=True)
class AddedProvider:
    """One that somebody added, with who did and when."""

    provider: Provider
    who: str
    at: int


@dataclass
class Providers:
    """`given` are those of the settings file, which is never written."""

    given: tuple[Provider, ...]
    store: SettingStore
    secrets: Secrets
    catalog: Catalog
    proxy: "ProviderProxy"
    audit: Audit
    redactor: Redactor
    announce: Callable[[], None] = lambda: None
    limits: TrialLimits = field(default_factory=TrialLimits)
    _added: dict[str, AddedProvider] = field(default_factory=dict[str, AddedProvider])
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> None:
        self._added = await self._stored()
        self._follow()

    async def reload(self) -> None:
        """What somebody did at another server of the same database holds here, too. Keys stay on
        the machine on which they were put in."""
        async with self._changing:
            before, self._added = self._added, await self._stored()
            now = {name: one.provider for name, one in self._added.items()}
            others = {name: one.provider for name, one in before.items()}
            if now == others:
                return
            self._follow()
            for name in others.keys() - now.keys():
                self._end(name)
            for name in others.keys() & now.keys():
                if now[name] != others[name]:
                    self.proxy.health.forget(name)
                    self.proxy.replace(self.catalog.upstream(now[name]))
        self.announce()

    async def _stored(self) -> dict[str, AddedProvider]:
        """What cannot be used any more keeps nobody from starting. The file's names win."""
        taken = {provider.name for provider in self.given}
        found = [one for one in await self.store.all() if is_of_a_list(one.name, PROVIDER)]
        added: dict[str, AddedProvider] = {}
        for kept in sorted(found, key=lambda one: one.at):
            try:
                provider = Provider.model_validate(kept.value)
            except ValidationError:
                _log.warning("Ignored the stored %s: it cannot be used any more.", kept.name)
                continue
            if provider.name in taken:
                _log.warning("Ignored the stored %s: the settings file has its name.", kept.name)
                continue
            added[provider.name] = AddedProvider(provider, kept.who, kept.at)
        return added

    def all(self) -> tuple[tuple[Provider, AddedProvider | None], ...]:
        """In the order in which their models are listed."""
        added = self._added.values()
        return (*((one, None) for one in self.given), *((one.provider, one) for one in added))

    def one(self, name: str) -> Provider:
        found = next((one for one, _ in self.all() if one.name == name), None)
        if found is None:
            raise NotFound("provider", name)
        return found

    async def add(self, said: dict[str, Any], key: str | None, who: str) -> Provider:
        """In use when this returns: its models can be chosen."""
        async with self._changing:
            provider = self._checked(said, has_key=key is not None)
            if any(one.name == provider.name for one, _ in self.all()):
                raise Conflict(
                    f"There is a provider {provider.name} already. Change that one, or choose "
                    "another name."
                )
            if len(self._added) >= MOST_PROVIDERS:
                raise Conflict(f"There are {MOST_PROVIDERS} providers already. Remove one first.")
            if key is not None:
                await self.secrets.keep(_secret_of(provider.name), key, who)
            await self._keep(provider, who)
        await self._record(who, "added", provider)
        return provider

    async def change(self, name: str, said: dict[str, Any], key: str | None, who: str) -> Provider:
        """All of it but the key, which stays where none is given. A key does not go to another
        host than it was put in for: whoever moves the provider puts it in again."""
        async with self._changing:
            before = self._to_be_changed(name)
            has_key = key is not None or before.key_kept is not None
            provider = self._checked({**said, "name": name}, has_key=has_key)
            if key is None and before.key_kept and _host(before) != _host(provider):
                raise Invalid(
                    "key: The provider moves to another host, and its key does not go along. "
                    "Put the key in again."
                )
            if key is not None:
                await self.secrets.keep(_secret_of(name), key, who)
            await self._keep(provider, who)
            self.proxy.health.forget(name)
            self.proxy.replace(self.catalog.upstream(provider))
        self.announce()
        await self._record(who, "changed", provider)
        return provider

    async def remove(self, name: str, who: str) -> None:
        """With its key. Open sessions on its models say so at their next request."""
        async with self._changing:
            provider = self._to_be_changed(name)
            await self.store.remove(item_name(PROVIDER, name))
            del self._added[name]
            self._follow()
            self._end(name)
            if provider.key_kept and self.secrets.kept.value(provider.key_kept) is not None:
                await self.secrets.remove(provider.key_kept, who, is_used=False)
        self.announce()
        await self._record(who, "removed", provider)

    async def test(
        self, said: dict[str, Any], key: str | None, model: str | None = None
    ) -> TrialResult:
        """One that is not kept yet. Its key goes nowhere but there."""
        key = None if key is None else checked_value(key)
        models = said.get("models") or [model or _NO_MODEL]
        provider = self._checked({"name": _UNNAMED, **said, "models": models}, has_key=False)
        redactor = replace(self.redactor, values=(*self.redactor.values, *([key] if key else ())))
        return await self._try(provider, upstream_of(provider, key), model, redactor)

    async def test_known(self, name: str, model: str | None = None) -> TrialResult:
        """One that is in use, at its address and with its key."""
        provider = self.one(name)
        chosen = model or provider.models[0].id
        result = await self._try(provider, self.catalog.upstream(provider), chosen, self.redactor)
        if result.ok:
            self.proxy.health.fine(name, result.first_word_ms)
        else:
            self.proxy.health.failing(name, result.problem or "It does not work.")
        return result

    async def _try(
        self, provider: Provider, upstream: Upstream, model: str | None, redactor: Redactor
    ) -> TrialResult:
        from airboss.harness.provider_trial import ProviderTrial

        return await ProviderTrial(provider, upstream, model, redactor, self.limits).run()

    def user_of(self, secret: str) -> str | None:
        """Who uses this secret, in words."""
        found = next((one.name for one, _ in self.all() if one.key_kept == secret), None)
        return found and f"the provider {found}"

    def take_new_key(self, secret: str) -> None:
        """A secret was put in: open sessions use it from their next request on."""
        for provider, _ in self.all():
            if provider.key_kept == secret:
                self.proxy.replace(self.catalog.upstream(provider))
                self.proxy.health.forget(provider.name)

    def _checked(self, said: dict[str, Any], *, has_key: bool) -> Provider:
        name = str(said.get("name", ""))
        given = {**said, "key_kept": _secret_of(name) if has_key else None}
        try:
            provider = Provider.model_validate(given)
        except ValidationError as error:
            raise Invalid(_in_words(error)) from None
        if self.redactor.count(provider.model_dump_json()):
            raise Invalid("One of the fields contains a secret. Put the key into the field `key`.")
        return provider

    def _to_be_changed(self, name: str) -> Provider:
        provider = self.one(name)
        if name not in self._added:
            raise Conflict(
                f"The provider {name} comes from the settings file. Change it there, and restart "
                "the server."
            )
        return provider

    async def _keep(self, provider: Provider, who: str) -> None:
        kept = KeptSetting(
            item_name(PROVIDER, provider.name),
            provider.model_dump(mode="json", exclude_defaults=True),
            who,
            now_ms(),
        )
        await self.store.put(kept)
        before = self._added.get(provider.name)
        self._added[provider.name] = AddedProvider(provider, who, before.at if before else kept.at)
        self._follow()
        self.announce()

    def _end(self, name: str) -> None:
        why = f"The provider {name} was removed. Choose another model for this session."
        self.proxy.end(name, why)
        self.proxy.health.forget(name)

    def _follow(self) -> None:
        self.catalog.providers = tuple(provider for provider, _ in self.all())

    async def _record(
        self, who: str, change: Literal["added", "changed", "removed"], provider: Provider
    ) -> None:
        _log.info("%s: %s the provider %s", who, change, provider.name)
        models = ", ".join(model.id for model in provider.models)
        about = f"{provider.type} at {_host(provider)}, models {models}"[:500]
        await self.audit.write(
            SourceChanged(
                by=actor(who), change=change, source="provider", name=provider.name, about=about
            )
        )


def _secret_of(name: str) -> str:
    return f"provider-{name}"


def _host(provider: Provider) -> str:
    parts = urlsplit(provider.base_url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _in_words(error: ValidationError) -> str:
    """What is wrong and where, and nothing of what was sent."""
    return "; ".join(
        f"{'.'.join(str(step) for step in fault_place(one))}: {fault_words(one)}"
        for one in told_faults(error.errors())
    )
