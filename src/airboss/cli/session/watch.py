"""Follows a session that anybody started, until it is closed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from airboss.cli.client import Client
from airboss.cli.feed import FeedClient
from airboss.cli.heard import Heard, Record, Remark
from airboss.cli.screen import Spinner, aside, out, print_json
from airboss.cli.session.transcript import Transcript
from airboss.cli.trouble import Exit
from airboss.cli.watcher import Interrupts, watch_to_the_end

_AT_REST: Final = ("idle", "interrupted", "closed")
_RESTING: Final = ("session.ready", "session.idle", "session.interrupted", "session.closed")


@dataclass
class SessionViewer:
    """One viewer of a session; `once` leaves as soon as the agent has nothing more to do."""

    reach: Callable[[], Client]
    session: str
    after: int
    once: bool
    is_json: bool
    patience: float

    def __post_init__(self) -> None:
        pen = out()
        self._page = Transcript(pen, pen, is_full=True)
        self._waiting = Spinner(aside())
        # Where the agent came to rest, once it is known.
        self._rest: int | None = None

    def run(self) -> Exit:
        self._rest = self._ask_for_rest()
        if self.once and self._is_at_rest(self.after):
            return Exit.DONE
        follow = {self.session: self.after}
        feed = FeedClient(self.reach, follow, self.patience)
        try:
            with Interrupts() as interrupts:
                is_over = watch_to_the_end(feed, self, interrupts)
        finally:
            self._waiting.hide()
            self._page.end_line()
        return Exit.DONE if is_over else Exit.STOPPED

    def hear(self, heard: Heard | None) -> bool:
        page = self._page
        if heard is None:
            if page.is_at_line_start:
                self._waiting.show(page.doing if page.tools else "Watching (Ctrl-C to exit)")
            return True
        self._waiting.hide()
        self._waiting.restart()
        match heard:
            case Record():
                self._show(heard)
                return not (self.once and self._has_come_to_rest(heard))
            case Remark():
                page.remark(heard.text)
            case _:
                pass
        return True

    def _show(self, record: Record) -> None:
        if self.is_json:
            print_json(record.labelled())
        else:
            self._page.draw(record)

    def _has_come_to_rest(self, record: Record) -> bool:
        if self._rest is None and record.kind in _RESTING:
            self._rest = self._ask_for_rest()
        return self._is_at_rest(record.seq)

    def _is_at_rest(self, seq: int) -> bool:
        return self._rest is not None and seq >= self._rest

    def _ask_for_rest(self) -> int | None:
        """The seq at which the agent came to rest; nothing while it works or has more to do."""
        view = self.reach().get(f"/api/v1/sessions/{self.session}")
        return int(view["seq"]) if view["state"] in _AT_REST and not view["queue"] else None
