"""A task run in the terminal: start it, see what it decides, stop it, read what came of it."""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from airboss.cli.client import Client, Json
from airboss.cli.inbox.item_page import command_of, title_of
from airboss.cli.keyboard import counted_presses
from airboss.cli.run.items import Items
from airboss.cli.screen import (
    Pen,
    Waiting,
    aside,
    out,
    print_json,
    visible,
    visible_line,
    waited,
)
from airboss.cli.stream import End, Feed, Follower, Heard, Record, Remark
from airboss.cli.task.answer import answer_of
from airboss.cli.task.listing import RUNS, draw_decision, told_end
from airboss.cli.trouble import Exit, Refused, Trouble

_TICK_SECONDS: Final = 0.1
# Whether its agent asks something is looked at so often.
_LOOK_SECONDS: Final = 1.0
_OUTCOMES: Final = {"succeeded": Exit.DONE, "canceled": Exit.STOPPED}


@dataclass(frozen=True)
class Wish:
    """What somebody asked of `airboss task run`."""

    task: str
    input: str | None
    session: str | None
    model: str | None
    cwd: Path | None
    skips_availability: bool
    is_detached: bool
    is_json: bool
    patience: float


def run(reach: Callable[[], Client], wish: Wish) -> Exit:
    """Start it, show what is decided until it has ended, then what the agent said."""
    client = reach()
    asked = _asked(client, wish)
    with counted_presses() as presses:
        view = waited("Starting the task", lambda: _started(client, asked))
        if wish.is_detached:
            _tell_started(view, wish)
            return Exit.DONE
        pen = aside()
        started = f"{view['id']} · {view['task']} · {view['model']} · {view['cwd']}"
        told = f"Task run {started} · permissions {view['policy']}"
        pen.line(pen.styled(visible_line(told), "dim"))
        watching = _Watching(reach, str(view["id"]), wish.is_json, wish.patience, pen)
        try:
            outcome = watching.to_the_end(presses)
            if not wish.is_json:
                watching.tell_answer()
        except BrokenPipeError:
            # Nobody reads on: what nobody waits for is not left at work.
            with suppress(Trouble):
                reach().post(f"{RUNS}/{watching.run}/stop")
            raise
        return outcome


def watch(
    reach: Callable[[], Client], run_id: str, after: int, is_json: bool, patience: float
) -> Exit:
    """Show the decisions of a run that anybody started. Ctrl-C leaves it at work."""
    return _Watching(reach, run_id, is_json, patience, out(), after).to_the_end(None)


def _started(client: Client, asked: Json) -> Json:
    try:
        return client.post(RUNS, asked)
    except Refused as refused:
        if refused.status != 404 or asked.get("session"):
            raise
        names = [str(task["name"]) for task in client.get("/api/v1/tasks")["items"]]
        near = get_close_matches(str(asked["task"]), names, 1)
        hint = f'Did you mean "{near[0]}"?' if near else "See: airboss tasks"
        raise Refused(f"{refused} {hint}", 404) from None


def _tell_started(view: Json, wish: Wish) -> None:
    if wish.is_json:
        print_json(view)
    else:
        out().line(str(view["id"]))


def _asked(client: Client, wish: Wish) -> Json:
    asked: Json = {"task": wish.task, "skip_availability": wish.skips_availability}
    if wish.input is not None:
        asked["input"] = text_of(wish.input)
    if wish.session:
        return {**asked, "session": wish.session}
    if wish.model:
        asked["model"] = wish.model
    if wish.cwd:
        asked["cwd"] = str(wish.cwd.expanduser().absolute())
    elif client.address.is_local:
        asked["cwd"] = str(Path.cwd())
    return asked


def text_of(given: str) -> str:
    """The text itself, `@FILE`, or `-` for the standard input."""
    if given == "-":
        return sys.stdin.read()
    if not given.startswith("@"):
        return given
    file = Path(given[1:]).expanduser()
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Refused(f"The input {file} cannot be read: it is not UTF-8.") from None
    except OSError as error:
        raise Refused(f"The input {file} cannot be read: {error.strerror}.") from None


