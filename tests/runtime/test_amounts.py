"""Numbers that a runtime says, which may be anybody's."""

from types import SimpleNamespace
from typing import Any

import pytest

from airboss.model.context_events import CompactionEnded, CompactionStarted
from airboss.model.redaction import Redactor
from airboss.runtime.copilot_models import copilot_model
from airboss.runtime.signals import Compacted, TurnFailed, UsageSeen
from airboss.runtime.translate import Translator
from tests.runtime.test_translate import raw

NAN, INFINITE = float("nan"), float("inf")
ODD: list[object] = [NAN, INFINITE, -INFINITE, 10**400, 10**13, -1, -0.5, "7", True, [], {}]


def heard(kind: str, **data: Any) -> list[Any]:
    return Translator(Redactor()).hear(raw(kind, **data))


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_number_counts_as_none(odd: object) -> None:
    use = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 2, "cost": 0.5}
    for name in use:
        [seen] = heard("assistant.usage", model="x", **(use | {name: odd}))
        assert isinstance(seen, UsageSeen)
        said = (seen.input_tokens, seen.output_tokens, seen.cached_tokens, seen.cost)
        assert said == tuple(0 if name == one else number for one, number in use.items())


@pytest.mark.parametrize("odd", ODD)
def test_what_has_an_odd_number_is_told_all_the_same(odd: object) -> None:
    failed = heard("session.error", errorType="query", message="no", statusCode=odd)
    assert failed == [TurnFailed("query", "no", None, None)]
    assert heard("session.compaction_start", currentTokens=odd) == [
        CompactionStarted(trigger="unknown")
    ]
    names = ("preCompactionTokens", "postCompactionTokens", "tokenLimit", "messagesRemoved")
    assert heard("session.compaction_complete", **dict.fromkeys(names, odd)) == [
        Compacted(),
        CompactionEnded(trigger="unknown"),
    ]
    assert heard("session.usage_info", currentTokens=odd, tokenLimit=10) == []
    assert heard("session.usage_info", currentTokens=10, tokenLimit=odd) == []


@pytest.mark.parametrize("odd", ODD)
def test_a_model_with_odd_numbers_is_listed_without_them(odd: object) -> None:
    sizes = ("max_prompt_tokens", "max_context_window_tokens", "max_output_tokens")
    limits = SimpleNamespace(**dict.fromkeys(sizes, odd))
    model = SimpleNamespace(
        id="x",
        name="X",
        billing=SimpleNamespace(multiplier=odd),
        capabilities=SimpleNamespace(limits=limits),
    )
    found = copilot_model(model)
    assert (found.multiplier, found.max_prompt_tokens) == (None, None)
    assert (found.context_tokens, found.max_output_tokens) == (None, None)
