"""What pydantic says of a value, as people are told it: in words, and at its place."""

from typing import Any

import pytest
from pydantic import ValidationError

from airboss.fault_words import fault_place, fault_words, told_faults
from airboss.session_keys import SessionKeys


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"directories": "a"}, "directories: Input should be a list"),
        ({"tools": []}, "tools: Input should be an object, with names and values"),
        (
            {"systemMessage": {"sections": {"tone": {"replace": 5}}}},
            "systemMessage.sections.tone.replace: Input should be a valid string",
        ),
        (
            {"mcpServers": {"a": {"command": []}}},
            "mcpServers.a.command: List should have at least 1 item",
        ),
        (
            {"mcpServers": {"a": {"command": ["a"] * 300}}},
            "mcpServers.a.command: List should have at most 200 items",
        ),
        ({"mcpServers": {"a": {"url": "https://h:99999"}}}, "mcpServers.a.url: Should be an addr"),
        (
            {"mcpServers": {"a": {"url": "https://u:p@h"}}},
            "mcpServers.a.url: Should be an address.",
        ),
        (
            {"agents": {"a b": {"description": "a", "prompt": "b"}}},
            "agents.a b: Should have letters, digits, - and _ only, and at most 64 of them.",
        ),
        (
            {"hooks": {"agentStop": [{"python": "a.py"}]}},
            "hooks.agentStop.0.python: Should be FILE.py:FUNCTION, such as hooks.py:check.",
        ),
        (
            {"mcpServers": {"a": {"command": ["a"], "env": {"b[c]": "d"}}}},
            "mcpServers.a.env.b[c]: Should be the name of a variable.",
        ),
        ({"tools": {"literal[x]": 1, "a[b": 2}}, "tools.a[b: There is no such field"),
    ],
)
def test_a_fault_is_told_in_words_at_its_place(said: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        SessionKeys.model_validate(said)
    faults = [
        f"{'.'.join(map(str, fault_place(fault)))}: {fault_words(fault)}"
        for fault in told_faults(refused.value.errors())
    ]
    assert any(fault.startswith(told) for fault in faults), faults


def test_a_list_is_not_called_too_short_where_what_is_in_it_is_wrong() -> None:
    with pytest.raises(ValidationError) as refused:
        SessionKeys.model_validate({"hooks": {"agentStop": [{"command": ["a\0b"]}]}})
    [fault] = told_faults(refused.value.errors())
    assert fault_words(fault) == "Should have no NUL in it."
