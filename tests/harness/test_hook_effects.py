"""Which words of a hook's answer count."""

import pytest

from airboss.harness.hook_effects import EFFECTS, WrongAnswer, changed_by, context_of, no_of
from airboss.session_keys import HOOKS


def test_every_hook_has_its_line() -> None:
    assert set(EFFECTS) == set(HOOKS)


def test_a_no_is_said_in_either_way() -> None:
    assert no_of({"decision": "block", "reason": "No."}) == "No."
    assert no_of({"permissionDecision": "deny"}) == "It gave no reason."
    assert no_of({"permissionDecision": "allow", "decision": "approve"}) is None


def test_only_what_a_hook_may_change_counts() -> None:
    assert changed_by("modelInput", {}, {"modifiedPrompt": "x"}) == {}
    assert changed_by("userPromptSubmitted", {}, {"modifiedPrompt": "x"}) == {"modifiedPrompt": "x"}
    before = {"toolResult": {"textResultForLlm": "a", "resultType": "success"}}
    assert changed_by("postToolUse", before, {"modifiedResult": "b"}) == {
        "modifiedResult": {"textResultForLlm": "b", "resultType": "success"}
    }
    assert changed_by("preMcpToolCall", {}, {"metaToUse": None}) == {"metaToUse": None}
    assert context_of("agentStop", {"additionalContext": "x"}) is None
    assert context_of("postToolUse", {"additionalContext": "x"}) == "x"


def test_what_has_another_type_is_refused() -> None:
    for name, output in (
        ("preToolUse", {"modifiedArgs": "x"}),
        ("userPromptSubmitted", {"modifiedPrompt": 5}),
        ("postToolUse", {"modifiedResult": 5}),
    ):
        with pytest.raises(WrongAnswer):
            changed_by(name, {}, output)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongAnswer):
        context_of("postToolUse", {"additionalContext": 5})
