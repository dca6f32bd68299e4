"""When two calls are the same, and when two results are (LOOP-3, LOOP-4)."""

import time
from typing import Any

import pytest

from airboss.harness.call_fingerprint import outcome_hash, signature
from airboss.runtime.hooks import ToolOutcome


def same(tool: str, one: ToolOutcome, other: ToolOutcome) -> bool:
    return outcome_hash(tool, {}, one) == outcome_hash(tool, {}, other)


def test_the_order_of_arguments_does_not_matter_their_values_do() -> None:
    """LOOP-3."""
    one = signature("edit", {"path": "a", "lines": {"to": 2, "from": 1}})
    assert one == signature("edit", {"lines": {"from": 1, "to": 2}, "path": "a"})
    assert one != signature("edit", {"path": "b", "lines": {"to": 2, "from": 1}})
    assert one != signature("view", {"path": "a", "lines": {"to": 2, "from": 1}})
    assert one.startswith("edit:")
    assert len(one.removeprefix("edit:")) == 64


def test_arguments_that_hold_themselves_do_no_harm() -> None:
    """LOOP-3: cyclic values must not crash."""
    ring: dict[str, Any] = {"name": "ring"}
    ring["self"] = [ring]
    again: dict[str, Any] = {"name": "ring"}
    again["self"] = [again]
    assert signature("t", ring) == signature("t", again)
    assert signature("t", ring) != signature("t", {"name": "ring"})


@pytest.mark.parametrize("odd", [{1: "a", "b": 2}, {"a": object()}, {"a": {3, 4}}, {"a": "\ud800"}])
def test_odd_arguments_have_a_signature_too(odd: dict[Any, Any]) -> None:
    assert signature("t", odd) == signature("t", dict(odd))


def test_deep_arguments_have_a_signature_too() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"in": deep}
    assert signature("t", deep)


def test_an_error_is_known_by_its_message() -> None:
    """LOOP-4."""
    no = ToolOutcome(error="No such file.")
    assert same("view", no, ToolOutcome(text="whatever", error="No such file."))
    assert not same("view", no, ToolOutcome(error="Not allowed."))
    assert not same("view", no, ToolOutcome(text="No such file."))


def test_a_result_is_known_by_its_details_and_its_text() -> None:
    """LOOP-4."""
    one = ToolOutcome("Changed.", details="-one\n+two")
    assert same("edit", one, ToolOutcome("Changed.", details="-one\n+two"))
    assert not same("edit", one, ToolOutcome("Changed.", details="-one\n+three"))
    assert not same("edit", one, ToolOutcome("Created.", details="-one\n+two"))


def shell(number: int, output: str, code: int = 0) -> ToolOutcome:
    """As the runtime tells the end of a command."""
    return ToolOutcome(f"{output}\n<shellId: {number} completed with exit code {code}>")


def test_the_number_of_a_shell_is_no_progress() -> None:
    """LOOP-4: a finished command is known by its exit code and output."""
    assert same("bash", shell(1, "hi"), shell(2, "hi"))
    assert not same("bash", shell(1, "hi"), shell(2, "ho"))
    assert not same("bash", shell(1, "hi"), shell(2, "hi", code=1))


def test_a_running_command_is_known_by_what_it_said_so_far() -> None:
    """LOOP-4."""
    words = "<command started in background with shellId: {}>"
    assert same("bash", ToolOutcome(words.format(3)), ToolOutcome(words.format(4)))
    running = "line 1\n<command with shellId: 3 is still running>"
    assert same("read_bash", ToolOutcome(running), ToolOutcome(running))
    assert not same("read_bash", ToolOutcome(running), ToolOutcome(f"line 0\n{running}"))


def test_a_number_that_a_command_prints_itself_is_progress() -> None:
    assert not same("bash", shell(1, "shellId: 7"), shell(1, "shellId: 8"))


def test_where_a_long_output_was_put_is_no_progress() -> None:
    words = "Output too large to read at once ({}). Saved to: /tmp/{}-copilot-tool-output-{}.txt\n1"
    one = ToolOutcome(words.format("106.3 KB", "1794753373450", "31838-3e4c"))
    assert same("bash", one, ToolOutcome(words.format("106.3 KB", "1794753373617", "31838-8dc4")))
    assert not same("bash", one, ToolOutcome(words.format("107 KB", "1794753373617", "1-8dc4")))


def test_of_a_long_output_that_was_streamed_both_forms_count() -> None:
    """Its text is what was streamed, and its details what the agent was told instead."""

    def long(number: int, code: int = 0, text: str = "1\n2\n") -> ToolOutcome:
        told = (
            f"Saved to: /tmp/{number}-copilot-tool-output-{number}.txt\n<shellId: {number} {code}>"
        )
        return ToolOutcome(text, details=told)

    assert same("bash", long(1), long(2))
    assert not same("bash", long(1), long(2, code=1))
    assert not same("bash", long(1), long(2, text="1\n3\n"))


def test_a_long_line_is_looked_at_in_no_time() -> None:
    """It once took seconds, in which no other session was heard."""
    began = time.process_time()
    same("bash", ToolOutcome("x" * 200_000), ToolOutcome("copilot-tool-output-" * 10_000))
    assert time.process_time() - began < 1


@pytest.mark.parametrize("tool", ["write_agent", "chat-send", "send_mail", "notify"])
def test_ids_and_times_of_what_was_sent_are_no_progress(tool: str) -> None:
    """LOOP-4: sends are known by their details without volatile ids and timestamps."""
    one = ToolOutcome('{"ok": true, "messageId": "m1", "sentAt": 1}', details='{"id": 1, "to": 3}')
    two = ToolOutcome('{"ok": true, "messageId": "m2", "sentAt": 2}', details='{"id": 2, "to": 3}')
    assert same(tool, one, two)
    assert not same(tool, one, ToolOutcome('{"ok": false, "messageId": "m1"}', details=two.details))
    assert not same("sql", one, two), "of other tools an id may be all that changes"


def test_a_result_belongs_to_the_arguments_that_it_was_made_with() -> None:
    """GATE-5: changed parameters are what is hashed for the outcome."""
    done = ToolOutcome("ok")
    assert outcome_hash("t", {"a": 1}, done) != outcome_hash("t", {"a": 2}, done)
