"""Watches a run to its end: its tree in a terminal, one line for each change elsewhere."""

import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.frame import Frame
from airboss.cli.inbox.item_page import command_of
from airboss.cli.run.items import Items, tell_items
from airboss.cli.run.story import FOR_PERSON, Done, Story, usage_of
from airboss.cli.run.tree import Signs, Tree, told_name, usage_words, work_of
from airboss.cli.screen import Pen, aside, duration, out, print_json, visible, visible_line
from airboss.cli.stream import End, Feed, Follower, Heard, Record, Remark
from airboss.cli.trouble import Exit, Trouble

RUNS: Final = "/api/v1/runs"
_TICK_SECONDS: Final = 0.1
# The decisions of the tasks at work are looked at so often.
_LOOK_SECONDS: Final = 0.5
# For the last decision of a task that has ended, which is there already.
_LAST_LOOK_SECONDS: Final = 2.0
_OUTCOMES: Final = {"succeeded": Exit.DONE, "canceled": Exit.STOPPED}


def ended_words(state: str) -> str:
    return "was canceled" if state == "canceled" else state


def outcome_of(state: str) -> Exit:
    return _OUTCOMES.get(state, Exit.FAILED)


class Decisions:
    """Asks for the decisions of tasks, in the background: a run's own events have none."""

    def __init__(self, reach: Callable[[], Client]) -> None:
        self._reach = reach
        self._asked: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[tuple[str, Json | None]] = queue.SimpleQueue()
        self._waiting: set[str] = set()
        self._told: dict[str, int] = {}
        threading.Thread(target=self._run, daemon=True).start()

    def ask(self, task_run: str) -> None:
        if task_run not in self._waiting:
            self._waiting.add(task_run)
            self._asked.put(task_run)

    def is_waiting_for(self, task_run: str) -> bool:
        return task_run in self._waiting

    def next(self, seconds: float = 0) -> tuple[str, Json, list[str]] | None:
        """A task run as it was just now, with the decisions that were not told before."""
        try:
            task_run, detail = self._found.get(timeout=seconds)
        except queue.Empty:
            return None
        self._waiting.discard(task_run)
        if detail is None:
            return None
        texts = [str(one["text"]) for one in cast("list[Json]", detail["decisions"])]
        told = self._told.get(task_run, 0)
        self._told[task_run] = max(told, len(texts))
        return task_run, detail, texts[told:]

    def _run(self) -> None:
        client: Client | None = None
        while True:
            task_run = self._asked.get()
            try:
                client = client or self._reach()
                self._found.put((task_run, client.get(f"/api/v1/task-runs/{task_run}")))
            except Trouble:  # asked again; that the server is away, the run's own stream says
                client = None
                self._found.put((task_run, None))


@dataclass(frozen=True)
class Looking:
    """How somebody wants to watch."""

    is_json: bool
    patience: float
    # What came up to here is known, and no line is written for it.
    after: int = 0
    # Whoever started it stops it with Ctrl-C.
    is_mine: bool = True


def watch(reach: Callable[[], Client], run: str, wish: Looking) -> Exit:
    """Show a run until it has ended; the exit code says how."""
    client = reach()
    view = client.get(f"{RUNS}/{run}")
    pen = out()
    tree = Tree(Story(run), work_of(client, view), Signs.on(pen.stream))
    return Watching(reach, wish, tree, pen, int(view["seq"])).to_the_end()


