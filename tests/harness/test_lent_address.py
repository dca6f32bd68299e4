"""What is said of an address that only the runtime is to know."""

import pytest

from tests.harness.proxied import KEY, proxied

pytestmark = pytest.mark.anyio


async def test_an_address_of_ours_and_its_number_are_in_no_words() -> None:
    async with proxied() as house:
        lent, real = house.lent, house.provider.url()
        told = lent.in_our_words(f"error sending request for url ({lent.url}/chat/completions)")
        assert told == f"error sending request for url ({real}/chat/completions)"
        lent.trouble = "The provider house cannot be reached: no."
        assert lent.in_our_words(f"502 {lent.trouble}") == f"502 {lent.trouble}"
        assert lent.in_our_words("Broken.") == f"{lent.trouble} The agent runtime said: Broken."
        assert KEY not in f"{lent} {lent.upstream}"
        assert lent.nonce not in lent.in_our_words(f"x {lent.nonce} y")
