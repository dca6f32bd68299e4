"""Requests that a limit or a sign-in held back: nothing was sent, they wait without an agent."""

from typing import TYPE_CHECKING

from airboss.harness.item_lines import reason_of
from airboss.harness.session_state import SharedBudgets
from airboss.harness.turn import Pause
from airboss.log.log import EventLog
from airboss.model.ids import PromptId
from airboss.model.inbox_events import LimitReached, SignInAsked
from airboss.model.views import SessionView, View

if TYPE_CHECKING:
    from airboss.harness.limits import Budget

_LOOK_SECONDS = 5.0


def held_back(view: View | None, prompt: PromptId) -> LimitReached | SignInAsked | None:
    """What is asked about this request, of which nothing was sent."""
    for item in view.items if isinstance(view, SessionView) else ():
        asked = item.asked
        if isinstance(asked, LimitReached) and not asked.before_turn:
            continue
        if isinstance(asked, LimitReached | SignInAsked) and asked.prompt == prompt:
            return asked
    return None


async def until_decided(
    log: EventLog, shared: SharedBudgets, session: str, prompt: PromptId, pause: Pause | None
) -> None:
    """An earlier server, or a runtime that was lost, left the request waiting: it waits on."""
    view = await log.last_view(session)
    asked = held_back(view, prompt)
    if asked is None or not isinstance(view, SessionView):
        return
    if pause is not None:
        pause.begin(reason_of(asked), asked.item)
    budgets = shared.of(view.task)
    scope = asked.scope if isinstance(asked, LimitReached) else None
    held: list[Budget] = [budget for budget in budgets if budget.scope == scope]
    for budget in held:
        budget.is_asked = True
    try:
        async with log.follow(session, view.seq) as follower:
            while held_back(view, prompt):
                await follower.next(_LOOK_SECONDS)
                view = await log.view(session)
    finally:
        if pause is not None:  # whoever goes on takes a place
            pause.drop(asked.item)
        if isinstance(view, SessionView):
            for budget in budgets:
                budget.grant(view.granted)
        for budget in held:
            budget.release()
