"""Follows a session that anybody started, until it is closed."""

from collections.abc import Callable
from dataclasses import dataclass

from airboss.cli.client import Client
from airboss.cli.screen import Waiting, aside, out, print_json
from airboss.cli.session.transcript import Transcript
from airboss.cli.stream import End, Feed, Follower, Heard, Record, Remark
from airboss.cli.trouble import Exit

_TICK_SECONDS = 0.1
_AT_REST = ("idle", "interrupted", "closed")
_RESTING = ("session.ready", "session.idle", "session.interrupted", "session.closed")


@dataclass
class Watch:
    """One viewer of a session; `once` leaves as soon as the agent has nothing more to do."""

    reach: Callable[[], Client]
    session: str
    after: int
    once: bool
    is_json: bool
    patience: float

    def run(self) -> Exit:
        rest = self._rest()
        if self.once and rest is not None and self.after >= rest:
            return Exit.DONE
        pen = out()
        page = Transcript(pen, pen, is_full=True)
        feed = Feed(Follower(self.reach, self.session, self.patience), self.after)
        waiting = Waiting(aside())
        try:
            while True:
                heard = feed.next(_TICK_SECONDS)
                if heard is None:
                    if page.is_at_line_start:
                        waiting.show(page.doing if page.tools else "Watching, Ctrl-C leaves")
                    continue
                waiting.hide()
                waiting.restart()
                if isinstance(heard, End):
                    break
                self._show(heard, page)
                if self.once and isinstance(heard, Record):
                    if rest is None and heard.kind in _RESTING:
                        rest = self._rest()
                    if rest is not None and heard.seq >= rest:
                        return Exit.DONE
        finally:
            waiting.hide()
            page.end_line()
            feed.leave()
        if heard.trouble:
            raise heard.trouble
        return Exit.DONE

    def _rest(self) -> int | None:
        """The seq at which the agent came to rest; nothing while it works or has more to do."""
        view = self.reach().get(f"/api/v1/sessions/{self.session}")
        return int(view["seq"]) if view["state"] in _AT_REST and not view["queue"] else None

    def _show(self, heard: Heard, page: Transcript) -> None:
        match heard:
            case Record() if self.is_json:
                print_json(heard.told_of(self.session))
            case Record():
                page.draw(heard)
            case Remark():
                page.remark(heard.text)
            case End():
                pass
