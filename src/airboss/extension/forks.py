"""What an extension forks begins as a copy of it, with its loop, its streams and its signals.

A copy must use none of these: a signal to it would end the extension, and two would talk with the
host.
"""

import os
import signal
import threading


class ForkGuard:
    """Of this process, as soon as it has a loop that takes signals."""

    def __init__(self) -> None:
        self.is_copy = False
        self._held = threading.local()

    def begin(self) -> None:
        os.register_at_fork(
            before=self._hold, after_in_parent=self._let_go, after_in_child=self._become_copy
        )

    def end_copy(self) -> None:
        """It came back from what forked it, and there is nothing more for it to do."""
        if self.is_copy:
            os._exit(0)

    def _hold(self) -> None:
        """What ends a copy at once is to find a process that can be ended."""
        self._held.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def _let_go(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._held.mask)

    def _become_copy(self) -> None:
        self.is_copy = True
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._let_go()
