"""The keyboard while something goes on elsewhere: Ctrl-C is counted, instead of cutting what is
being drawn, and what is typed is gathered until a line is whole."""

import codecs
import os
import re
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)
# Arrows and other keys that say more than one character.
_KEYS: Final = re.compile("\x1b(?:\\[[0-9;]*[A-Za-z~]|O.|.)?")
_ERASE: Final = ("\x7f", "\x08")
_ERASE_ALL: Final = "\x15"


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


class Typing:
    """What is being typed. Where there is no keyboard, nothing ever is."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.text = ""
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def lines(self) -> list[str]:
        """Those that were finished since the last look."""
        whole: list[str] = []
        for key in _KEYS.sub("", self._pressed()):
            if key == "\n":
                whole.append(self.text)
                self.text = ""
            elif key in _ERASE:
                self.text = self.text[:-1]
            elif key == _ERASE_ALL:
                self.text = ""
            elif key.isprintable():
                self.text += key
        return [line for line in whole if line.strip()]

    def _pressed(self) -> str:
        if self._descriptor is None or not select.select([self._descriptor], [], [], 0)[0]:
            return ""
        return self._decoder.decode(os.read(self._descriptor, 4096))


@contextmanager
def typing() -> Generator[Typing]:
    """Keys come one by one and are not shown by the terminal, which stays as it was afterwards."""
    try:
        import termios
        import tty
    except ImportError:  # a system without terminals of this kind
        yield Typing()
        return
    if not sys.stdin.isatty():
        yield Typing()
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor, termios.TCSADRAIN)
    try:
        yield Typing(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
