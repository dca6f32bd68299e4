"""A person at a terminal: sees what a command draws, types, presses Ctrl-C."""

import codecs
import os
import pty
import re
import select
import time
from types import TracebackType

from tests.nursery import Streams, the_nursery
from tests.portal import Portal

_COLOUR = re.compile("\x1b\\[[0-9;]*m")


class Terminal:
    def __init__(self, portal: Portal, *words: str, **environ: str) -> None:
        self._ours, self._theirs = pty.openpty()
        self._drawn = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        given = {**portal.environ, "TERM": "xterm-256color", **environ}
        name = os.ttyname(self._theirs)
        streams = Streams(name, name, name, is_terminal=True)
        self.process = the_nursery().fork(words, given, portal.work, streams)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        os.close(self._ours)
        os.close(self._theirs)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def read(self) -> None:
        """As long as it takes to see what was drawn."""
        time.sleep(0.7)

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def press_ctrl_d(self) -> None:
        self.type("\x04")

    @property
    def colours(self) -> list[str]:
        return _COLOUR.findall(self._drawn)

    @property
    def seen(self) -> str:
        """All that was drawn and not seen yet, without its colours."""
        return _COLOUR.sub("", self._drawn)

    def see(self, text: str, seconds: float = 30) -> None:
        """Wait until the text is there. It, and all before it, is then behind us."""
        until = time.monotonic() + seconds
        while text not in self.seen:
            left = until - time.monotonic()
            assert left > 0, f"{text!r} did not come; there was {self._drawn!r}"
            self._look(left)
        self._drawn = self.seen.partition(text)[2]

    def rest_at(self, sign: str) -> None:
        """Wait until the sign is there and the program reads behind it.

        A signal that comes while readline draws its sign, before it waits for a key, is heard
        with the next key only (CPython checks for signals when the wait is interrupted).
        """
        self.see(sign)
        time.sleep(0.3)

    def leave(self, seconds: float = 20) -> int:
        """The exit code, once the command has ended."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            self._look(0.1)
        return self.process.wait(1)

    def _look(self, seconds: float) -> None:
        if not select.select([self._ours], [], [], seconds)[0]:
            return
        try:
            self._drawn += self._decoder.decode(os.read(self._ours, 65536))
        except OSError:  # the other side is gone
            time.sleep(0.01)
