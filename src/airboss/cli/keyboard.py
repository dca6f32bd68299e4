"""The keyboard while something goes on elsewhere: what is typed is gathered until a line is whole.
Ctrl-C is for `watcher` to count."""

import codecs
import os
import re
import select
import sys
from types import TracebackType
from typing import Any, Final, Self

# Arrows and other keys that say more than one character.
_KEYS: Final = re.compile("\x1b(?:\\[[0-9;]*[A-Za-z~]|O.|.)?")
_ERASE: Final = ("\x7f", "\x08")
_ERASE_ALL: Final = "\x15"


class Keyboard:
    """What is being typed, from when it is opened on; the terminal stays as it was afterwards.
    Where there is no keyboard, nothing ever is."""

    def __init__(self) -> None:
        self.text = ""
        self._descriptor: int | None = None
        self._before: list[Any] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            import termios

            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
            self._descriptor = None

    @property
    def is_open(self) -> bool:
        return self._descriptor is not None

    def open(self) -> None:
        """Keys come one by one, and are not shown by the terminal."""
        try:
            import termios
            import tty
        except ImportError:  # a system without terminals of this kind
            return
        if self.is_open or not sys.stdin.isatty():
            return
        descriptor = sys.stdin.fileno()
        self._before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        self._descriptor = descriptor

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
