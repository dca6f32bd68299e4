"""How a command ends: what its exit codes mean, and what it says when it cannot go on."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    FAILED = 1
    REFUSED = 2
    STOPPED = 3
    UNREACHABLE = 4
    # What a shell reports of a program whose reader went away.
    PIPE_CLOSED = 141


class Trouble(Exception):
    """A command cannot go on: a sentence for a person, and the exit code for a script."""

    def __init__(self, text: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(text)
        self.code = code


class CommandRefused(Trouble):
    """The server, or the command itself, said no to what was asked."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text, Exit.REFUSED)
        self.status = status


class Unreachable(Trouble):
    """There is no server, or it does not answer."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Exit.UNREACHABLE)


class Busy(Trouble):
    """The server answered that it cannot just now; later it may."""
