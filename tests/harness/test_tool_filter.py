"""A session's list of tools, held at the gate."""

from airboss.harness.gate import GateRefusal
from airboss.harness.tool_filter import tool_policies
from airboss.model.setup import ToolSetup
from airboss.model.tool_lists import ToolList
from airboss.runtime.hooks import ToolUse


def test_a_session_that_may_have_all_has_nothing_checked() -> None:
    assert tool_policies(ToolSetup()) == ()


async def test_what_is_not_on_the_list_is_refused_by_name() -> None:
    [check] = tool_policies(ToolSetup(lists=(ToolList(allow=("view", "files/peek")),)))
    assert await check(ToolUse("view", {})) is None
    assert await check(ToolUse("files-peek", {})) is None
    assert await check(ToolUse("job_boolean_true", {})) is None
    refused = GateRefusal("files-poke is not among the tools of this session.")
    assert await check(ToolUse("files-poke", {})) == refused


async def test_the_search_for_tools_goes_with_its_switch() -> None:
    lists = (ToolList(allow=()),)
    use = ToolUse("tool_search_tool", {})
    [check] = tool_policies(ToolSetup(lists=lists, search="on"))
    assert await check(use) is None
    [check] = tool_policies(ToolSetup(lists=lists, search="off"))
    assert isinstance(await check(use), GateRefusal)
