"""A session has one address of the proxy for each provider, and gives them back."""

import httpx2
import pytest

from airboss.harness.accounts import Grant
from airboss.harness.models import Route
from airboss.harness.provider_address import ProviderAddress
from tests.harness.proxied import proxied

pytestmark = pytest.mark.anyio


async def test_a_model_of_copilot_needs_none() -> None:
    async with proxied() as house:
        address = ProviderAddress(house.proxy)
        assert await address.provider(Route("gpt-5.2")) is None
        assert not address.lent
        assert address.in_our_words(Route("gpt-5.2"), "Broken.") == "Broken."
        address.give_back()


async def test_another_address_takes_the_place_of_the_first() -> None:
    async with proxied() as house:
        address = ProviderAddress(house.proxy)
        route = Route("m", {"type": "openai"}, upstream=house.lent.upstream)
        first = await address.provider(route)
        second = await address.provider(route)
        assert first
        assert second
        assert first["base_url"] != second["base_url"]
        assert second == {"type": "openai", "base_url": second["base_url"]}
        async with httpx2.AsyncClient() as client:
            gone = await client.post(f"{first['base_url']}/chat/completions", json={})
        assert gone.status_code == 404
        told = address.in_our_words(route, f"No answer from {second['base_url']}/x")
        assert told == f"No answer from {house.provider.url()}/x"


async def test_in_a_cage_there_is_neither_a_key_nor_a_token_nor_an_address() -> None:
    grant = Grant("someone", token="token-of-somebody")
    played = {"type": "openai", "base_url": "http://127.0.0.1:1/v1", "api_key": "key-of-the-play"}
    async with proxied() as house:
        free = ProviderAddress(house.proxy)
        assert free.login(None) == (None, None)
        assert free.login(grant) == ("token-of-somebody", None)
        assert await free.provider(Route("m", played)) == played

        caged = ProviderAddress(house.proxy, is_caged=True)
        told = await caged.provider(Route("m", played))
        assert told
        assert told["base_url"].startswith("http://model.caged.invalid/")
        assert "key-of-the-play" not in str(told)
        assert caged.lent["rehearsal"].upstream.headers == {
            "authorization": "Bearer key-of-the-play"
        }
        first, renew = caged.login(grant)
        second, _ = caged.login(grant)
        assert renew is None
        assert first
        assert second
        assert first.startswith("caged-")
        assert first != second
        assert caged.login(None) == (None, None)
        assert (await house.proxy.user(first, [])).status == 401
        caged.give_back()
        assert caged.account is None
        assert (await house.proxy.user(second, [])).status == 401
