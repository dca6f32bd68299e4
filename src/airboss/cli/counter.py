"""Where a person who talks with an agent answers what it asks, with the next line that is typed."""

import os
import select
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.cli.client import Client, Json
from airboss.cli.deciding import send
from airboss.cli.item_page import command_of, draw, fields_of, title_of, what_of
from airboss.cli.screen import Pen
from airboss.cli.stream import Record
from airboss.cli.transcript import Transcript
from airboss.cli.trouble import Trouble

ASKED: Final = ("approval.asked", "question.asked", "limit.reached")
_SKIP: Final = "/skip"
_YES: Final = ("y", "yes")
_ALWAYS: Final = ("a", "always")
_NO: Final = ("n", "no")
_LINE_BYTES: Final = 65_536


@dataclass
class Counter:
    """What the session asks, one after the other. Without a keyboard it only says how to decide."""

    reach: Callable[[], Client]
    page: Transcript
    pen: Pen
    has_keyboard: bool
    _open: dict[str, Json] = field(default_factory=dict[str, Json])
    # Those that whoever sits here does not decide.
    _left: set[str] = field(default_factory=set[str])
    # The one that was shown, so that the next line is for it.
    _shown: str | None = None
    _has_sign: bool = False
    _typed: bytes = b""

    @classmethod
    def of(
        cls, reach: Callable[[], Client], page: Transcript, pen: Pen, *, is_json: bool
    ) -> "Counter":
        has_keyboard = sys.stdin.isatty() and pen.is_terminal and not is_json
        return cls(reach, page, pen, has_keyboard)

    @property
    def is_waiting(self) -> bool:
        """Whether the next line is an answer."""
        return self.has_keyboard and self._next is not None

    @property
    def _next(self) -> str | None:
        return next((item for item in self._open if item not in self._left), None)

    def hear(self, record: Record) -> None:
        self._has_sign = False  # whatever was drawn, the sign is drawn again below it
        if record.kind in ASKED:
            self.take(record.event)
        elif record.kind == "item.settled":
            self._drop(str(record.event["item"]))

    def take(self, asked: Json) -> None:
        self._open[str(asked["item"])] = asked
        if not self.has_keyboard:
            self.page.remark(f"The agent waits for a person: {title_of(asked)}")
            self.page.remark(f"  Decide it with: {command_of(asked)}")

    def _drop(self, item: str) -> None:
        self._open.pop(item, None)
        if self._shown == item:
            self._shown, self._typed = None, b""

    def attend(self) -> None:
        """Show what is to be decided, and take a line that was typed. Never waits."""
        item = self._next
        if item is None or not self.has_keyboard:
            return
        asked = self._open[item]
        if self._shown != item:
            self._show(item, asked)
        if not self._has_sign:
            self.page.end_line()
            self.pen.write(f"{_sign(asked)} ")
            self._has_sign = True
        line = self._line()
        if line is not None:
            self._has_sign = False
            self._say(item, asked, line)

    def _show(self, item: str, asked: Json) -> None:
        self._shown, self._typed = item, b""
        # What was typed before it was seen is no answer to it.
        _forget_typed()
        self.page.end_line()
        draw(self.pen, asked)

    def _line(self) -> str | None:
        """The terminal hands over whole lines; nothing where none is finished, and an empty one for
        Ctrl-D."""
        if not select.select([sys.stdin.fileno()], [], [], 0)[0]:
            return None
        got = os.read(sys.stdin.fileno(), _LINE_BYTES)
        if not got:
            return ""
        self._typed += got
        if not self._typed.endswith(b"\n"):
            return None
        line, self._typed = self._typed, b""
        return line.decode("utf-8", "replace")

    def _say(self, item: str, asked: Json, typed: str) -> None:
        line = typed.strip()
        if not typed:
            self._left.add(item)
            self.pen.line()
            self.page.note(f"Left undecided. Decide it with: {command_of(asked)}", "yellow")
        if not line:
            return
        wish = _question(line) if what_of(asked) == "question" else _approval(asked, line)
        if wish is None:
            self.page.note(_how(asked), "yellow")
            return
        try:
            send(self.reach(), item, *wish)
        except Trouble as trouble:
            self.page.note(str(trouble), "yellow")


def _approval(asked: Json, line: str) -> tuple[str, Json] | None:
    word, _, words = line.partition(" ")
    said = word.lower().rstrip(",.:;")
    if said in _NO:
        return "decision", {"choice": "deny", "words": words.strip()}
    if words:
        return None
    if said in _YES:
        return "decision", {"choice": "allow-once"}
    if said in _ALWAYS and asked.get("rule"):
        return "decision", {"choice": "allow-always"}
    return None


def _question(line: str) -> tuple[str, Json]:
    return ("decline", {}) if line == _SKIP else ("answer", {"answer": line})


def _sign(asked: Json) -> str:
    if what_of(asked) == "question":
        return (
            "Your answer (/skip declines):" if not fields_of(asked) else "Fields as JSON (/skip):"
        )
    always = ", always" if asked.get("rule") else ""
    return f"Allow it? [yes{always}, no why]"


def _how(asked: Json) -> str:
    always = "always, " if asked.get("rule") else ""
    return f"Say yes, {always}or no and why."


def _forget_typed() -> None:
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
