"""What is said for a command of another process has that command as its origin: whoever does it
again, because the first one was lost, says it once."""

import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class _Command:
    stream: str
    origin: str
    is_told: bool = False


_command: ContextVar[_Command | None] = ContextVar("command", default=None)


@contextlib.contextmanager
def said_for(stream: str, origin: str) -> Generator[None]:
    """The first that is committed in this stream, by whoever is called here, comes from there."""
    token = _command.set(_Command(stream, origin))
    try:
        yield
    finally:
        _command.reset(token)


def origin_in(stream: str) -> str | None:
    """Of what is said in the stream now; none for all but the first."""
    command = _command.get()
    if command is None or command.is_told or command.stream != stream:
        return None
    command.is_told = True
    return command.origin
