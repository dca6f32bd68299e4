"""The job tools: how an agent tells a task what it found. Every session has them, a chat's too.

Their calls do nothing by themselves; they are read from the session's events.
"""

from collections.abc import Mapping
from typing import Any, Final

from airboss.entry.tools import (
    ARGUMENT,
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    PREPARE_DOCUMENT,
    PREREQUISITE_FAILED,
)
from airboss.runtime.tools import ToolOffer, ToolRefusal

_WHEN = "Call it only when the request tells you to."


def _offer(name: str, description: str, argument: str, answer: str) -> ToolOffer:
    def handle(given: Mapping[str, Any]) -> str | ToolRefusal:
        if isinstance(given.get(ARGUMENT), str):
            return answer
        return ToolRefusal(
            f"{name} needs one string named “{ARGUMENT}”: {argument} "
            "This call did not count. Call it again with that."
        )

    parameters = {
        "type": "object",
        "properties": {ARGUMENT: {"type": "string", "description": argument}},
        "required": [ARGUMENT],
        "additionalProperties": False,
    }
    return ToolOffer(name, f"{description} {_WHEN}", parameters, handle)


JOB_TOOL_OFFERS: Final = (
    _offer(
        PREPARE_DOCUMENT,
        "Report the document that you prepared, so that later steps find it.",
        "The document's absolute path, on the first line; the rest is not read.",
        "The document is noted.",
    ),
    _offer(
        BOOLEAN_TRUE,
        "Report that the condition you were asked to check holds. Of several reports of "
        "conditions the last counts.",
        "Why the condition holds.",
        "Noted: the condition holds.",
    ),
    _offer(
        BOOLEAN_FALSE,
        "Report that the condition you were asked to check does not hold. Of several reports of "
        "conditions the last counts.",
        "Why the condition does not hold.",
        "Noted: the condition does not hold.",
    ),
    _offer(
        PREREQUISITE_FAILED,
        "Report that a prerequisite of your work is missing or failed, so that the work cannot be "
        "done.",
        "Which prerequisite failed, and why.",
        "Noted: a prerequisite failed.",
    ),
)
