"""What a turn may have done to the world, by the events of its calls."""

import pytest

from airboss.harness.replay import Effects, has_effects
from airboss.model.events import Event, PermissionDecided, ToolEnded, ToolError, ToolStarted
from airboss.model.gate_events import ToolVetoed


def started(block: str, name: str) -> ToolStarted:
    return ToolStarted(block=block, name=name, arguments="{}")


def decided(block: str, *, allowed: bool) -> PermissionDecided:
    return PermissionDecided(
        request="r", wish="shell", about="x", allowed=allowed, by="policy", reason="", call=block
    )


def effects(*events: Event) -> tuple[str, ...]:
    told = Effects()
    for event in events:
        told.hear(event)
    return told.tools


@pytest.mark.parametrize(
    ("tool", "has"),
    [
        *(("bash", True), ("edit", True), ("create", True), ("write_agent", True)),
        *(("view", False), ("grep", False), ("web_fetch", False), ("task", False), ("sql", False)),
        *(("job_prepare_document", False), ("ask_user", False)),
        *(("wiki-search", True), ("nobody_knows_it", True)),
    ],
)
def test_a_tool_that_only_looks_has_none_and_one_that_nobody_listed_has(
    tool: str, has: bool
) -> None:
    assert has_effects(tool) is has


def test_each_tool_is_named_once_in_the_order_of_its_first_call() -> None:
    calls = [started("1", "view"), started("2", "edit"), started("3", "bash"), started("4", "edit")]
    assert effects(*calls) == ("edit", "bash")


def test_a_call_that_was_not_let_through_has_none() -> None:
    veto = ToolVetoed(tool="bash", block="1", reason="no", denied="policy")
    assert effects(started("1", "bash"), veto) == ()
    assert effects(started("1", "bash"), decided("1", allowed=False)) == ()
    assert effects(started("1", "bash"), decided("1", allowed=True)) == ("bash",)


def test_a_tool_that_does_not_exist_has_none_and_one_that_failed_may_have_some() -> None:
    missing = ToolError(message="Tool 'made_up' does not exist. Available tools: view")
    ended = ToolEnded(block="1", text="", error=missing)
    assert effects(started("1", "made_up"), ended) == ()
    failed = ToolEnded(block="1", text="", error=ToolError(message="exit 1"))
    assert effects(started("1", "bash"), failed) == ("bash",)