@dataclass
class _Watching:
    """One viewer of a task run, who may also stop it."""

    reach: Callable[[], Client]
    run: str
    is_json: bool
    patience: float
    # Where decisions are drawn.
    pen: Pen
    after: int = 0
    _doing: str = "Beginning"
    _end: Json | None = None
    _is_told_to_stop: bool = False
    _told: set[str] = field(default_factory=set[str])
    _looked_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._items = Items(self.reach)

    def to_the_end(self, presses: Sequence[int] | None) -> Exit:
        """With the presses of whoever started it: the first stops the run, the second leaves."""
        feed = Feed(Follower(self.reach, self.run, self.patience), self.after)
        waiting = Waiting(aside())
        try:
            while not isinstance(heard := feed.next(_TICK_SECONDS), End):
                if heard is None:
                    waiting.show(self._doing)
                else:
                    waiting.hide()
                    self._show(heard)
                self._look(waiting)
                if presses:
                    self._heed(presses, feed)
        finally:
            waiting.hide()
            feed.leave()
        if heard.trouble:
            raise heard.trouble
        return self._outcome()

    def _look(self, waiting: Waiting) -> None:
        """A task run's own events do not say that its agent waits for a person."""
        if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._items.ask()
        for item in self._items.next() or ():
            if item.get("task_run") == self.run and item["id"] not in self._told:
                self._told.add(str(item["id"]))
                waiting.hide()
                asked = item["asked"]
                told = f"Waits for you: {title_of(asked)} Decide it with: {command_of(asked)}"
                pen = aside()
                pen.line(pen.styled(told, "yellow"))

    def tell_answer(self) -> None:
        """What a task is run for is often what the agent says, as with a question."""
        try:
            client = self.reach()
            answer = answer_of(client, client.get(f"{RUNS}/{self.run}"))
        except Trouble:
            aside().line(f"What the agent said can be read with: airboss task show {self.run}")
            return
        if answer:
            out().line(visible(answer))

    def _heed(self, presses: Sequence[int], feed: Feed) -> None:
        if not self._is_told_to_stop:
            self._is_told_to_stop = True
            self._doing = "Stopping (Ctrl-C again leaves)"
            threading.Thread(target=self._stop, args=(feed,), daemon=True).start()
        if len(presses) > 1:
            text = f"Left before the task run had stopped. See: airboss task show {self.run}"
            raise Trouble(text, Exit.STOPPED)

    def _stop(self, feed: Feed) -> None:
        """Tell the server; how the run ended then comes as an event."""
        try:
            self.reach().post(f"{RUNS}/{self.run}/stop")
        except Trouble as trouble:
            feed.tell(Remark(f"The task run could not be stopped: {trouble} Ctrl-C again leaves."))

    def _outcome(self) -> Exit:
        end = self._end or self.reach().get(f"{RUNS}/{self.run}")
        outcome = str(end.get("outcome") or end.get("state"))
        if outcome in ("crashed", "canceled"):
            aside().line(told_end(outcome, str(end.get("reason"))))
        return _OUTCOMES.get(outcome, Exit.FAILED)

    def _show(self, heard: Heard) -> None:
        match heard:
            case Record():
                if heard.kind == "task.ended":
                    self._end = heard.event
                if self.is_json:
                    print_json(heard.told_of(self.run))
                elif heard.kind == "task.decided":
                    self._decided(str(heard.event.get("text", "")))
            case Remark():
                pen = aside()
                pen.line(pen.styled(visible(heard.text), "yellow"))
            case End():
                pass

    def _decided(self, text: str) -> None:
        if not self._is_told_to_stop:
            self._doing = text.partition("] ")[2]
        draw_decision(self.pen, text)
