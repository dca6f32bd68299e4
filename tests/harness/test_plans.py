"""What an agent shows as its plan, and what it is told of a person's word on it."""

from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.permissions import PolicyRule
from airboss.harness.plans import (
    EXIT_PLAN_MODE,
    MOST_OF_A_PLAN,
    answer_text_of_plan,
    must_have_own_turn,
    plan_of,
    while_planning,
)
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ItemOutcome, ItemSettled, PlanAsked
from airboss.model.redaction import Redactor
from airboss.runtime.tools import OutsideCall, ToolRefusal


def shown(text: str | None = None, **arguments: Any) -> PlanAsked | ToolRefusal:
    call = OutsideCall("req", "call_1", EXIT_PLAN_MODE, arguments)
    return plan_of(call, text, prompt=None, redactor=Redactor(("s3cret-value",)))


def test_a_plan_is_shown_without_secrets_and_with_what_was_written_down() -> None:
    plan = shown("# Plan\n1. use s3cret-value", summary="- use s3cret-value")
    assert isinstance(plan, PlanAsked)
    assert "s3cret" not in plan.summary + str(plan.plan)
    assert str(plan.plan).startswith("# Plan")
    alone = shown("  \n", summary="- do it")
    assert isinstance(alone, PlanAsked)
    assert (alone.summary, alone.plan) == ("- do it", None)


@pytest.mark.parametrize(
    ("text", "summary", "wrong"),
    [
        (None, None, "needs a string"),
        (None, "  ", "needs a string"),
        (None, ["a"], "needs a string"),
        (None, "x" * (MOST_OF_A_PLAN + 1), "at most 200,000"),
        ("x" * (MOST_OF_A_PLAN + 1), "short", "at most 200,000"),
    ],
)
def test_what_is_no_plan_is_told_to_the_agent_and_to_nobody_else(
    text: str | None, summary: object, wrong: str
) -> None:
    refused = shown(text, summary=summary)
    assert isinstance(refused, ToolRefusal)
    assert wrong in refused.reason


def test_nothing_is_changed_while_a_plan_is_made() -> None:
    rule = PolicyRule(policy="approve-all", cwd=Path("/work"))
    assert while_planning(rule) == PolicyRule(policy="read-only", cwd=Path("/work"), given=True)
    narrower = PolicyRule(policy="deny-all", cwd=Path("/work"))
    assert while_planning(narrower) == narrower


def test_a_plan_needs_a_turn_of_its_own() -> None:
    must_have_own_turn("plan", None)
    must_have_own_turn(None, "steer")
    with pytest.raises(Invalid, match="turn of its own"):
        must_have_own_turn("plan", "steer")


@pytest.mark.parametrize(
    ("outcome", "words", "told"),
    [
        ("approved", None, "Carry out the plan now."),
        ("approved", "Use tabs.", "with these changes: Use tabs."),
        ("rejected", "Too risky.", "You are still in plan mode."),
        ("rejected", None, "gave no reason"),
        ("cancelled", None, "Change nothing."),
    ],
)
def test_the_agent_is_told_what_came_of_its_plan(
    outcome: ItemOutcome, words: str | None, told: str
) -> None:
    settled = ItemSettled(item=ItemId("itm_1"), outcome=outcome, answer=words)
    assert told in answer_text_of_plan(settled)
