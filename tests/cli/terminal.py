"""A person at a terminal: sees what a command draws, types, presses Ctrl-C."""

import os
import pty
import select
import subprocess
import sys
import time
from types import TracebackType

from tests.portal import Portal, command

# A terminal that is only inherited sends no signals; this makes it the program's own.
_TAKE_THE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    def __init__(self, portal: Portal, *words: str, **environ: str) -> None:
        self._ours, theirs = pty.openpty()
        self.seen = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_THE_TERMINAL, *command(*words)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=portal.work,
            env={**portal.environ, "TERM": "xterm-256color", **environ},
            start_new_session=True,
        )
        os.close(theirs)

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

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def press_ctrl_d(self) -> None:
        self.type("\x04")

    def see(self, text: str, seconds: float = 30) -> str:
        """Wait until the text is there; what came with it is forgotten for the next look."""
        until = time.monotonic() + seconds
        while text not in self.seen:
            left = until - time.monotonic()
            assert left > 0, f"{text!r} did not come; there was {self.seen!r}"
            self._look(left)
        before, _, self.seen = self.seen.partition(text)
        return before + text

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
            self.seen += os.read(self._ours, 65536).decode(errors="replace")
        except OSError:  # the other side is gone
            time.sleep(0.01)
