"""What a session was opened with, as its first event says."""

from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.setup import USUAL, Setup


async def setup_of(log: EventLog, session: str) -> Setup:
    """The same for every resume, whatever the settings and entries say by then."""
    recorded = await log.after(session, 0, 1)
    opened = recorded[0].event if recorded else None
    return (isinstance(opened, SessionOpened) and opened.setup) or USUAL
