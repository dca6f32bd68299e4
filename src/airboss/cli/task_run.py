"""Task runs in the terminal: start one and watch its decisions, list, show, stop."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.listing import items_of
from airboss.cli.screen import (
    Pen,
    Waiting,
    aside,
    duration,
    moment,
    out,
    print_json,
    print_table,
    visible,
    visible_line,
)
from airboss.cli.stream import End, Feed, Follower, Heard, Record, Remark
from airboss.cli.trouble import Exit, Refused, Trouble

_TICK_SECONDS: Final = 0.1
_RUNS: Final = "/api/v1/task-runs"
_OUTCOMES: Final = {"succeeded": Exit.DONE, "canceled": Exit.STOPPED}
_STYLES: Final = {
    "[TASK SUCCEEDED]": "green",
    "[TASK FAILED]": "red",
    "[SESSION CRASHED]": "yellow",
    "[DECISION]": "bold",
}


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
    """Start it, and show what is decided until it has ended. Ctrl-C stops it."""
    client = reach()
    view = client.post(_RUNS, _asked(client, wish))
    if wish.is_detached:
        if wish.is_json:
            print_json(view)
        else:
            out().line(str(view["id"]))
        return Exit.DONE
    pen = aside()
    started = f"{view['id']} · {view['task']} · {view['model']} · {view['cwd']}"
    told = f"Task run {started} · permissions {view['policy']}"
    pen.line(pen.styled(visible_line(told), "dim"))
    return _Watching(reach, str(view["id"]), wish.is_json, wish.patience).to_the_end()


def watch(
    reach: Callable[[], Client], run_id: str, after: int, is_json: bool, patience: float
) -> Exit:
    """Show the decisions of a run that anybody started. Ctrl-C leaves it at work."""
    watching = _Watching(reach, run_id, is_json, patience, after, is_mine=False)
    return watching.to_the_end()


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
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"The input {file} cannot be read: {error}") from error


@dataclass
class _Watching:
    """One viewer of a task run."""

    reach: Callable[[], Client]
    run: str
    is_json: bool
    patience: float
    after: int = 0
    # Whoever started it stops it with Ctrl-C.
    is_mine: bool = True
    _doing: str = "Beginning"
    _end: Json | None = None

    def to_the_end(self) -> Exit:
        feed = Feed(Follower(self.reach, self.run, self.patience), self.after)
        waiting = Waiting(aside())
        try:
            while not isinstance(heard := feed.next(_TICK_SECONDS), End):
                if heard is None:
                    waiting.show(self._doing)
                    continue
                waiting.hide()
                self._show(heard)
        except KeyboardInterrupt:
            waiting.hide()
            if self.is_mine:
                return self._stop()
            raise
        finally:
            waiting.hide()
            feed.leave()
        if heard.trouble:
            raise heard.trouble
        return self._outcome()

    def _stop(self) -> Exit:
        aside().line("Stopping the task run …")
        view = self.reach().post(f"{_RUNS}/{self.run}/stop")
        aside().line(f"The task run {view['state']}: {visible_line(str(view['reason']))}")
        return _OUTCOMES.get(str(view["state"]), Exit.FAILED)

    def _outcome(self) -> Exit:
        end = self._end or self.reach().get(f"{_RUNS}/{self.run}")
        outcome = str(end.get("outcome") or end.get("state"))
        if outcome in ("crashed", "canceled"):
            aside().line(f"The task run {outcome}: {visible_line(str(end.get('reason')))}")
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
        self._doing = text.partition("] ")[2]
        _draw_decision(out(), text)


def _draw_decision(pen: Pen, text: str) -> None:
    prefix = text.partition("]")[0] + "]"
    first, _, rest = visible(text).partition("\n")
    style = _STYLES.get(prefix)
    pen.line(pen.styled(first, *([style] if style else [])))
    for line in rest.splitlines():
        pen.line(f"    {line}")


def show_runs(client: Client, state: str | None, limit: int, *, is_json: bool) -> None:
    items = items_of(client, _RUNS, state, limit)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        aside().line("No task runs. Start one with: airboss task run NAME")
        return
    heads = ("Task run", "Task", "State", "Model", "Missions", "Retries", "Changed", "Reason")
    rows = [
        (
            item["id"],
            item["task"],
            item["state"],
            item["model"],
            str(item["missions"]),
            str(item["retries"]),
            moment(item["updated_at"]),
            item.get("reason") or item.get("doing") or "",
        )
        for item in items
    ]
    print_table(heads, rows, out())


def show_run(client: Client, run_id: str, *, is_json: bool) -> None:
    told = client.get(f"{_RUNS}/{run_id}")
    if is_json:
        print_json(told)
        return
    pen = out()
    lasted = ((told.get("ended_at") or told["updated_at"]) - told["created_at"]) / 1000
    for name, value in (
        ("Task run", told["id"]),
        ("Task", told["task"]),
        ("State", f"{told['state']} after {duration(lasted)}"),
        ("Reason", told.get("reason") or ""),
        ("Model", told["model"]),
        ("Folder", told["cwd"]),
        ("Permissions", told["policy"]),
        ("By", told["who"]),
    ):
        pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(str(value))}")
    for decision in cast("list[Json]", told["decisions"]):
        _draw_decision(pen, str(decision["text"]))
    for number, attempt in enumerate(cast("list[Json]", told["attempts"]), start=1):
        pen.line(pen.styled(_headline(number, attempt), "dim"))


def _headline(number: int, attempt: dict[str, Any]) -> str:
    mission = attempt["mission"]
    tools = ", ".join(call["tool"] for call in attempt["calls"]) or "no job tool"
    told = f"{number}. {mission['kind']}, round {mission['round']}, attempt {mission['attempt']}"
    return visible_line(
        f"{told}: {attempt.get('outcome') or 'at work'}, {tools}, {attempt['session']}"
    )


def stop_run(client: Client, run_id: str) -> Exit:
    with contextlib.suppress(KeyboardInterrupt):
        view = client.post(f"{_RUNS}/{run_id}/stop")
        aside().line(f"The task run {view['state']}: {visible_line(str(view['reason']))}")
        return Exit.DONE
    raise Trouble("The task run may not have stopped.", Exit.STOPPED)
