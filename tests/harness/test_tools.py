"""The job tools as a model is shown them, and what it is told for a wrong call."""

from typing import Any

import pytest

from airboss.entry.tools import JOB_TOOLS
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.runtime.tools import ToolOffer, ToolRefusal

each = pytest.mark.parametrize("offer", JOB_TOOL_OFFERS, ids=lambda offer: offer.name)


def test_they_are_the_four_of_the_entry_language() -> None:
    assert tuple(offer.name for offer in JOB_TOOL_OFFERS) == JOB_TOOLS


@each
def test_each_wants_one_string_and_says_what_it_is_for(offer: ToolOffer) -> None:
    schema = offer.parameters
    assert list(schema["properties"]) == schema["required"] == ["argument"]
    assert schema["properties"]["argument"]["type"] == "string"
    assert offer.description.startswith("Report ")
    assert offer.handle
    assert isinstance(offer.handle({"argument": ""}), str)


@each
@pytest.mark.parametrize("given", [{}, {"argument": None}, {"argument": 5}, {"reason": "x"}])
def test_a_call_without_it_is_refused_with_a_hint(offer: ToolOffer, given: dict[str, Any]) -> None:
    assert offer.handle
    refusal = offer.handle(given)
    assert isinstance(refusal, ToolRefusal)
    assert f"{offer.name} needs one string named “argument”" in refusal.reason
