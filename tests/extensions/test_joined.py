"""What an extension may bring when it joins, and whose each name is."""

from typing import Any

import pytest

from airboss.extensions.joined import HOOK_KINDS, NotLetIn, joined
from airboss.extensions.names import GivenNames


def tool(name: object = "ticket", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "x", **more}


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ([tool("a b")], "cannot be named 'a b'"),
        ([tool("x" * 65)], "1 to 64 letters"),
        ([tool(7)], "cannot be named 7"),
        ([tool(), tool()], "two tools named ticket"),
        ([tool(f"t{number}") for number in range(65)], "65 tools; 64 are the most"),
        ([tool(description="x" * 4_001)], "at most 4,000 characters"),
        ([tool(parameters={"x": "y" * 40_000})], "more than 32 KiB"),
        ([tool(parameters=["x"])], "no JSON Schema"),
        ([tool(parameters={"type": "array"})], "no schema of an object"),
        ([tool(parameters={"properties": {"a": {"$dynamicRef": "#x"}}})], "no schema of an object"),
        ([tool(parameters={"properties": {"größe": {}}})], "the name 'größe', which some models"),
        ([tool(parameters={"properties": {"x" * 65: {}}})], "which some models refuse, and every"),
        (["x"], "not an object"),
        ({"x": 1}, "not a list"),
    ],
)
def test_what_is_not_let_in(tools: object, why: str) -> None:
    with pytest.raises(NotLetIn, match=why):
        joined({"tools": tools})


def test_a_property_may_be_named_like_a_word_that_schemas_may_not_have() -> None:
    named = {"properties": {"a": {"properties": {"$dynamicRef": {"type": "string"}}}}}
    [brought] = joined({"tools": [tool(parameters=named)]}).tools.values()
    assert brought.offer.parameters == {"type": "object", **named}


def test_parameters_without_a_type_are_those_of_an_object() -> None:
    """Otherwise the runtime does not tell the model of the tool, and says nothing."""
    [brought] = joined({"tools": [tool(parameters={"anyOf": [{}]})]}).tools.values()
    assert brought.offer.parameters == {"type": "object", "anyOf": [{}]}


def test_a_list_says_that_anything_may_be_in_it_where_it_said_nothing() -> None:
    """Otherwise some models refuse every request in which the tool is offered."""
    parts = {"tags": {"type": ["array", "null"]}, "type": {"type": "string", "enum": ["array"]}}
    odd = {"default": {"type": "array"}, "anyOf": [{"type": "array"}, {"type": "null"}]}
    named = {"properties": {**parts, "odd": odd, "names": {"type": "array", "items": {"x": 1}}}}
    [brought] = joined({"tools": [tool(parameters=named)]}).tools.values()
    assert (brought.offer.parameters or {})["properties"] == {
        **parts,
        "tags": {"type": ["array", "null"], "items": {}},
        "odd": {**odd, "anyOf": [{"type": "array", "items": {}}, {"type": "null"}]},
        "names": {"type": "array", "items": {"x": 1}},
    }


def test_tools_ask_leave_and_stand_before_hidden_ones_of_the_runtime() -> None:
    brought = joined({"tools": [tool(seconds=3, repeatable=True), tool("other", seconds="x")]})
    one, other = brought.tools["ticket"], brought.tools["other"]
    assert (one.offer.asks, one.offer.replaces, one.offer.handle) == (True, True, None)
    assert (one.seconds, one.repeatable) == (3.0, True)
    assert (other.seconds, other.repeatable) == (600.0, False)


def test_the_kit_says_which_hooks_it_has_and_the_sdk_only_that() -> None:
    kit = joined({"hooks": True, "hookKinds": {"preToolUse": ["bash"], "odd": None}})
    assert kit.cares("preToolUse", "bash")
    assert not kit.cares("preToolUse", "view")
    assert set(kit.hooks) == {"preToolUse"}
    assert kit.events == frozenset()
    sdk = joined({"hooks": True})
    assert set(sdk.hooks) == set(HOOK_KINDS)
    assert "session.idle" in sdk.events
    assert joined({}).hooks == {}


def test_names_are_given_once_and_kept_over_a_restart() -> None:
    names = GivenNames(["files"])
    first, second = joined({"tools": [tool()]}), joined({"tools": [tool(), tool("more")]})
    assert names.give("a", first) is None
    assert "the extension a already uses" in (names.give("b", second) or "")
    assert names.give("a", second) is None
    names.take_back("a")
    assert names.give("b", second) is None
    for name in ("bash", "rg", "read_inbox", "task_complete", "ask_user", "extensions_reload"):
        assert "already uses" in (names.give("c", joined({"tools": [tool(name)]})) or "")
    assert "MCP server files" in (names.give("c", joined({"tools": [tool("files-x")]})) or "")
