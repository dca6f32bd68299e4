"""The worker's side of its guard: starts it, tells it of good beats, and of an end in order."""

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from airboss.machines import guard
from airboss.runtime import supervisor
from airboss.runtime.sweep import CHILDREN

# Imported rather than run, so that it need not be compiled each time.
_BEGIN: Final = (
    "import sys; sys.path += [sys.argv.pop(1), sys.argv.pop(1)]; import guard; guard.main()"
)
_END_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)


@dataclass
class Guard:
    """A process that outlives this one by as long as it takes to end its agents."""

    begin: "Callable[[], subprocess.Popen[bytes]]"
    process: "subprocess.Popen[bytes]" = field(init=False)
    _is_over: bool = field(default=False)

    def __post_init__(self) -> None:
        self.process = self.begin()
        CHILDREN.known.add(self.process.pid)

    @classmethod
    def started(
        cls,
        owner: str,
        notes: Path,
        silence: float,
        patience: float,
        tell: Sequence[str],
        environ: Mapping[str, str],
    ) -> "Guard | None":
        """None where there is no such thing: it finds processes as Linux shows them. `tell` is run
        for a worker that ended without a word, in `environ`."""
        if sys.platform != "linux":
            return None
        folders = [str(Path(module.__file__ or "").parent) for module in (guard, supervisor)]
        words = [owner, str(notes), f"{silence:g}", f"{patience:g}", *tell]
        begin = partial(
            subprocess.Popen[bytes],
            [sys.executable, "-I", "-S", "-c", _BEGIN, *folders, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            cwd="/",
            # What is sent to the terminal's group is not meant for it.
            start_new_session=True,
        )
        return cls(begin)

    def feed(self, sent_at: float) -> None:
        """A beat was good that was sent then, by the clock that counts sleep as well. A guard that
        somebody has killed is followed by another one."""
        if not self._is_over and self.process.poll() is not None:
            self._replace()
        self._say(f"{sent_at:.3f}".encode())

    def _replace(self) -> None:
        gone = self.process
        _log.warning("The guard of this worker has ended (%s). Starting another.", gone.returncode)
        try:
            self.process = self.begin()
        except OSError as error:  # the next beat tries it again
            _log.error("The guard of this worker cannot be started: %s", error)
            return
        CHILDREN.known.discard(gone.pid)
        CHILDREN.known.add(self.process.pid)
        if gone.stdin:
            with contextlib.suppress(OSError):
                gone.stdin.close()

    def dismiss(self) -> None:
        """This process ends in order, and its agents have ended."""
        if self._is_over:
            return
        self._is_over = True
        self._say(guard.BYE)
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_SECONDS)
        CHILDREN.known.discard(self.process.pid)

    def _say(self, line: bytes) -> None:
        # Where it is gone, the sweep at the next start does its part, and a lease is waited for.
        with contextlib.suppress(OSError, ValueError):
            if self.process.stdin:
                os.write(self.process.stdin.fileno(), line + b"\n")
