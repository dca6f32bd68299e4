"""Which models are offered, and by which way a session reaches one."""

import asyncio
from dataclasses import dataclass, field

import pytest

from airboss.errors import AirbossError, ModelIdNotFound, NotSignedIn, RuntimeUnavailable
from airboss.harness.accounts import Accounts, Grant
from airboss.harness.models import Catalog, ModelOffer, RehearsalSource, Route
from airboss.harness.providers import PLACEHOLDER_KEY, Upstream
from airboss.provider_settings import Provider, ProviderModel

A = ProviderModel(id="a")
DEEP = ProviderModel(
    id="b/c", prompt_tokens=64_000, output_tokens=8_000, vision=False, efforts=("low", "max")
)
HOUSE = Provider(
    name="house", base_url="https://house/v1", key_variable="HOUSE_KEY", models=(A, DEEP)
)
OPEN = Provider(name="open", type="anthropic", base_url="https://open", models=(A,))
SCRIPTED = (ModelOffer("rehearsal", "Rehearsal", 0, "rehearsal"),)
GPT = ModelOffer("gpt-5.2", "GPT-5.2", 1, "copilot")
MINI = ModelOffer("mini", "Mini", 0.25, "copilot")


@dataclass
class Copilot:
    """Copilot's service, as far as a catalogue asks it."""

    offers: list[ModelOffer] = field(default_factory=list[ModelOffer])
    refusal: AirbossError | None = None
    asked: list[str | None] = field(default_factory=list[str | None])

    async def ask(self, grant: Grant) -> list[ModelOffer]:
        self.asked.append(grant.token)
        await asyncio.sleep(0.01)
        if self.refusal:
            raise self.refusal
        return self.offers


def catalog(
    copilot: Copilot,
    providers: tuple[Provider, ...] = (),
    rehearsal: RehearsalSource | None = None,
) -> Catalog:
    environ = {"HOUSE_KEY": "k1\n"}
    accounts = Accounts((), {"GH_TOKEN": "gho_x"})
    return Catalog(accounts, providers, environ, copilot.ask, rehearsal)


def rehearsal(*offers: ModelOffer, builtin: bool = False) -> RehearsalSource:
    return RehearsalSource("http://rehearsal/v1", "rk", offers or SCRIPTED, builtin)


async def test_all_sources_are_one_list() -> None:
    found = catalog(Copilot([GPT, MINI]), (HOUSE, OPEN), rehearsal())
    assert await found.offers() == [
        *SCRIPTED,
        ModelOffer("house/a", "a (house)", 0, "house", vision=True),
        ModelOffer(
            "house/b/c",
            "b/c (house)",
            0,
            "house",
            64_000,
            ("low", "max"),
            vision=False,
            prompt_tokens=64_000,
            output_tokens=8_000,
        ),
        ModelOffer("open/a", "a (open)", 0, "open", vision=True),
        GPT,
        MINI,
    ]


async def test_each_model_is_reached_by_its_own_way() -> None:
    found = catalog(Copilot([GPT]), (HOUSE, OPEN), rehearsal())
    scripted = {"type": "openai", "base_url": "http://rehearsal/v1", "api_key": "rk"}
    house = {
        "type": "openai",
        "api_key": PLACEHOLDER_KEY,
        "max_prompt_tokens": 64_000,
        "max_output_tokens": 8_000,
    }
    to_house = Upstream("house", "https://house/v1", {"authorization": "Bearer k1"})
    assert await found.route("rehearsal") == Route("rehearsal", scripted)
    assert await found.route("house/b/c") == Route(
        "b/c",
        house,
        vision=False,
        upstream=to_house,
        key_variable="HOUSE_KEY",
        efforts=("low", "max"),
    )
    assert await found.route("open/a") == Route(
        "a",
        {"type": "anthropic", "api_key": PLACEHOLDER_KEY},
        upstream=Upstream("open", "https://open"),
    )
    assert await found.route("gpt-5.2") == Route("gpt-5.2")
    for model in ("", "a", "house/", "house/x", "other/a", "GPT-5.2", "gpt-5.2 "):
        with pytest.raises(ModelIdNotFound, match="airboss models"):
            await found.route(model)


async def test_a_rehearsed_model_comes_before_a_real_one_of_the_same_name() -> None:
    twin = ModelOffer("gpt-5.2", "Scripted", 0, "rehearsal")
    found = catalog(Copilot([GPT]), (), rehearsal(twin))
    assert await found.offers() == [twin]
    assert (await found.route("gpt-5.2")).provider is not None


async def test_the_built_in_script_is_for_those_who_have_nothing_else() -> None:
    alone = catalog(Copilot(), (), rehearsal(builtin=True))
    assert await alone.offers() == list(SCRIPTED)
    assert (await alone.route("rehearsal")).provider is not None
    for other in (
        catalog(Copilot([GPT]), (), rehearsal(builtin=True)),
        catalog(Copilot(), (HOUSE,), rehearsal(builtin=True)),
    ):
        assert not set(SCRIPTED) & set(await other.offers())
        with pytest.raises(ModelIdNotFound):
            await other.route("rehearsal")


async def test_the_default_is_the_wanted_model_or_the_cheapest() -> None:
    assert await catalog(Copilot([MINI, GPT])).default() == "gpt-5.2"
    assert await catalog(Copilot([MINI]), (HOUSE,)).default() == "house/a"
    assert await catalog(Copilot([MINI])).default() == "mini"
    with pytest.raises(NotSignedIn, match="add a provider in Settings"):
        await catalog(Copilot(refusal=NotSignedIn("No."))).default()


async def test_of_many_who_ask_at_once_one_asks_the_service() -> None:
    copilot = Copilot([GPT])
    found = catalog(copilot)
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(found.offers())
    await found.route("gpt-5.2")
    assert copilot.asked == ["gho_x"]


async def test_a_service_that_cannot_be_reached_leaves_the_others() -> None:
    copilot = Copilot([GPT], RuntimeUnavailable("The runtime is gone."))
    found = catalog(copilot, (OPEN,))
    assert [offer.id for offer in await found.offers()] == ["open/a"]
    assert found.problem == "The runtime is gone."
    with pytest.raises(ModelIdNotFound, match=r"The runtime is gone\."):
        await found.route("gpt-5.2")
    copilot.refusal = None  # asked again, not after a minute
    assert [offer.id for offer in await found.offers()] == ["open/a", "gpt-5.2"]
    assert found.problem is None


async def test_a_service_that_cannot_be_reached_is_an_error_where_there_is_nothing_else() -> None:
    found = catalog(Copilot(refusal=RuntimeUnavailable("The runtime is gone.")))
    with pytest.raises(RuntimeUnavailable):
        await found.offers()
    with pytest.raises(RuntimeUnavailable):
        await found.route("gpt-5.2")


def test_keys_are_not_in_what_is_printed() -> None:
    assert "rk" not in repr(rehearsal())
    to_house = Upstream("house", "https://house/v1", {"authorization": "Bearer k1"})
    assert "k1" not in repr(Route("m", {"api_key": "k1"}, upstream=to_house))
