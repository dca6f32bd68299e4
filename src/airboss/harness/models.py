"""Which models there are, and how a session reaches the one it asked for."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from airboss.errors import AirbossError, ModelIdNotFound, NotSignedIn
from airboss.harness.account_troubles import trouble_of_opening
from airboss.harness.accounts import Accounts, Grant
from airboss.harness.homes import Homes
from airboss.harness.identity import Login
from airboss.harness.providers import Upstream, runtime_provider, upstream_of
from airboss.provider_settings import Provider
from airboss.runtime.pool import Pool
from airboss.session_keys import DEFAULT_IDENTITY

_KEPT_SECONDS = 60.0
# What the runtime calls the key of a provider.
REHEARSAL: Final = "rehearsal"
_RUNTIMES_KEY: Final = "COPILOT_PROVIDER_"


UNKNOWN_MODEL_TOKENS: Final = 128_000


@dataclass(frozen=True)
class ModelOffer:
    """One model that a session can be started on."""

    id: str
    name: str
    multiplier: float
    source: str
    # How much fits into a conversation; of a model that the runtime does not know, what it takes
    # such a one for.
    context_tokens: int | None = UNKNOWN_MODEL_TOKENS
    # The reasoning efforts that it takes; None where nobody knows.
    efforts: tuple[str, ...] | None = None
    # Whether it sees images, and how much it takes and writes at once; None where nobody knows.
    vision: bool | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    # The settings' accounts that offer it; none where the settings name none.
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Route:
    """What the runtime needs to know to reach a model. It holds secrets: it is never shown."""

    model: str
    provider: Mapping[str, Any] | None = field(default=None, repr=False)
    # Of Copilot's models: the settings' accounts that offer it; None where there are none.
    accounts: tuple[str, ...] | None = None
    multiplier: float = field(default=0, compare=False)
    # Of a model that the runtime does not know: whether it is shown images.
    vision: bool = True
    # A provider of one's own is reached by the proxy, whose address `provider` gets then.
    upstream: Upstream | None = None
    # The variable that holds its key, or the kept secret.
    key_variable: str | None = None
    key_kept: str | None = None
    # As of the model's offer.
    efforts: tuple[str, ...] | None = None

    def is_served_like(self, other: "Route") -> bool:
        """By the same service: then only the model is another."""
        return self._service == other._service

    @property
    def service(self) -> str:
        """The name of the provider; of Copilot's models there is none."""
        if self.provider is None:
            return ""
        return self.upstream.name if self.upstream else REHEARSAL

    @property
    def qualified(self) -> str:
        """What the runtime calls it, where it knows models of several providers."""
        return f"{self.service}/{self.model}" if self.service else self.model

    @property
    def _service(self) -> tuple[object, ...]:
        return self.provider, self.upstream, self.vision

    def in_our_words(self, message: str) -> str:
        """Where the service refuses the key: the runtime names variables of its own, which nobody
        here sets."""
        if self.upstream is None or _RUNTIMES_KEY not in message:
            return message
        kept, whose = message.partition("Check your")[0].strip(), self.upstream.name
        if self.key_variable is not None:
            name = f"check the variable {self.key_variable} of the provider {whose}"
            return f"{kept} To fix it, {name}, and restart the server."
        if self.key_kept is not None:
            return f"{kept} To fix it, change the key of the provider {whose} in Settings."
        return (
            f"{kept} The provider {whose} has no key. To fix it, give it one in Settings, or name "
            "a key_variable or a key_kept for it in settings.toml and restart the server."
        )


@dataclass(frozen=True)
class RehearsalSource:
    """The rehearsal model's address, once it is served."""

    base_url: str
    api_key: str = field(repr=False)
    offers: tuple[ModelOffer, ...] = ()
    builtin: bool = False


