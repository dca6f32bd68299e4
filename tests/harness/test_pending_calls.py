"""A hook's call and an event's block are one call, in whatever order they come."""

from airboss.harness.pending_calls import PendingCalls
from airboss.model.events import ToolStarted
from airboss.runtime.hooks import ToolUse

STINT = ("trn_1", None)


def use(command: str) -> ToolUse:
    return ToolUse("bash", {"command": command})


def started(block: str, command: str) -> ToolStarted:
    return ToolStarted(block=block, name="bash", arguments=f'{{"command": "{command}"}}')


def test_it_is_found_whoever_tells_first() -> None:
    calls = PendingCalls(str)
    first = calls.begin(use("a"), STINT)
    calls.started(started("call_1", "a"))
    calls.started(started("call_2", "b"))
    second = calls.begin(use("b"), STINT)
    assert (first.block, second.block) == ("call_1", "call_2")
    assert calls.ended("call_2") is second
    assert calls.ended("call_2") is None


def test_of_several_calls_of_one_tool_the_arguments_tell_which() -> None:
    calls = PendingCalls(str)
    first, second = calls.begin(use("a"), STINT), calls.begin(use("b"), STINT)
    calls.started(started("call_2", "b"))
    calls.started(started("call_1", "a"))
    assert (first.block, second.block) == ("call_1", "call_2")


def test_a_refused_call_still_gets_its_name() -> None:
    calls = PendingCalls(str)
    calls.refuse(calls.begin(use("a"), STINT))
    assert calls.started(started("call_1", "a")) is True
    assert calls.ended("call_1") is None


def test_the_calls_of_an_earlier_turn_are_forgotten() -> None:
    calls = PendingCalls(str)
    calls.begin(use("a"), STINT)
    later = calls.begin(use("a"), ("trn_2", None))
    calls.started(started("call_1", "a"))
    assert later.block == "call_1"
