"""Watches a run to its end: its tree in a terminal, one line for each change elsewhere."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.cli.client import Client
from airboss.cli.feed import INBOX, FeedClient
from airboss.cli.frame import Frame
from airboss.cli.heard import CaughtUp, Heard, Record, Remark, StreamEnded
from airboss.cli.inbox.item_page import command_of
from airboss.cli.inbox.open_items import OpenItems
from airboss.cli.run.changes import change_words, outcome_of
from airboss.cli.run.story import Story
from airboss.cli.run.tree import Signs, Tree, shown_name, work_of
from airboss.cli.screen import Pen, aside, duration, out, print_json, visible, visible_line
from airboss.cli.trouble import Exit
from airboss.cli.watcher import TICK_SECONDS, Interrupts, StopRequest, watch_to_the_end

RUNS: Final = "/api/v1/runs"
# For the last decisions of a task that has ended, which are there already.
_LAST_DECISIONS_SECONDS: Final = 2.0


@dataclass(frozen=True)
class WatchOptions:
    """How somebody wants to watch a run."""

    is_json: bool
    patience: float
    # What came up to here is known, and no line is written for it.
    after: int = 0
    # Whoever started it stops it with Ctrl-C.
    is_mine: bool = True


def watch(reach: Callable[[], Client], run: str, options: WatchOptions) -> Exit:
    """Show a run until it has ended; the exit code says how."""
    client = reach()
    view = client.get(f"{RUNS}/{run}")
    pen = out()
    tree = Tree(Story(run), work_of(client, view), Signs.on(pen.stream))
    # A tree needs the whole story, whatever of it is new.
    follow = {run: options.after if options.is_json else 0}
    items: OpenItems | None = None
    if not options.is_json:
        items = OpenItems.ask(client, {"run": run})
        follow[INBOX] = items.seq
    feed = FeedClient(reach, follow, options.patience)
    viewer = RunViewer(feed, options, tree, pen, items, int(view["seq"]))
    interrupts = Interrupts()
    if options.is_mine:
        interrupts = Interrupts.of_starter()
        interrupts.stop = StopRequest(
            reach,
            f"{RUNS}/{run}/stop",
            what="The run",
            left=f"Exited before the run had stopped. Watch it with: airboss watch {run}",
            remark="Stopping the run … (Ctrl-C again to exit)",
        )
    try:
        with interrupts:
            is_over = watch_to_the_end(feed, viewer, interrupts)
    finally:
        viewer.keep()
    if not is_over:
        return Exit.STOPPED
    if tree.story.is_over:
        return outcome_of(tree.story.state)
    # With `--after` behind the end, nothing was heard of it.
    return outcome_of(str(reach().get(f"{RUNS}/{run}")["state"]))


@dataclass
class RunViewer:
    """One viewer of a run: its own events, what its tasks decide, and what they ask of people."""

    feed: FeedClient
    options: WatchOptions
    tree: Tree
    pen: Pen
    items: OpenItems | None
    # Of what ended before somebody watched, the decisions are not told.
    seen: int
    _is_live: bool = False
    _drawn_at: float = 0.0
    _ended_tasks: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._frame = Frame(self.pen)
        is_smart = self.pen.is_terminal and os.environ.get("TERM") != "dumb"
        self._is_drawn = is_smart and not self.options.is_json

    @property
    def _story(self) -> Story:
        return self.tree.story

    def hear(self, heard: Heard | None) -> bool:
        match heard:
            case Record() if heard.stream == self._story.id:
                self._hear_run(heard)
            case Record() | StreamEnded():
                self._hear_beside(heard)
            case Remark():
                self._remark(heard.text)
            case CaughtUp():
                self._is_live = True
            case _:
                pass
        if heard is not None and not self.options.is_json:
            self._look_beside()
        if self._is_drawn and time.monotonic() - self._drawn_at >= TICK_SECONDS:
            self._frame.draw(self.tree.lines(_now(), self._frame.size[1]))
            self._drawn_at = time.monotonic()
        return True

    def keep(self) -> None:
        """What was drawn last stays."""
        if self._is_drawn:
            self._frame.keep(self.tree.lines(_now()))

    # The run's own events.

    def _hear_run(self, record: Record) -> None:
        if self.options.is_json:
            self._story.hear(record)
            print_json(record.labelled())
            return
        if record.kind == "run.work.stopped" and record.seq > self.seen:
            self._hear_the_last_of(str(record.event.get("task_run", "")))
        self._story.hear(record)
        if record.seq > self.options.after:
            self._line(change_words(self._story, record.kind, record.event), record.at)

    # What its tasks decide, and what they ask: a run's own events have none of it.

    def _hear_beside(self, heard: Record | StreamEnded) -> None:
        if isinstance(heard, StreamEnded):
            self._ended_tasks.add(heard.stream)
        elif heard.stream != INBOX:
            work = self._story.hear_task(heard)
            if work is not None and heard.kind == "task.decided":
                self._line(f"{shown_name(work)}: {work.decision}", heard.at)
        elif self.items is not None:
            self.items.hear(heard)

    def _look_beside(self) -> None:
        """Follows the tasks at work, once it is known which those are."""
        if self.items is not None:
            for item in self._story.take_items(self.items.all):
                self._line(f"Decide with: {command_of(item['asked'])}")
        if self._is_live:
            self.feed.follow_beside(self._at_work())

    def _at_work(self) -> list[str]:
        """Those that can say something first: no more can be followed than one connection has."""
        running = sorted(self._story.running, key=lambda work: work.state == "waiting")
        return [work.task_run for work in running if work.task_run]

    def _hear_the_last_of(self, task_run: str) -> None:
        """A task has said all that it decided before its run says that it has stopped; but they
        are two streams, and either may come first."""
        if not task_run:
            return
        self.feed.follow_beside([task_run, *self._at_work()])
        until = time.monotonic() + _LAST_DECISIONS_SECONDS
        while task_run not in self._ended_tasks:
            heard = self.feed.next_of(task_run, until - time.monotonic())
            if heard is None:
                return
            self._hear_beside(heard)

    # What is drawn.

    def _remark(self, text: str) -> None:
        if self._is_drawn:
            self._frame.hide()
        pen = aside()
        pen.line(pen.styled(visible(text), "yellow"))

    def _line(self, text: str, at: int | None = None) -> None:
        """A change, where no tree is drawn."""
        if text and not self._is_drawn and not self.options.is_json:
            passed = max((at or _now()) - self._story.started_at, 0) / 1000
            self.pen.line(f"{duration(passed)} {visible_line(text)}")


def _now() -> int:
    return time.time_ns() // 1_000_000
