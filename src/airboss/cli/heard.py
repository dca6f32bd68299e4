"""What somebody who follows the server hears: events, the ends of streams, the connection."""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from airboss.cli.trouble import Trouble

# By the beginning of its id: what a stream is called in JSON.
_NAMES: Final = {"ses_": "session", "tsk_": "task_run", "run_": "run"}


@dataclass(frozen=True)
class Record:
    """One event, with its place in its stream."""

    seq: int
    at: int
    event: dict[str, Any]
    stream: str = ""

    @property
    def kind(self) -> str:
        return str(self.event.get("kind", ""))

    def labelled(self) -> dict[str, Any]:
        """For scripts: the event with its place and its session, task run or run."""
        name = _NAMES.get(self.stream[:4], "session")
        return {name: self.stream, "seq": self.seq, "at": self.at, "event": self.event}


@dataclass(frozen=True)
class Remark:
    """A word on the connection, for the person who waits."""

    text: str


@dataclass(frozen=True)
class CaughtUp:
    """All that was there when the connection was made has been heard."""


@dataclass(frozen=True)
class StreamEnded:
    """Nothing comes of it any more; with a trouble, since it is not there or cannot be followed."""

    stream: str
    trouble: Trouble | None = None


@dataclass(frozen=True)
class Pressed:
    """Somebody pressed Ctrl-C."""


Heard: TypeAlias = Record | Remark | CaughtUp | StreamEnded | Pressed
