"""How long whoever asks for something waits for a database that is away.

People are refused after a few seconds. Work that nobody waits for has all the time: a run does not
fail because its database is started again.
"""

import asyncio
from contextvars import Context, ContextVar, copy_context
from typing import Final

# So long a person waits: within five seconds there is an answer, which has to be written and sent.
PERSON_SECONDS: Final = 4.8

# None has no bound.
_seconds: ContextVar[float | None] = ContextVar("patience", default=None)


# Set when the server is told to stop.
_ending: ContextVar[asyncio.Event | None] = ContextVar("ending", default=None)


def wait_for_nothing_after(ending: asyncio.Event) -> None:
    """A server that is told to stop does not wait for its database first. Of all that begins from
    here on."""
    _ending.set(ending)


def is_ending() -> bool:
    ending = _ending.get()
    return ending is not None and ending.is_set()


def be_patient_for(seconds: float) -> None:
    """Of all that is asked for from here on, each for so long."""
    _seconds.set(seconds)


def patience() -> float | None:
    """For how many seconds whoever asks now waits; None without a bound."""
    return _seconds.get()


def patient_context() -> Context | None:
    """This context, with all the time; none where it has that already."""
    if _seconds.get() is None:
        return None
    context = copy_context()
    context.run(_seconds.set, None)
    return context
