"""The agent's plans: the tool it shows one with, and what it is told of a person's word on it.

The runtime has a tool of this name, whose calls are lost with their server. Ours stands in its
place: a plan that nobody has decided on is there again when the session is resumed.
"""

from dataclasses import replace
from typing import Final

from airboss.errors import Invalid
from airboss.harness.permissions import PolicyRule
from airboss.model.hidden import visible_prose
from airboss.model.ids import PromptId, new_item_id
from airboss.model.inbox_events import ItemSettled, PlanAsked
from airboss.model.prompt_events import Overtaking, TurnMode
from airboss.model.redaction import Redactor
from airboss.runtime.tools import OutsideCall, ToolOffer, ToolRefusal

EXIT_PLAN_MODE: Final = "exit_plan_mode"
# What is longer is refused, so that whoever approves sees all of it.
MOST_OF_A_PLAN: Final = 200_000

PLAN_OFFER: Final = ToolOffer(
    name=EXIT_PLAN_MODE,
    description=(
        "In plan mode: show your finished plan to the person and wait until they approve it. "
        "Nothing can be changed before that. Outside of plan mode there is nothing to approve."
    ),
    parameters={
        "type": "object",
        "properties": {
            "summary": {
                "type": "string",
                "description": "The plan in short: what you will do, step by step, as a list.",
            }
        },
        "required": ["summary"],
    },
    handle=None,
    replaces=True,
)
NOT_PLANNING: Final = (
    "Nobody asked for a plan, so there is nothing to approve. Go on with the work."
)


def while_planning(rule: PolicyRule) -> PolicyRule:
    """The runtime's plan mode keeps no tool from writing, so the policy does."""
    if rule.policy == "deny-all":
        return rule
    return replace(rule, policy="read-only", given=True)


def must_have_own_turn(mode: TurnMode | None, overtaking: Overtaking | None) -> None:
    if mode == "plan" and overtaking == "steer":
        raise Invalid(
            "A plan is made in a turn of its own: send the message with `delivery` set to `queue` "
            "or `interrupt`."
        )


def plan_of(
    call: OutsideCall, text: str | None, *, prompt: PromptId | None, redactor: Redactor
) -> PlanAsked | ToolRefusal:
    """What is to be approved, or what is wrong with the call. `text` is the plan that the agent
    wrote down."""
    summary = call.arguments.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        return _wrong("needs a string named “summary”")
    if len(summary) > MOST_OF_A_PLAN or len(text or "") > MOST_OF_A_PLAN:
        return _wrong(f"takes a plan of at most {MOST_OF_A_PLAN:,} characters")
    return PlanAsked(
        item=new_item_id(),
        call=call.call,
        summary=visible_prose(redactor.text(summary)),
        plan=visible_prose(redactor.text(text)) if text and text.strip() else None,
        prompt=prompt,
    )


def answer_text_of_plan(settled: ItemSettled) -> str:
    """What the agent is told."""
    words = settled.answer
    match settled.outcome:
        case "approved" if words:
            return (
                f"The person approved the plan with these changes: {words}\n"
                "Plan mode is over. Carry out the plan with the changes now."
            )
        case "approved":
            return "The person approved the plan. Plan mode is over. Carry out the plan now."
        case "rejected" if words:
            return (
                f"The person rejected the plan and said: {words}\n"
                f"You are still in plan mode. Change the plan and call {EXIT_PLAN_MODE} again."
            )
        case "rejected":
            return (
                "The person rejected the plan and gave no reason. Change nothing, and end your "
                "turn. Say what you would need to know for a better plan."
            )
        case _:
            return "The plan was withdrawn before anybody decided on it. Change nothing."


def _wrong(reason: str) -> ToolRefusal:
    return ToolRefusal(f"{EXIT_PLAN_MODE} {reason}. Nobody was asked. Call it again with that.")
