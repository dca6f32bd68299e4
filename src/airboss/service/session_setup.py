"""What a session was opened with, as its first event says, what was changed since, and the tools
that come of it."""

from dataclasses import dataclass

from airboss.errors import RuntimeUnavailable
from airboss.harness.conversation import Conversation
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.setup import USUAL, Setup
from airboss.model.tool_lists import known_and_allowed
from airboss.model.tool_table import OURS
from airboss.model.views import SessionView
from airboss.runtime.tool_names import ToolsBySource


@dataclass(frozen=True)
class EffectiveSetup:
    """`live`: the runtime itself said which tools there are; otherwise our table does."""

    setup: Setup
    tools: ToolsBySource
    live: bool


async def setup_of(log: EventLog, view: SessionView) -> Setup:
    """The same for every resume, whatever the settings and entries say by then."""
    recorded = await log.after(view.id, 0, 1)
    opened = recorded[0].event if recorded else None
    setup = (isinstance(opened, SessionOpened) and opened.setup) or USUAL
    effort = view.reasoning_effort or setup.reasoning_effort
    return setup.model_copy(update={"reasoning_effort": effort})


async def effective_setup(
    log: EventLog, view: SessionView, talk: Conversation | None
) -> EffectiveSetup:
    setup = await setup_of(log, view)
    try:
        found = await talk.tools() if talk else None
    except RuntimeUnavailable:  # it ends just now
        found = None
    return EffectiveSetup(setup, found or _by_table(setup), found is not None)


def _by_table(setup: Setup) -> ToolsBySource:
    names = known_and_allowed(setup.tools.lists)
    built_in = tuple(sorted(name for name in names if name not in OURS))
    return ToolsBySource(built_in, tuple(name for name in OURS if name in names))
