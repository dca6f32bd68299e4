"""A server that belongs to the command that started it, and ends with it however that ends."""

import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from types import FrameType


class Parent:
    """Holds the other end of our standard input as long as it lives: a `kill -9` closes it too."""

    def __init__(self) -> None:
        self._is_gone = False
        # Until the server hears it by itself: what is to be removed is removed then, too.
        signal.signal(signal.SIGTERM, _leave)
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        # Nobody writes: this returns at the end.
        while os.read(sys.stdin.fileno(), 4096):
            pass
        self._is_gone = True
        # In order, as if somebody had stopped it.
        os.kill(os.getpid(), signal.SIGTERM)

    def clean_up(self, folder: Path) -> None:
        """What it would have removed, had it lived."""
        if self._is_gone:
            shutil.rmtree(folder, ignore_errors=True)


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise SystemExit(0)
