"""Providers of one's own, over v1: listed, tried, added, changed and removed. No key comes out."""

from typing import Annotated, Literal

from fastapi import Path, Response
from pydantic import BaseModel, Field

from airboss.harness.trial_result import TrialResult
from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Services, Use, Who
from airboss.http.v1.streams import RequestBody
from airboss.provider_settings import Auth, Provider, ProviderModel, ProviderType, Wire
from airboss.service.providers import AddedProvider
from airboss.store.kept_secrets import SecretPlace

router = Router(prefix="/api/v1", tags=["settings"])

ProviderName = Annotated[str, Path(max_length=100)]
_Key = Annotated[str | None, Field(default=None, max_length=10_000, repr=False)]
_FROM_FILE = refused("It comes from the settings file, or the name is taken.")
_UNUSABLE = refused("The provider cannot be used like this: `detail` says why.")


class ProviderPlace(RequestBody):
    """Where a provider is, and how one talks to it."""

    type: ProviderType = "openai"
    # Chat completions, where it is left out; `anthropic` has one of its own.
    wire: Wire | None = None
    base_url: Annotated[str, Field(max_length=2_000)]
    # Allow an address of this network, and http. An address of this machine needs no permission.
    private: bool = False
    auth: Auth = "key"
    headers: Annotated[dict[str, str], Field(default_factory=dict[str, str], max_length=50)]
    # For `azure` only.
    api_version: Annotated[str | None, Field(default=None, max_length=40)]


class ProviderToTest(ProviderPlace):
    """A provider that is not kept yet."""

    key: _Key
    # The model to call; without it the first that the provider lists.
    model: Annotated[str | None, Field(default=None, min_length=1, max_length=200)]


class ChangedProvider(ProviderPlace):
    """All of a provider but its name. Without a key, the one that it has stays."""

    key: _Key
    models: Annotated[list[ProviderModel], Field(min_length=1, max_length=500)]


class NewProvider(ChangedProvider):
    """A provider. Its models are called `name/model`."""

    name: Annotated[str, Field(max_length=100)]


class ModelToTest(RequestBody):
    """Which of its models to call; without one the first."""

    model: Annotated[str | None, Field(default=None, min_length=1, max_length=200)]


class ProviderFacts(BaseModel):
    """A provider as people see it, which has no key in it."""

    name: str
    type: ProviderType
    wire: Wire | None
    base_url: str
    private: bool
    auth: Auth
    headers: dict[str, str]
    api_version: str | None
    models: tuple[ProviderModel, ...]
    # From the settings file, where it is changed; or added here.
    source: Literal["file", "added"]
    added_by: str | None
    added_at: int | None
    key: Literal["set", "missing", "none"]
    # The variable that has the key, where one does.
    key_variable: str | None
    # Where the key is kept, where it is.
    key_place: SecretPlace | None
    # By its last request or test; `unknown` before the first.
    state: Literal["fine", "failing", "unknown"]
    since: int | None
    cause: str | None
    # Until the first word of the last test.
    first_word_ms: int | None
    # Open sessions on its models.
    sessions: int


class ProviderList(BaseModel):
    """Those of the settings file come first."""

    items: tuple[ProviderFacts, ...]
    # Where a key goes that is put in now.
    new_keys_in: SecretPlace


@router.get("/providers")
async def list_providers(use: Use) -> ProviderList:
    """List your own providers of models with their state. Contains no keys."""
    items = tuple(_facts(use, provider, added) for provider, added in use.providers.all())
    return ProviderList(items=items, new_keys_in=await use.secrets.place_of_new())


@router.post("/providers", status_code=201, responses={409: _FROM_FILE, 422: _UNUSABLE})
async def add_provider(asked: NewProvider, use: Use, who: Who, response: Response) -> ProviderFacts:
    """Add a provider. Its models can be used at once, without a restart; the key is kept on the
    server's machine and never shown."""
    provider = await use.providers.add(_said(asked), asked.key or None, who)
    response.headers["Location"] = f"/api/v1/providers/{provider.name}"
    return _found(use, provider.name)


@router.post("/provider-tests", responses={422: _UNUSABLE})
async def test_provider(asked: ProviderToTest, use: Use) -> TrialResult:
    """Try a provider that is not added yet: list its models, and make one small call to one of
    them, which may cost a fraction of a cent. Nothing is stored."""
    return await use.providers.test(_said(asked), asked.key or None, asked.model)


@router.post("/providers/{name}/test")
async def test_known_provider(name: ProviderName, asked: ModelToTest, use: Use) -> TrialResult:
    """Try a provider that is in use, with its key: list its models, and call one of them."""
    return await use.providers.test_known(name, asked.model)


@router.put("/providers/{name}", responses={409: _FROM_FILE, 422: _UNUSABLE})
async def change_provider(
    name: ProviderName, asked: ChangedProvider, use: Use, who: Who
) -> ProviderFacts:
    """Change a provider that was added here, for open sessions too. If it moves to another host,
    the key must be given again."""
    await use.providers.change(name, _said(asked), asked.key or None, who)
    return _found(use, name)


@router.delete("/providers/{name}", status_code=204, responses={409: _FROM_FILE})
async def remove_provider(name: ProviderName, use: Use, who: Who) -> None:
    """Remove a provider that was added here, with its key. Open sessions on its models fail at
    their next request, and say why."""
    await use.providers.remove(name, who)


def _said(asked: ProviderPlace) -> dict[str, object]:
    return asked.model_dump(exclude={"key", "model"}, exclude_none=True)


def _found(use: Services, name: str) -> ProviderFacts:
    found = next((one, added) for one, added in use.providers.all() if one.name == name)
    return _facts(use, *found)


def _facts(use: Services, provider: Provider, added: AddedProvider | None) -> ProviderFacts:
    health = use.providers.proxy.health.of(provider.name)
    needs_key = provider.key_variable or provider.key_kept
    key = "set" if use.catalog.key(provider) else "missing"
    places: dict[str | None, SecretPlace] = {one.name: one.place for one in use.secrets.all()}
    shown = provider.model_dump(exclude={"key_kept", "headers", "base_url"})
    return ProviderFacts(
        **shown,
        base_url=use.providers.redactor.text(provider.base_url),
        headers=dict(provider.headers),
        source="file" if added is None else "added",
        added_by=added and added.who,
        added_at=added and added.at,
        key=key if needs_key else "none",
        key_place=places.get(provider.key_kept),
        state="unknown" if health is None else "failing" if health.cause else "fine",
        since=health and health.since,
        cause=health and health.cause,
        first_word_ms=health and health.first_word_ms,
        sessions=use.providers.proxy.sessions_on(provider.name),
    )