@dataclass
class Catalog:
    """The models of Copilot, of one's own providers and of the rehearsal, as one list."""

    accounts: Accounts
    providers: tuple[Provider, ...]
    environ: Mapping[str, str]
    ask_copilot: Callable[[Grant], Awaitable[list[ModelOffer]]]
    rehearsal: RehearsalSource | None = None
    # Secrets that are kept, by name.
    kept: Callable[[str], str | None] = lambda _: None
    # By the name of each login: its models, when it was asked, and why they are missing.
    _copilot: dict[str, list[ModelOffer]] = field(default_factory=dict[str, list[ModelOffer]])
    _asked_at: dict[str, float] = field(default_factory=dict[str, float])
    _problems: dict[str, str] = field(default_factory=dict[str, str])
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def problem(self) -> str | None:
        """Why models of Copilot are missing, where some are."""
        logins = self.accounts.logins()
        said = [(one, self._problems[one.name]) for one in logins if one.name in self._problems]
        named = [f"{one.name}: {why}" if one.is_account else why for one, why in said]
        return " ".join(named) or None

    @property
    def has_copilot(self) -> bool:
        """Whether any model of Copilot is known."""
        return bool(self._of(self.accounts.logins()))

    @property
    def account_names(self) -> tuple[str, ...]:
        return self.accounts.names

    def forget(self, account: str) -> None:
        """Another token, or none: what was learnt of it does not hold any more."""
        for known in (self._copilot, self._asked_at, self._problems):
            known.pop(account, None)

    async def offers(self) -> list[ModelOffer]:
        """Rehearsed models come first in a clash of names: nobody pays by mistake.

        The built-in script is for those who have nothing else; the others never see it.
        """
        await self._of_copilot()
        return self.known()

    def known(self) -> list[ModelOffer]:
        """The same as far as it was learnt; nobody is asked."""
        found: dict[str, ModelOffer] = {}
        for offer in (*self._rehearsed(), *self._own(), *self._of(self.accounts.logins())):
            found.setdefault(offer.id, offer)
        return list(found.values())

    def _rehearsed(self) -> tuple[ModelOffer, ...]:
        source = self.rehearsal
        has_models = self.providers or self._of(self.accounts.logins())
        if source is None or (source.builtin and has_models):
            return ()
        return source.offers

    def _own(self) -> list[ModelOffer]:
        return [
            ModelOffer(
                f"{provider.name}/{model.id}",
                f"{model.id} ({provider.name})",
                0,
                provider.name,
                model.prompt_tokens or UNKNOWN_MODEL_TOKENS,
                model.efforts or None,
                vision=model.vision,
                prompt_tokens=model.prompt_tokens,
                output_tokens=model.output_tokens,
            )
            for provider in self.providers
            for model in provider.models
        ]

    def _of(self, logins: Sequence[Login]) -> list[ModelOffer]:
        """As far as it was learnt, each model once, with the accounts that offer it."""
        found: dict[str, ModelOffer] = {}
        for login in logins:
            for offer in self._copilot.get(login.name, ()):
                names = (login.name,) if login.is_account else ()
                known = found.setdefault(offer.id, offer)
                found[offer.id] = replace(known, accounts=(*known.accounts, *names))
        return list(found.values())

    async def _of_copilot(self, account: str | None = None) -> list[ModelOffer]:
        logins = self.accounts.logins(account)
        async with self._asking:  # of many who ask at once, one does
            failed = [error for one in logins if (error := await self._ask_if_due(one))]
        found = self._of(logins)
        has_others = self.rehearsal or self.providers or found
        if failed and len(failed) == len(logins) and not has_others:
            raise failed[0]
        return found

    async def _ask_if_due(self, login: Login) -> AirbossError | None:
        asked = self._asked_at.get(login.name)
        is_due = asked is None or time.monotonic() - asked >= _KEPT_SECONDS
        return await self._ask(login) if is_due else None

    async def _ask(self, login: Login) -> AirbossError | None:
        """What went wrong where nobody knows which models there are: the next one asks again."""
        try:
            offers = await self.ask_copilot(await self.accounts.grant(login))
        except NotSignedIn as error:
            self._copilot[login.name], self._problems[login.name] = [], str(error)
            self._note_refusal(login, error)
        except AirbossError as error:
            self._problems[login.name] = str(error)
            return error
        else:
            self._copilot[login.name] = offers
            self._problems.pop(login.name, None)
            self._note_sign_in(login, is_signed_in=True)
        self._asked_at[login.name] = time.monotonic()
        return None

    def _note_refusal(self, login: Login, error: NotSignedIn) -> None:
        self._note_sign_in(login, is_signed_in=False)
        trouble = trouble_of_opening(error)
        if login.is_account and trouble is not None:
            self.accounts.rest(login.name, trouble.why, trouble.seconds)

    def _note_sign_in(self, login: Login, *, is_signed_in: bool) -> None:
        if login.source == "cli":
            self.accounts.cli_is_signed_in = is_signed_in

    async def route(self, model: str, account: str | None = None) -> Route:
        """How to reach `model`, with this account where one is named. Sources that need no network
        are looked at first."""
        source = self.rehearsal
        if source and source.builtin and not self.providers:
            await self._of_copilot()  # with a model of its own nobody is shown the built-in script
        for offer in self._rehearsed() if source else ():
            if source and offer.id == model:
                wire = {"type": "openai", "base_url": source.base_url, "api_key": source.api_key}
                return Route(model, wire, multiplier=offer.multiplier, efforts=offer.efforts)
        if found := self._own_route(model):
            return found
        for offer in await self._of_copilot(account):
            if offer.id == model:
                return Route(
                    model,
                    accounts=offer.accounts or None,
                    multiplier=offer.multiplier,
                    efforts=offer.efforts,
                )
        raise ModelIdNotFound(await self._not_offered(model, account))

    async def _not_offered(self, model: str, account: str | None) -> str:
        word = model or '""'
        said = f"The model {word} is not available. To list models, run `airboss models`."
        provider, slash, _ = model.partition("/")
        if slash and all(one.name != provider for one in self.providers):
            said = (
                f"The model {model} is not available: there is no provider {provider} (any more). "
                "Add it in Settings, or choose another model: `airboss models` lists them."
            )
        elif account is not None:
            others = [one for one in await self._of_copilot() if one.id == model]
            named = [name for one in others for name in one.accounts if name != account]
            said = f"The model {model} is not offered to the account {account}. " + (
                f"It is offered to: {', '.join(named)}." if named else "No other account offers it."
            )
        return f"{said} {self.problem}" if self.problem else said

    def sees(self, model: str) -> bool | None:
        """Whether it looks at images; None where nobody knows. Nobody is asked."""
        if found := self._own_route(model):
            return found.vision
        return next((offer.vision for offer in self.known() if offer.id == model), None)

    def _own_route(self, model: str) -> Route | None:
        prefix, _, name = model.partition("/")
        for provider in self.providers:
            if prefix == provider.name and (found := provider.model(name)):
                return Route(
                    name,
                    runtime_provider(provider, found),
                    vision=found.vision,
                    upstream=self.upstream(provider),
                    key_variable=provider.key_variable,
                    key_kept=provider.key_kept,
                    efforts=found.efforts or None,
                )
        return None

    def upstream(self, provider: Provider) -> Upstream:
        return upstream_of(provider, self.key(provider))

    def key(self, provider: Provider) -> str | None:
        """Without the end of a line, which files of keys often have."""
        if provider.key_kept:
            return self.kept(provider.key_kept)
        found = self.environ.get(provider.key_variable) if provider.key_variable else None
        return found and found.strip()

    async def default(self, account: str | None = None) -> str:
        offers = await self.offers() if account is None else await self._of_copilot(account)
        if not offers:
            raise NotSignedIn(
                "No models are available. Sign in to Copilot or add a provider in Settings, or "
                "start with --rehearsal FILE."
            )
        wanted = next((offer for offer in offers if offer.id == "gpt-5.2"), None)
        return (wanted or min(offers, key=lambda offer: offer.multiplier)).id


async def copilot_offers(
    pool: Pool, homes: Homes, accounts: Accounts, grant: Grant
) -> list[ModelOffer]:
    """Tokens stay apart in one process, so that to ask for all of them takes no more than one."""
    token = (await grant.renew()).text if grant.renew else grant.token
    first = next((one for one in accounts.logins() if one.source != "cli"), None)
    asked = grant if grant.is_cli or first is None else accounts.unread(first)
    async with pool.use(homes.key(DEFAULT_IDENTITY, asked)) as runtime:
        models = await runtime.list_models(token)
    return [
        ModelOffer(
            model.id,
            model.name,
            1 if model.multiplier is None else model.multiplier,
            "copilot",
            model.context_tokens or model.max_prompt_tokens,
            model.efforts,
            *(model.vision, model.max_prompt_tokens, model.max_output_tokens),
        )
        for model in models
    ]
