"""Watches what waits for a person: a list drawn again in place, or a line for each change."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from airboss.cli.client import Client, Json
from airboss.cli.feed import INBOX as INBOX_STREAM
from airboss.cli.feed import FeedClient
from airboss.cli.frame import Frame, Line
from airboss.cli.heard import Heard, Record, Remark
from airboss.cli.inbox.deciding import INBOX
from airboss.cli.inbox.item_page import command_of, outcome_words, title_of, waits, what_of
from airboss.cli.inbox.listing import NOTHING, InboxFilter, Jobs, for_whom
from airboss.cli.screen import Pen, aside, out, print_json, visible, visible_line
from airboss.cli.trouble import Exit
from airboss.cli.watcher import Interrupts, watch_to_the_end


def watch(
    reach: Callable[[], Client], wanted: InboxFilter, patience: float, *, is_json: bool
) -> Exit:
    """Until Ctrl-C, which only leaves: the inbox has no end."""
    said = reach().get(INBOX)
    viewer = InboxViewer(reach, wanted, out(), is_json)
    feed = FeedClient(reach, {INBOX_STREAM: int(said["seq"])}, patience)
    try:
        with Interrupts() as interrupts:
            viewer.begin(said)
            is_over = watch_to_the_end(feed, viewer, interrupts)
    finally:
        viewer.hide()
    return Exit.DONE if is_over else Exit.STOPPED


@dataclass
class InboxViewer:
    """One viewer of the inbox."""

    reach: Callable[[], Client]
    wanted: InboxFilter
    pen: Pen
    is_json: bool
    items: dict[str, Json] = field(default_factory=dict[str, Json])
    jobs: Jobs = field(default_factory=Jobs)

    def __post_init__(self) -> None:
        self._frame = Frame(self.pen)
        is_smart = self.pen.is_terminal and os.environ.get("TERM") != "dumb"
        self._is_drawn = is_smart and not self.is_json

    def begin(self, said: Json) -> None:
        items = [item for item in said["items"] if self.wanted.has(item)]
        if self.is_json:
            print_json({"items": items, "seq": said["seq"]})
        for item in items:
            self._arrived(item)
        self._draw()

    def hear(self, heard: Heard | None) -> bool:
        match heard:
            case Record():
                self._tell(heard)
            case Remark():
                self.hide()
                pen = aside()
                pen.line(pen.styled(visible(heard.text), "yellow"))
            case _:
                pass
        self._draw()
        return True

    def hide(self) -> None:
        if self._is_drawn:
            self._frame.hide()

    def _tell(self, record: Record) -> None:
        event = record.event
        if record.kind == "inbox.arrived" and self.wanted.has(event["item"]):
            self._json(record)
            self._arrived(event["item"])
        elif record.kind == "inbox.settled":
            item = self.items.pop(str(event["item"]), None)
            if item is not None:
                self._json(record)
                self._line(f"{outcome_words(event)}: {title_of(item['asked'])} ({item['id']})")

    def _json(self, record: Record) -> None:
        if self.is_json:
            print_json({"seq": record.seq, "at": record.at, "event": record.event})

    def _arrived(self, item: Json) -> None:
        self.items[str(item["id"])] = item
        asked = item["asked"]
        if not self.is_json:
            whom = for_whom(item, self.jobs.of(self.reach(), item))
            item["for"] = whom
            if not self._is_drawn:
                said = f"{title_of(asked)} ({what_of(asked)} of {whom})"
                self._line(f"{said} {command_of(asked)}")

    def _line(self, text: str) -> None:
        """In a terminal it stays above what is drawn in place."""
        if self.is_json:
            return
        self.hide()
        at = time.strftime("%H:%M:%S")
        self.pen.line(f"{self.pen.styled(at, 'dim')} {visible_line(text)}")

    def _draw(self) -> None:
        if self._is_drawn:
            self._frame.draw(self._lines()[: self._frame.size[1]])

    def _lines(self) -> list[Line]:
        if not self.items:
            return [[(f"{NOTHING} Press Ctrl-C to leave.", ("dim",))]]
        lines: list[Line] = []
        for item in self.items.values():
            asked = item["asked"]
            lines.append([("! ", ("yellow",)), (title_of(asked), ("bold",))])
            about = f"  {waits(item)}  {command_of(asked)}  {item['for']}"
            lines.append([(visible_line(about), ("dim",))])
        return lines
