"""The one loop of whoever watches: what the feed brings is shown, and Ctrl-C is heeded."""

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from airboss.cli.client import Client
from airboss.cli.feed import FeedClient
from airboss.cli.heard import Heard, Pressed, Remark, StreamEnded
from airboss.cli.trouble import Exit, Trouble

# So often something is drawn again while nothing is heard.
TICK_SECONDS: Final = 0.1
# More presses than this, and what nobody could heed them for is cut: a call that hangs.
_MOST_UNHEEDED: Final = 2


@dataclass(frozen=True)
class StopRequest:
    """How Ctrl-C stops what is watched: whom to ask, and what is said of it."""

    reach: Callable[[], Client]
    path: str
    # It could not be stopped.
    what: str
    # Said when somebody leaves before it has stopped.
    left: str
    # Said when it is asked for.
    remark: str = ""


class Interrupts:
    """Counts Ctrl-C, instead of cutting what is being drawn. With a request to stop, the first one
    asks for it and the next one leaves; whoever ends the process in order (a time limit of a CI,
    say) counts as one who pressed. Without one, the first leaves."""

    def __init__(self) -> None:
        self.stop: StopRequest | None = None
        self.is_stopping = False
        # Those that were not heeded yet.
        self._presses = 0
        self._is_mine = False
        self._feed: FeedClient | None = None
        self._before: list[tuple[int, Any]] = []

    @classmethod
    def of_starter(cls) -> Self:
        """Whoever starts something stops it; what that is may be known later."""
        interrupts = cls()
        interrupts._is_mine = True
        return interrupts

    def __enter__(self) -> Self:
        heeded = (signal.SIGINT, signal.SIGTERM) if self._is_mine else (signal.SIGINT,)
        self._before = [(number, signal.signal(number, self._pressed)) for number in heeded]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def wake(self, feed: FeedClient) -> None:
        """From now on a press is heard at once by whoever listens to this feed."""
        self._feed = feed

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._presses += 1
        if self._presses > _MOST_UNHEEDED:
            raise KeyboardInterrupt
        if self._feed is not None:
            self._feed.put(Pressed())

    def start_anew(self) -> None:
        """What was asked to stop has ended, and something else is at work."""
        self.is_stopping = False

    def is_leaving(self, feed: FeedClient) -> bool:
        """Whether somebody leaves what goes on by itself. What is to stop is asked to."""
        if not self._presses:
            return False
        if self.stop is None:
            return True
        if not self.is_stopping:
            self._presses -= 1
            self.is_stopping = True
            if self.stop.remark:
                feed.put(Remark(self.stop.remark))
            threading.Thread(target=self._ask, args=(self.stop, feed), daemon=True).start()
        if self._presses:
            raise Trouble(self.stop.left, Exit.STOPPED)
        return False

    def _ask(self, stop: StopRequest, feed: FeedClient) -> None:
        """That it has ended then comes as an event."""
        try:
            stop.reach().post(stop.path)
        except Trouble as trouble:
            text = f"{stop.what} could not be stopped: {trouble} Press Ctrl-C again to exit."
            feed.put(Remark(text))


class Viewer(Protocol):
    """Draws what is heard."""

    def hear(self, heard: Heard | None) -> bool:
        """Show it; nothing was heard for a moment where it is None. Whether to go on."""
        ...


def watch_to_the_end(feed: FeedClient, viewer: Viewer, interrupts: Interrupts) -> bool:
    """Until the feed's stream has ended, or the viewer has seen enough: True. False where somebody
    left with Ctrl-C what goes on by itself."""
    with feed:
        interrupts.wake(feed)
        while not interrupts.is_leaving(feed):
            heard = feed.next(TICK_SECONDS)
            goes_on = viewer.hear(None if isinstance(heard, Pressed) else heard)
            if isinstance(heard, StreamEnded) and heard.stream == feed.stream:
                if heard.trouble:
                    raise heard.trouble
                return True
            if not goes_on:
                return True
    return False
