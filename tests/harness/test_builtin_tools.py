"""What the runtime's own tools do, and what the name of a foreign one tells."""

import pytest

from airboss.harness.builtin_tools import BUILT_IN, is_asked_for, is_poll, is_send


def test_the_runtime_asks_for_its_own_tools_but_for_what_it_asks_github() -> None:
    not_asked = {tool for tool in BUILT_IN if not is_asked_for(tool)}
    assert not_asked == {"semantic_code_search"}
    assert not is_asked_for("github-mcp-server-peek")
    assert not is_asked_for("job_boolean_true")


def test_what_only_looks_how_something_goes_is_a_poll() -> None:
    polls = {tool for tool in BUILT_IN if is_poll(tool)}
    assert polls == {"read_bash", "list_bash", "read_agent", "list_agents"}
    assert not is_poll("list_anything_else")


@pytest.mark.parametrize(
    ("tool", "sends"),
    [
        ("write_agent", True),
        ("slack-send_message", True),
        ("mail-reply", True),
        ("notify", True),
        ("view", False),
        ("resend", False),
        ("files-sender", False),
    ],
)
def test_a_foreign_tool_sends_where_a_word_of_its_name_says_so(tool: str, sends: bool) -> None:
    assert is_send(tool) is sends
