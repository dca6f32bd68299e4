"""What a task's availability and criteria come to, field by field, given the facts."""

from collections.abc import Sequence
from typing import Final, Literal

from airboss.entry.part import Prompt
from airboss.entry.tools import BOOLEAN_FALSE, BOOLEAN_TOOLS, BOOLEAN_TRUE
from airboss.model.task_events import CheckedField, TaskChecked, ToolCall

_CONDITIONS: Final[dict[Literal["availability", "criteria"], CheckedField]] = {
    "availability": "availability.condition",
    "criteria": "criteria.condition",
}


def check_previous_tasks(named: Sequence[str], ended: Sequence[str]) -> TaskChecked:
    """One of those that ended last is among the named; at the start of a job there is none."""
    if not ended:
        reason = "No task ended before."
    elif len(ended) == 1:
        reason = f"The last task before was {ended[0]}."
    else:
        reason = f"The last tasks before were {', '.join(ended)}."
    return TaskChecked(
        field="availability.previousTasks",
        round=0,
        holds=any(task in named for task in ended),
        content=", ".join(named),
        reason=reason,
    )


def said_yes(calls: Sequence[ToolCall]) -> bool:
    """The last boolean tool that was called decides; without any the answer is no."""
    said = [call.tool for call in calls if call.tool in BOOLEAN_TOOLS]
    return bool(said) and said[-1] == BOOLEAN_TRUE


def check_condition(
    of: Literal["availability", "criteria"],
    condition: Prompt,
    calls: Sequence[ToolCall],
    retry: int = 0,
) -> TaskChecked:
    said = [call for call in calls if call.tool in BOOLEAN_TOOLS]
    if not said:
        reason = f"Neither {BOOLEAN_TRUE} nor {BOOLEAN_FALSE} was called."
    else:
        reason = said[-1].argument
        if not reason.strip():
            reason = f"{said[-1].tool} was called without a reason."
    return TaskChecked(
        field=_CONDITIONS[of],
        round=retry,
        holds=said_yes(calls),
        content="\n".join(condition),
        reason=reason,
    )


def check_unasked(
    of: Literal["availability", "criteria"], condition: Prompt, reason: str, retry: int = 0
) -> TaskChecked:
    """A condition that nobody could be asked: neither true nor false."""
    return TaskChecked(
        field=_CONDITIONS[of],
        round=retry,
        holds=False,
        content="\n".join(condition),
        reason=reason,
        unasked=True,
    )


def missing_tools(named: Sequence[str], calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """Those that were not called, in the file's order, each once."""
    called = {call.tool for call in calls}
    return tuple(tool for tool in dict.fromkeys(named) if tool not in called)


def check_tools(named: Sequence[str], missing: Sequence[str], retry: int) -> TaskChecked:
    return TaskChecked(
        field="criteria.toolExecuted",
        round=retry,
        holds=not missing,
        content=", ".join(named),
        reason=f"Not called: {', '.join(missing)}." if missing else "All were called.",
    )
