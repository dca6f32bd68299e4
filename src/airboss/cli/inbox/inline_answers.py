"""Where a person who talks with an agent answers what it asks, with the next line that is typed."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.cli.client import Client, Json
from airboss.cli.heard import Record
from airboss.cli.inbox.deciding import send
from airboss.cli.inbox.item_page import command_of, draw, fields_of, is_long, title_of, what_of
from airboss.cli.screen import Pen
from airboss.cli.session.transcript import Transcript
from airboss.cli.trouble import Trouble

_ASKED: Final = (
    "approval.asked",
    "question.asked",
    "limit.reached",
    "plan.asked",
    "switch.asked",
    "sign-in.asked",
)
_SKIP: Final = "/skip"
_WHOLE: Final = "all"
_YES: Final = ("y", "yes")
_ALWAYS: Final = ("a", "always")
_NO: Final = ("n", "no")
# A yes that is whole so soon after something was shown was meant for what was there before.
_SEEN_SECONDS: Final = 0.5
_TOO_EARLY: Final = (
    "This request appeared while you were typing, so nothing was allowed. Read it, then type."
)


@dataclass
class InlineAnswers:
    """What the session asks, one after the other. Without a keyboard it only says how to decide."""

    reach: Callable[[], Client]
    page: Transcript
    pen: Pen
    has_keyboard: bool
    _open: dict[str, Json] = field(default_factory=dict[str, Json])
    # The one that was seen, so that the next line is for it.
    _shown: str | None = None
    _shown_at: float = 0.0

    @classmethod
    def of(
        cls, reach: Callable[[], Client], page: Transcript, pen: Pen, *, is_json: bool
    ) -> "InlineAnswers":
        has_keyboard = sys.stdin.isatty() and pen.is_terminal and not is_json
        return cls(reach, page, pen, has_keyboard)

    @property
    def is_waiting(self) -> bool:
        """Whether the next line is an answer, or will be when what is asked was shown."""
        return self.has_keyboard and bool(self._open)

    @property
    def has_more(self) -> bool:
        """Something is to be shown first: what was typed before is no answer to it."""
        return self.is_waiting and self._shown is None

    def hear(self, record: Record) -> None:
        if record.kind in _ASKED:
            self.take(record.event)
        elif record.kind == "item.settled":
            self._drop(str(record.event["item"]))

    def take(self, asked: Json) -> None:
        item = str(asked["item"])
        if item in self._open:
            return
        self._open[item] = asked
        if not self.has_keyboard:
            self.page.remark(f"The agent is waiting for a person: {title_of(asked)}")
            self.page.remark(f"  Decide with: {command_of(asked)}")

    def _drop(self, item: str) -> None:
        self._open.pop(item, None)
        if self._shown == item:
            self._shown = None

    def show(self) -> None:
        """The next one: of what is long its beginning and its end."""
        self._shown, asked = next(iter(self._open.items()))
        self._draw(asked, is_folded=True)
        self._shown_at = time.monotonic()

    def _draw(self, asked: Json, *, is_folded: bool) -> None:
        self.page.end_line()
        draw(self.pen, asked, is_folded=is_folded)
        self._hint(asked)

    def say(self, line: str) -> None:
        """What was typed to the one that was shown."""
        item = self._shown
        if item is None:
            return
        asked = self._open[item]
        is_question = what_of(asked) == "question"
        if is_long(asked) and line.strip().lower() == _WHOLE:
            self._draw(asked, is_folded=False)
            return
        decision = _answer(line.strip()) if is_question else _decision(asked, line.strip())
        if decision is None:
            self._hint(asked)
            return
        if _allows(decision) and time.monotonic() - self._shown_at < _SEEN_SECONDS:
            self.page.note(_TOO_EARLY, "yellow")
            return
        try:
            send(self.reach(), item, *decision)
        except Trouble as trouble:
            self.page.note(str(trouble), "yellow")

    def _hint(self, asked: Json) -> None:
        self.page.note(_how(asked), "cyan")


def _decision(asked: Json, line: str) -> tuple[str, Json] | None:
    """Only a whole yes is one. To a sign-in it is not enough."""
    word, _, words = line.partition(" ")
    said = word.lower().rstrip(",.:;")
    if what_of(asked) == "sign-in":
        return ("decline", {}) if said in _NO else None
    if said in _NO:
        return "decision", {"choice": "deny", "words": words.strip()}
    if words and what_of(asked) == "plan" and said in _YES:
        return "decision", {"choice": "approve", "words": words.strip()}
    if words:
        return None
    if said in _YES:
        return "decision", {"choice": "allow-once"}
    if said in _ALWAYS and asked.get("rule"):
        return "decision", {"choice": "allow-always"}
    return None


def _allows(decision: tuple[str, Json]) -> bool:
    return str(decision[1].get("choice", "")).startswith(("allow", "approve"))


def _answer(line: str) -> tuple[str, Json]:
    return ("decline", {}) if line == _SKIP else ("answer", {"answer": line})


def _how(asked: Json) -> str:
    if what_of(asked) == "question":
        what = "its fields as JSON" if fields_of(asked) else "your answer"
        return f"Type {what}, or /skip to decline."
    if what_of(asked) == "sign-in":
        item = asked["item"]
        return f"Run `airboss approve {item}` to sign in, or type no to continue without it."
    if what_of(asked) == "plan":
        whole = " Type “all” to see everything." if is_long(asked) else ""
        return f"Type yes, yes with changes, or no with a reason.{whole}"
    always = "always, " if asked.get("rule") else ""
    whole = " Type “all” to see everything." if is_long(asked) else ""
    return f"Type yes, {always}or no with a reason.{whole}"
