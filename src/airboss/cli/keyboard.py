"""Ctrl-C while something goes on elsewhere: counted, instead of cutting what is being drawn."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def counted_presses() -> Generator[list[int]]:
    """The presses so far. Whoever ends the process in order (a time limit of a CI, say) counts as
    one who pressed."""
    presses: list[int] = []

    def pressed(number: int, frame: FrameType | None) -> None:
        del frame
        presses.append(number)

    before = [(number, signal.signal(number, pressed)) for number in _STOPPING]
    try:
        yield presses
    finally:
        for number, handler in before:
            signal.signal(number, handler)