@dataclass
class Watching:
    """One viewer of a run."""

    reach: Callable[[], Client]
    wish: "Looking"
    tree: Tree
    pen: Pen
    # Of what ended before somebody watched, the decisions are not asked for.
    seen: int
    _presses: list[int] = field(default_factory=list[int])
    _is_told_to_stop: bool = False
    _looked_at: float = 0.0

    def __post_init__(self) -> None:
        self._frame = Frame(self.pen)
        self._decisions = Decisions(self.reach)
        self._items = Items(self.reach, self._story.id)
        is_smart = self.pen.is_terminal and os.environ.get("TERM") != "dumb"
        self._is_drawn = is_smart and not self.wish.is_json

    @property
    def _run(self) -> str:
        return self._story.id

    @property
    def _story(self) -> Story:
        return self.tree.story

    def to_the_end(self) -> Exit:
        # A tree needs the whole story, whatever of it is new.
        after = self.wish.after if self.wish.is_json else 0
        feed = Feed(Follower(self.reach, self._run, self.wish.patience), after)
        try:
            with self._keyboard():
                end = self._listen(feed)
        finally:
            feed.leave()
            if self._is_drawn:
                self._frame.keep(self.tree.lines(_now()))
        if end is None:
            return Exit.STOPPED
        if end.trouble:
            raise end.trouble
        return outcome_of(self._state())

    def _state(self) -> str:
        """With `--after` behind the end, nothing was heard of it."""
        if self._story.is_over:
            return self._story.state
        return str(self.reach().get(f"{RUNS}/{self._run}")["state"])

    def _listen(self, feed: Feed) -> End | None:
        """Until the stream's end; or until somebody leaves it, which is nothing."""
        drawn_at = 0.0
        while not isinstance(heard := feed.next(_TICK_SECONDS), End):
            if heard is not None:
                self._show(heard)
            if self._presses and not self.wish.is_mine:
                return None
            self._heed_the_keyboard(feed)
            self._look()
            if self._is_drawn and time.monotonic() - drawn_at >= _TICK_SECONDS:
                self._frame.draw(self.tree.lines(_now(), self._frame.size[1]))
                drawn_at = time.monotonic()
        return heard

    # The keyboard.

    @contextmanager
    def _keyboard(self) -> Generator[None]:
        """Ctrl-C is counted instead of cutting what is being drawn; so is an end in order."""

        def pressed(number: int, frame: FrameType | None) -> None:
            del frame
            self._presses.append(number)

        heard = (signal.SIGINT, signal.SIGTERM) if self.wish.is_mine else (signal.SIGINT,)
        before = [(number, signal.signal(number, pressed)) for number in heard]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _heed_the_keyboard(self, feed: Feed) -> None:
        if self._presses and not self._is_told_to_stop:
            self._is_told_to_stop = True
            self._remark("Stopping the run … (Ctrl-C again leaves it)")
            threading.Thread(target=self._stop, args=(feed,), daemon=True).start()
        if len(self._presses) > 1:
            raise Trouble(
                f"Left before the run had stopped. Watch on with: airboss watch {self._run}",
                Exit.STOPPED,
            )

    def _stop(self, feed: Feed) -> None:
        """Tell the server; that the run has ended then comes as an event."""
        try:
            self.reach().post(f"{RUNS}/{self._run}/stop")
        except Trouble as trouble:
            feed.tell(Remark(f"The run could not be stopped: {trouble} Ctrl-C again leaves."))

    # The tasks' decisions.

    def _look(self) -> None:
        if self.wish.is_json:
            return
        while (found := self._decisions.next()) is not None:
            self._decided(*found)
        if (items := self._items.next()) is not None:
            for item in tell_items(self._story, items):
                self._line(f"Decide it with: {command_of(item['asked'])}")
        if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            for work in self._story.running:
                if work.state == "running":
                    self._decisions.ask(work.task_run)
                elif work.state == FOR_PERSON:
                    self._items.ask()

    def _decided(self, task_run: str, detail: Json, texts: list[str]) -> None:
        work = next((one for one in self._story.works.values() if one.task_run == task_run), None)
        if work is None:
            return
        work.decision = str(detail["doing"])
        if not work.is_over:
            work.used = usage_of(detail["usage"])
        for text in texts:
            self._line(f"{told_name(work)}: {text}")

    def _look_at_the_last_of(self, task_run: str) -> None:
        """An answer from before its end may be under way: the next one has all."""
        until = time.monotonic() + _LAST_LOOK_SECONDS
        is_asked = not self._decisions.is_waiting_for(task_run)
        self._decisions.ask(task_run)
        while time.monotonic() < until:
            if (found := self._decisions.next(_TICK_SECONDS)) is not None:
                self._decided(*found)
            if not self._decisions.is_waiting_for(task_run):
                if is_asked:
                    return
                is_asked = True
                self._decisions.ask(task_run)

    # The run's own events.

    def _show(self, heard: Heard) -> None:
        match heard:
            case Record() if self.wish.is_json:
                self._story.hear(heard)
                print_json(heard.told_of(self._run))
            case Record():
                if heard.kind == "run.work.stopped" and heard.seq > self.seen:
                    self._look_at_the_last_of(str(heard.event.get("task_run", "")))
                self._story.hear(heard)
                if heard.seq > self.wish.after and (text := self._told(heard.kind, heard.event)):
                    self._line(text, heard.at)
            case Remark():
                self._remark(heard.text)
            case End():
                pass

    def _remark(self, text: str) -> None:
        if self._is_drawn:
            self._frame.hide()
        pen = aside()
        pen.line(pen.styled(visible(text), "yellow"))

    def _line(self, text: str, at: int | None = None) -> None:
        """A change, where no tree is drawn."""
        if not self._is_drawn and not self.wish.is_json:
            passed = max((at or _now()) - self._story.started_at, 0) / 1000
            self.pen.line(f"{duration(passed)} {visible_line(text)}")

    def _told(self, kind: str, event: Json) -> str:
        if kind.startswith("run.work."):
            work = self._story.works.get(str(event.get("path", "")))
            return _work_told(kind, work) if work else ""
        match kind:
            case "run.accepted":
                told = f"{self._run} of the job {event['job']} in {event['cwd']}"
                return f"Run {told} was started by {event['who']}."
            case "run.resumed":
                return str(event["reason"])
            case "run.retried":
                return f"Retried by {event['who']}, time {event['time']}."
            case "run.ending":
                return f"Ending: {event['reason']}"
            case "run.error":
                return f"{event['name']}: {event['message']}"
            case "run.ended":
                words = usage_words(self._story.usage.model_dump())
                told = f"The run {ended_words(str(event['outcome']))}: {event['reason']}"
                return f"{told} ({words})" if words else told
            case _:
                return ""


def _work_told(kind: str, work: Done) -> str:
    name = told_name(work)
    match kind:
        case "run.work.started":
            return f"{name} began ({work.task_run})."
        case "run.work.waiting":
            return f"{name} waits for {work.waits_for}."
        case "run.work.going":
            return f"{name} goes on."
        case "run.work.retrying":
            return f"{name} tries again: {work.attempt}."
        case "run.work.stopped":
            words = usage_words(work.usage.model_dump())
            came = "could not be asked" if work.unasked else work.state
            if work.is_condition:
                came = f"answered {'true' if came == 'succeeded' else 'false'}"
            told = f"{name} {came} after {duration(work.seconds(0))}"
            return f"{told} ({words})." if words else f"{told}."
        case _:
            return ""


def _now() -> int:
    return time.time_ns() // 1_000_000
