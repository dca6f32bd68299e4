"""What became of task runs: a list of them, one of them, and an end to one that goes on."""

import time
from typing import Any, Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.listing import items_of
from airboss.cli.run.tree import usage_words
from airboss.cli.screen import (
    Pen,
    aside,
    duration,
    moment,
    out,
    print_json,
    print_table,
    visible,
    visible_line,
    waited,
)
from airboss.cli.task.answer import answer_of
from airboss.cli.trouble import Exit, Trouble

RUNS: Final = "/api/v1/task-runs"
_STYLES: Final = {
    "[TASK SUCCEEDED]": "green",
    "[TASK FAILED]": "red",
    "[SESSION CRASHED]": "yellow",
    "[DECISION]": "bold",
}


def draw_decision(pen: Pen, text: str) -> None:
    prefix = text.partition("]")[0] + "]"
    first, _, rest = visible(text).partition("\n")
    style = _STYLES.get(prefix)
    pen.line(pen.styled(first, *([style] if style else [])))
    for line in rest.splitlines():
        pen.line(f"    {line}")


def end_words(outcome: str, reason: str) -> str:
    """How a run ended, as a sentence."""
    verb = "was canceled" if outcome == "canceled" else outcome
    return f"The task run {verb}: {visible_line(reason)}"


def show_runs(client: Client, state: str | None, limit: int, *, is_json: bool) -> None:
    items = items_of(client, RUNS, state, limit)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        which = f"in the state {state}" if state else "yet"
        aside().line(f"No task runs {which}. Start one with: airboss task run NAME")
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
    said = client.get(f"{RUNS}/{run_id}")
    if is_json:
        print_json(said)
        return
    pen = out()
    worked = duration(_worked(said) / 1000)
    for name, value in (
        ("Task run", said["id"]),
        ("Task", said["task"]),
        ("Input", said.get("user_input")),
        ("State", f"{said['state']} after {worked} of work"),
        ("Reason", said.get("reason")),
        ("Session", said.get("session")),
        ("Model", said["model"]),
        ("Folder", said["cwd"]),
        ("Permissions", said["policy"]),
        ("By", said["who"]),
        ("Usage", usage_words(said["usage"])),
    ):
        if value:
            pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(str(value))}")
    pen.line()
    for decision in cast("list[Json]", said["decisions"]):
        draw_decision(pen, str(decision["text"]))
    pen.line()
    for number, attempt in enumerate(cast("list[Json]", said["attempts"]), start=1):
        pen.line(pen.styled(_headline(number, attempt), "dim"))
    if answer := answer_of(client, said):
        pen.line()
        pen.line(visible(answer))


def _worked(said: Json) -> int:
    """As `TaskRunView.worked_until` has it."""
    now = time.time_ns() // 1_000_000
    going = said["worked_ms"] + max(now - (said["working_since"] or now), 0)
    return int(going or said["usage"]["milliseconds"])


def _headline(number: int, attempt: dict[str, Any]) -> str:
    mission = attempt["mission"]
    tools = ", ".join(call["tool"] for call in attempt["calls"]) or "no job tool"
    said = f"{number}. {mission['kind']}, round {mission['round']}, attempt {mission['attempt']}"
    return visible_line(
        f"{said}: {attempt.get('outcome') or 'running'}, {tools}, {attempt['session']}"
    )


def stop_run(client: Client, run_id: str) -> Exit:
    try:
        view = waited("Stopping the task run", lambda: client.post(f"{RUNS}/{run_id}/stop"))
    except KeyboardInterrupt:
        raise Trouble(
            "Could not confirm that the task run stopped. Check with: airboss task list",
            Exit.STOPPED,
        ) from None
    aside().line(end_words(str(view["state"]), str(view["reason"])))
    return Exit.DONE
