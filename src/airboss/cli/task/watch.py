"""Watches a task run to its end: what it decides, and what its agent asks of a person."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.cli.client import Client, Json
from airboss.cli.feed import INBOX, FeedClient
from airboss.cli.heard import Heard, Record, Remark
from airboss.cli.inbox.item_page import command_of, title_of
from airboss.cli.inbox.open_items import OpenItems
from airboss.cli.screen import Pen, Spinner, aside, out, print_json, visible
from airboss.cli.task.listing import RUNS, draw_decision, end_words
from airboss.cli.trouble import Exit
from airboss.cli.watcher import Interrupts, StopRequest, watch_to_the_end

_OUTCOMES: Final = {"succeeded": Exit.DONE, "canceled": Exit.STOPPED}


def stop_request(reach: Callable[[], Client], run_id: str) -> StopRequest:
    return StopRequest(
        reach,
        f"{RUNS}/{run_id}/stop",
        what="The task run",
        left=f"Exited before the task run had stopped. See: airboss task show {run_id}",
    )


def watch(
    reach: Callable[[], Client], run_id: str, after: int, is_json: bool, patience: float
) -> Exit:
    """Show the decisions of a run that anybody started. Ctrl-C leaves it at work."""
    with Interrupts() as interrupts:
        return watch_with(
            interrupts, reach, run_id, patience, is_json=is_json, pen=out(), after=after
        )


def watch_with(
    interrupts: Interrupts,
    reach: Callable[[], Client],
    run_id: str,
    patience: float,
    *,
    is_json: bool,
    pen: Pen | None = None,
    after: int = 0,
) -> Exit:
    """To its end; the exit code says how that was."""
    items = OpenItems.ask(reach(), {"task_run": run_id})
    feed = FeedClient(reach, {run_id: after, INBOX: items.seq}, patience)
    viewer = TaskRunViewer(run_id, is_json, pen or aside(), interrupts, items)
    try:
        if not watch_to_the_end(feed, viewer, interrupts):
            return Exit.STOPPED
    finally:
        viewer.waiting.hide()
    end = viewer.end or reach().get(f"{RUNS}/{run_id}")
    outcome = str(end.get("outcome") or end.get("state"))
    if outcome in ("crashed", "canceled"):
        aside().line(end_words(outcome, str(end.get("reason"))))
    return _OUTCOMES.get(outcome, Exit.FAILED)


@dataclass
class TaskRunViewer:
    """One viewer of a task run."""

    run_id: str
    is_json: bool
    # Where decisions are drawn.
    pen: Pen
    interrupts: Interrupts
    items: OpenItems
    end: Json | None = None
    _doing: str = "Beginning"
    _shown: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.waiting = Spinner(aside())

    def hear(self, heard: Heard | None) -> bool:
        if heard is None:
            stopping = "Stopping (Ctrl-C again to exit)"
            self.waiting.show(stopping if self.interrupts.is_stopping else self._doing)
        else:
            self.waiting.hide()
        match heard:
            case Record() if heard.stream == self.run_id:
                self._show(heard)
            case Record():
                self.items.hear(heard)
            case Remark():
                self._aside(visible(heard.text))
            case _:
                pass
        if heard is not None:
            self._tell_items()
        return True

    def _show(self, record: Record) -> None:
        if record.kind == "task.ended":
            self.end = record.event
        if self.is_json:
            print_json(record.labelled())
        elif record.kind == "task.decided":
            text = str(record.event.get("text", ""))
            self._doing = text.partition("] ")[2]
            draw_decision(self.pen, text)

    def _tell_items(self) -> None:
        """A task run's own events do not say that its agent waits for a person."""
        for item in self.items.all:
            if item["id"] not in self._shown:
                self._shown.add(str(item["id"]))
                asked = item["asked"]
                self._aside(f"Waiting for you: {title_of(asked)} Decide with: {command_of(asked)}")

    def _aside(self, text: str) -> None:
        pen = aside()
        pen.line(pen.styled(text, "yellow"))
