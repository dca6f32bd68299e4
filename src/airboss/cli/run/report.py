"""Runs in the terminal as reports: read one, compare two, rename and tag."""

from collections.abc import Sequence
from typing import Any, cast

from airboss.cli.client import Client, Json
from airboss.cli.run.tree import usage_words
from airboss.cli.run.watch import RUNS
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
)
from airboss.cli.trouble import Exit

_MOST_FILES = 40
_STATES = {"not-run": "not run", "not-needed": "not needed", "not-yet": "not yet"}


def show_report(client: Client, run: str, *, is_json: bool) -> None:
    said = client.get(f"{RUNS}/{run}/report")
    if is_json:
        print_json(said)
        return
    pen = out()
    _print_head(pen, said)
    if said["words"]:
        words = said["words"]
        _title(pen, f"What the failed check said ({words['field']}, attempt {words['attempt']})")
        for line in str(words["text"]).splitlines():
            pen.line(f"  {visible(line)}")
    if said["tried"]:
        _title(pen, "Attempts")
        for one in said["tried"]:
            pen.line(visible_line(f"  #{one['attempt']}  {one['said'] or 'No message.'}"))
            pen.line(visible_line(f"      {one['check']}") if one["check"] else "")
    _title(pen, "Outcome of each task")
    print_table(("State", "Task", "Time", "Concluded"), map(_task_row, said["tasks"]), pen)
    _print_changes(pen, said["changes"])
    _print_decisions(pen, said["decisions"])
    if said["next"]:
        _title(pen, "Next steps")
        for step in said["next"]:
            if command := _command(step, run):
                pen.line(visible_line(f"  {command:<40} {step['words']}"))


