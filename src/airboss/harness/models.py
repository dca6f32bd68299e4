"""Which models there are, and how a session reaches the one it asked for."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from airboss.errors import AirbossError, ModelIdNotFound, NotSignedIn
from airboss.harness.identity import Identity
from airboss.harness.providers import Upstream, runtime_provider, upstream_of
from airboss.provider_settings import Provider
from airboss.runtime.agent_runtime import Runtime

_KEPT_SECONDS = 60.0
# What the runtime calls the key of a provider.
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


@dataclass(frozen=True)
class Route:
    """What the runtime needs to know to reach a model. It holds secrets: it is never shown."""

    model: str
    provider: Mapping[str, Any] | None = field(default=None, repr=False)
    github_token: str | None = field(default=None, repr=False)
    multiplier: float = field(default=0, compare=False)
    # Of a model that the runtime does not know: whether it is shown images.
    vision: bool = True
    # A provider of one's own is reached by the proxy, whose address `provider` gets then.
    upstream: Upstream | None = None
    # The variable that holds its key.
    key_variable: str | None = None
    # As of the model's offer.
    efforts: tuple[str, ...] | None = None

    def is_served_like(self, other: "Route") -> bool:
        """By the same service for the same user: then only the model is another."""
        return self._service == other._service

    @property
    def _service(self) -> tuple[object, ...]:
        return self.provider, self.github_token, self.upstream, self.vision

    def in_our_words(self, message: str) -> str:
        """Where the service refuses the key: the runtime names variables of its own, which nobody
        here sets."""
        if self.upstream is None or _RUNTIMES_KEY not in message:
            return message
        kept, whose = message.partition("Check your")[0].strip(), self.upstream.name
        if self.key_variable is None:
            name = f"give the provider {whose} a key_variable in settings.toml"
        else:
            name = f"check the variable {self.key_variable} of the provider {whose}"
        return f"{kept} To fix it, {name}, and restart the server."


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

    identity: Identity
    providers: tuple[Provider, ...]
    environ: Mapping[str, str]
    ask_copilot: Callable[[str | None], Awaitable[list[ModelOffer]]]
    rehearsal: RehearsalSource | None = None
    # Why Copilot's models are missing, where they are.
    problem: str | None = None
    _copilot: list[ModelOffer] = field(default_factory=list[ModelOffer])
    _asked_at: float = -_KEPT_SECONDS
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def offers(self) -> list[ModelOffer]:
        """Rehearsed models come first in a clash of names: nobody pays by mistake.

        The built-in script is for those who have nothing else; the others never see it.
        """
        await self._of_copilot()
        return self.known()

    def known(self) -> list[ModelOffer]:
        """The same as far as it was learnt; nobody is asked."""
        found: dict[str, ModelOffer] = {}
        for offer in (*self._rehearsed(), *self._own(), *self._copilot):
            found.setdefault(offer.id, offer)
        return list(found.values())

    def _rehearsed(self) -> tuple[ModelOffer, ...]:
        source = self.rehearsal
        if source is None or (source.builtin and (self.providers or self._copilot)):
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
            )
            for provider in self.providers
            for model in provider.models
        ]

    async def _of_copilot(self) -> list[ModelOffer]:
        async with self._asking:  # of many who ask at once, one does
            if time.monotonic() - self._asked_at >= _KEPT_SECONDS:
                await self._ask_copilot()
            return self._copilot

    async def _ask_copilot(self) -> None:
        try:
            self._copilot, self.problem = await self.ask_copilot(self.identity.token), None
        except NotSignedIn as error:
            self._copilot, self.problem = [], str(error)
        except AirbossError as error:
            self.problem = str(error)
            if not self.rehearsal and not self.providers:
                raise
            return  # asked again by the next one
        self._asked_at = time.monotonic()

    async def route(self, model: str) -> Route:
        """How to reach `model`. Sources that need no network are looked at first."""
        source = self.rehearsal
        if source and source.builtin and not self.providers:
            await self._of_copilot()  # with a model of its own nobody is shown the built-in script
        for offer in self._rehearsed() if source else ():
            if source and offer.id == model:
                wire = {"type": "openai", "base_url": source.base_url, "api_key": source.api_key}
                return Route(model, wire, multiplier=offer.multiplier, efforts=offer.efforts)
        if found := self._own_route(model):
            return found
        for offer in await self._of_copilot():
            if offer.id == model:
                return Route(
                    model,
                    github_token=self.identity.token,
                    multiplier=offer.multiplier,
                    efforts=offer.efforts,
                )
        said = f"The model {model} is not available. To list models, run `airboss models`."
        raise ModelIdNotFound(f"{said} {self.problem}" if self.problem else said)

    def _own_route(self, model: str) -> Route | None:
        prefix, _, name = model.partition("/")
        for provider in self.providers:
            if prefix == provider.name and (found := provider.model(name)):
                return Route(
                    name,
                    runtime_provider(provider, found),
                    vision=found.vision,
                    upstream=upstream_of(provider, self._key(provider)),
                    key_variable=provider.key_variable,
                    efforts=found.efforts or None,
                )
        return None

    def _key(self, provider: Provider) -> str | None:
        """Without the end of a line, which files of keys often have."""
        found = self.environ.get(provider.key_variable) if provider.key_variable else None
        return found and found.strip()

    async def default(self) -> str:
        offers = await self.offers()
        if not offers:
            raise NotSignedIn(
                "No models are available. Sign in to Copilot (set COPILOT_GITHUB_TOKEN), add a "
                "provider to the settings, or start with --rehearsal FILE."
            )
        wanted = next((offer for offer in offers if offer.id == "gpt-5.2"), None)
        return (wanted or min(offers, key=lambda offer: offer.multiplier)).id


async def copilot_offers(runtime: Runtime, token: str | None) -> list[ModelOffer]:
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
        for model in await runtime.list_models(token)
    ]
