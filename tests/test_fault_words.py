"""What pydantic says of a value, as people are told it: in words, and at its place."""

from typing import Any

import pytest
from pydantic import ValidationError

from airboss.fault_words import fault_place, fault_words
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
            {"mcpServers": {"a": {"command": ["a"], "env": {"b[c]": "d"}}}},
            "mcpServers.a.env.b[c]: String should match pattern",
        ),
        ({"tools": {"literal[x]": 1, "a[b": 2}}, "tools.a[b: Extra inputs are not permitted"),
    ],
)
def test_a_fault_is_told_in_words_at_its_place(said: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        SessionKeys.model_validate(said)
    faults = [
        f"{'.'.join(map(str, fault_place(fault)))}: {fault_words(fault)}"
        for fault in refused.value.errors()
    ]
    assert any(fault.startswith(told) for fault in faults), faults