def _print_head(pen: Pen, said: Json) -> None:
    title = f": {said['title']}" if said["title"] else ""
    pen.line(pen.styled(visible_line(f"{said['job']}{title}"), "bold"))
    pen.line(visible_line(f"{said['outcome']['head']} {said['outcome']['text']}"))
    worked = f"worked {duration(said['worked_ms'] / 1000)}"
    facts = [said["id"], said["folder"], f"by {said['who']}", moment(said["started_at"]), worked]
    facts += [_counted(said["task_runs"], "task run"), usage_words(said["usage"])]
    facts = [*filter(None, facts), *(f"#{tag}" for tag in said["tags"])]
    pen.line(visible_line(" · ".join(facts)))
    if said["input"].strip():
        _title(pen, "Input")
        for line in str(said["input"]).strip().splitlines():
            pen.line(f"  {visible(line)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _title(pen: Pen, text: str) -> None:
    pen.line()
    pen.line(pen.styled(visible_line(text), "bold"))


def _task_row(line: Json) -> tuple[str, ...]:
    state = _STATES.get(line["state"], str(line["state"]))
    if line["answer"] is not None:
        state = "true" if line["answer"] else "false"
    took = duration(line["worked_ms"] / 1000) if line["rounds"] else ""
    return (state, line["name"], took, line["conclusion"])


def _print_changes(pen: Pen, changes: Json) -> None:
    files = cast("list[Json]", changes["files"])
    _title(pen, f"What changed: {len(files)} files, +{changes['added']} -{changes['removed']}")
    if changes["note"]:
        pen.line(f"  {visible_line(changes['note'])}")
    for file in files[:_MOST_FILES]:
        by = f"  ({', '.join(file['tasks'])})" if file["tasks"] else ""
        counts = f"+{file['added']} -{file['removed']}"
        pen.line(visible_line(f"  {file['how']:<8} {counts:>12}  {file['path']}{by}"))
    if len(files) > _MOST_FILES:
        pen.line(f"  and {len(files) - _MOST_FILES} more; use --json to see all")


def _print_decisions(pen: Pen, decisions: Json) -> None:
    people = cast("list[Json]", decisions["people"])
    counted = decisions["allowed"] + decisions["denied"]
    if not people and not counted:
        return
    _title(pen, "Decisions")
    for one in people:
        answer = f": {one['answer']}" if one["answer"] else ""
        who = one["who"] or "nobody"
        pen.line(visible_line(f"  {one['outcome']} by {who}: {one['what']}{answer}"))
    if counted:
        rules = f"{decisions['allowed']} calls allowed, {decisions['denied']} denied"
        pen.line(visible_line(f"  {rules}, by {', '.join(decisions['by'])}"))


def _command(step: Json, run: str) -> str:
    return {
        "retry": f"airboss retry {run}",
        "open-session": f"airboss show {step['session']}",
        "run-again": f"airboss again {run}",
        "compare": f"airboss compare {run} OTHER",
        "decide": f"airboss inbox --run {run}",
    }.get(str(step["act"]), "")


def compare(client: Client, a: str, b: str, *, is_json: bool) -> None:
    said = client.get("/api/v1/run-comparison", a=a, b=b)
    if is_json:
        print_json(said)
        return
    pen = out()
    pen.line(visible_line(f"A  {_run_words(said['a'])}"))
    pen.line(visible_line(f"B  {_run_words(said['b'])}"))
    pen.line(visible_line(f"{pen.styled(said['head'], 'bold')} {said['text']}"))
    _title(pen, "Differences")
    differing = [step for step in said["steps"] if step["differs"] != "none"]
    rows = [(step["name"], _step_words(step["a"]), _step_words(step["b"])) for step in differing]
    print_table(("Task", "A", "B"), rows, pen)
    if said["checks"]:
        _title(pen, f"Different checks: {len(said['checks'])} of {said['checks_in_all']}")
        rows = [
            (f"{one['name']}, {one['field']}", _check_words(one["a"]), _check_words(one["b"]))
            for one in said["checks"]
        ]
        print_table(("Check", "A", "B"), rows, pen)
    files = cast("list[Json]", said["files"])
    _title(pen, f"Different files: {len(files)}, identical: {said['files_alike']}")
    for file in files[:_MOST_FILES]:
        pen.line(visible_line(f"  {file['path']}  A {_counts(file['a'])}  B {_counts(file['b'])}"))


def _run_words(run: Json) -> str:
    title = f": {run['title']}" if run["title"] else ""
    worked = f"worked {duration(run['worked_ms'] / 1000)}"
    done = f"{run['tasks_succeeded']} of {run['tasks']} tasks"
    used = usage_words(run["usage"]) or "no requests"
    return f"{run['id']} {run['job']}{title} · {run['state']} · {worked} · {used} · {done}"


def _step_words(step: Any) -> str:
    if step is None:
        return "not run"
    came = str(step["state"]) if step["answer"] is None else str(step["answer"]).lower()
    return f"{came}: {step['conclusion']}" if step["conclusion"] else came


def _check_words(check: Any) -> str:
    if check is None:
        return "not checked"
    return f"{'met' if check['holds'] else 'not met'} (#{check['attempt']})"


def _counts(counts: Any) -> str:
    return f"+{counts['added']} -{counts['removed']}" if counts else "unchanged"


def rename(client: Client, run: str, title: str) -> Exit:
    view = client.patch(f"{RUNS}/{run}", {"title": title})
    title = view["short_title"]
    done = f"Renamed {run} to {title}." if title else f"Removed the title of {run}."
    aside().line(visible_line(done))
    return Exit.DONE


def tag(client: Client, run: str, tags: Sequence[str], *, removes: bool) -> Exit:
    """Adds these tags, or takes them away."""
    known = cast("list[str]", client.get(f"{RUNS}/{run}")["tags"])
    kept = [one for one in known if one not in tags]
    view = client.patch(f"{RUNS}/{run}", {"tags": kept if removes else [*kept, *tags]})
    said = ", ".join(view["tags"]) or "none"
    aside().line(visible_line(f"Tags of {run}: {said}."))
    return Exit.DONE
