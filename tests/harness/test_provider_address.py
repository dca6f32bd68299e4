"""A session has one address of the proxy for each provider, and gives them back."""

import httpx2
import pytest

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
