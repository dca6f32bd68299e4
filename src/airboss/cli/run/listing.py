"""Runs in the terminal: list, show, stop, delete."""

import time
from contextlib import suppress
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.confirming import confirmed
from airboss.cli.feed import address_of
from airboss.cli.frame import styled
from airboss.cli.inbox.deciding import waiting
from airboss.cli.inbox.item_page import command_of, title_of
from airboss.cli.listing import items_of, wait_of
from airboss.cli.run.changes import ended_words
from airboss.cli.run.story import FOR_PERSON, Story
from airboss.cli.run.tree import Signs, Tree, state_words, usage_words, work_of
from airboss.cli.run.watch import RUNS
from airboss.cli.screen import (
    Pen,
    aside,
    duration,
    moment,
    out,
    print_json,
    print_table,
    visible_line,
    waited,
)
from airboss.cli.session.setup_facts import setup_facts
from airboss.cli.trouble import CommandRefused, Exit, Trouble

_KINDS: Final = {"tsk": "task run", "ses": "session"}


def show_runs(
    client: Client, state: str | None, limit: int, *, is_json: bool, **asked: str | None
) -> None:
    items = items_of(client, RUNS, state, limit, **asked)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        aside().line("No runs. Start one with: airboss run JOB")
        return
    # Scripts count the columns: what is new comes last.
    heads = ("Run", "Job", "State", "Done", "Failed", "Began", "Worked", "Reason", "Title")
    heads += ("Folder", "Requests", "Cost")
    print_table(heads, [_row(item) for item in items], out())


def _row(item: Json) -> tuple[str, ...]:
    return (
        item["id"],
        item["job"],
        state_words(item["state"]),
        str(item["works_succeeded"]),
        str(item["works_failed"]),
        moment(item["created_at"]),
        duration(_worked(item)),
        _doing(item),
        _title(item),
        item["cwd"],
        str(_whole(item, "requests")),
        f"{_whole(item, 'cost'):g}",
    )


def _title(item: Json) -> str:
    return " ".join([item["short_title"], *(f"#{tag}" for tag in item["tags"])]).strip()


def _whole(item: Json, name: str) -> float:
    return item["usage"][name] + item["usage"]["sub_agents"][name]


def _worked(item: Json) -> float:
    """In seconds, as `RunView.worked_until` has it: what that needs takes longer to import than to
    list."""
    now = time.time_ns() // 1_000_000
    since = [(work["worked_ms"], work["working_since"] or now) for work in item["running"]]
    going = sum(worked + max(now - begun, 0) for worked, begun in since)
    return (item["usage"]["milliseconds"] + going) / 1000


def _doing(item: Json) -> str:
    running = cast("list[Json]", item["running"])
    asking = [work["waits_for"] for work in running if work["for_person"]]
    if waits := item["waits_for"] or next(iter(asking), None):
        return f"waiting for {waits}"
    return item["reason"] or ", ".join(str(work["task"]) for work in running)


def show(client: Client, name: str, *, is_json: bool) -> None:
    """A run; by another id, what that names."""
    if name.startswith("tsk_"):
        from airboss.cli.task.listing import show_run as show_task_run

        show_task_run(client, name, is_json=is_json)
    elif name.startswith("ses_"):
        _show_session(client, name, is_json=is_json)
    else:
        _show_run(client, name, is_json=is_json)


def _show_run(client: Client, run: str, *, is_json: bool) -> None:
    said = client.get(f"{RUNS}/{run}")
    if is_json:
        print_json(said)
        return
    pen = out()
    again = f" (repeats {said['again']})" if said["again"] else ""
    facts = [
        ("Run", f"{said['id']}{again}"),
        ("Job", said["job"]),
        ("Title", _title(said)),
        ("State", f"{state_words(said['state'])} after {duration(_worked(said))} of work"),
        ("Task runs", str(said["works_succeeded"] + said["works_failed"])),
        ("Reason", said["reason"] or ""),
        ("Waiting for", said["waits_for"] or ""),
        ("Input", said["user_input"]),
        ("Folder", said["cwd"]),
        ("By", said["who"]),
        ("Started", moment(said["created_at"])),
        ("Attempt", str(said["attempt"]) if said["attempt"] > 1 else ""),
        ("Restarts", str(said["restarts"] or "")),
        ("Usage", usage_words(said["usage"])),
    ]
    _print_facts(pen, facts)
    story = Story.of(said)
    if any(work.state == FOR_PERSON for work in story.running):
        story.take_items(waiting(client, run=run))
    tree = Tree(
        story,
        work_of(client, said),
        Signs.on(pen.stream),
        has_every_round=True,
        has_ids=True,
    )
    for line in tree.lines(time.time_ns() // 1_000_000)[1:]:
        pen.line(styled(line, pen))


def _show_session(client: Client, session: str, *, is_json: bool) -> None:
    said = client.get(address_of(session))
    if is_json:
        print_json(said)
        return
    facts = [
        ("Session", said["id"]),
        ("Title", said["title"]),
        ("State", said["state"]),
        ("Waiting for", wait_of(said)),
        ("Error", said["error"] or ""),
        ("Model", said["model"]),
        ("Folder", said["cwd"]),
        ("Permissions", said["policy"]),
        ("By", said["who"]),
        ("Started", moment(said["created_at"])),
        ("Turns", str(said["turns"])),
        ("Worked", duration(_whole_turns(said) / 1000)),
        ("Usage", usage_words(said["usage"])),
    ]
    asked = [item["asked"] for item in said["items"]]
    facts += [("Asks", f"{title_of(one)} {command_of(one)}") for one in asked]
    _print_facts(out(), [*facts, *setup_facts(client, session, said.get("account"))])


def _whole_turns(session: Json) -> int:
    """The milliseconds of all its turns, without the time in which it waited for a person."""
    return int(session["usage"]["milliseconds"] + session["spending"]["milliseconds"])


def _print_facts(pen: Pen, facts: list[tuple[str, str]]) -> None:
    for name, value in facts:
        if value:
            pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(value)}")


def stop(client: Client, name: str) -> Exit:
    """Stop a run, or a task run."""
    if name.startswith("tsk_"):
        from airboss.cli.task.listing import stop_run as stop_task_run

        return stop_task_run(client, name)
    if name.startswith("ses_"):
        raise CommandRefused("You can stop a run or a task run, but not a session.")
    with suppress(KeyboardInterrupt):
        view = waited("Stopping the run", lambda: client.post(f"{RUNS}/{name}/stop"))
        said = f"The run {ended_words(str(view['state']))}: {view['reason']}"
        aside().line(visible_line(said))
        return Exit.DONE
    raise Trouble("Could not confirm that the run stopped. Check with: airboss runs", Exit.STOPPED)


def delete(client: Client, name: str, *, is_sure: bool) -> Exit:
    """A run or a task by itself with their sessions, or a session, for good; a person is asked
    before."""
    kind = _KINDS.get(name.partition("_")[0], "run")
    address = f"{RUNS}/{name}" if kind == "run" else address_of(name)
    losing = "" if is_sure else _what_is_lost(name, kind, client.get(address))
    if not confirmed("Delete it?", losing=losing, is_sure=is_sure):
        aside().line("Nothing was deleted.")
        return Exit.STOPPED
    client.delete(address)
    aside().line(f"Deleted the {kind} {visible_line(name)}.")
    return Exit.DONE


def _what_is_lost(name: str, kind: str, view: Json) -> str:
    more = "" if kind == "session" else ", with its sessions"
    began = f"started {moment(view['created_at'])}"
    return f"{name} {_words_of(kind, view)}, {began}{more}, will be permanently deleted."


def _words_of(kind: str, view: Json) -> str:
    if kind == "run":
        return f"of the job {view['job']}"
    if kind == "task run":
        return f"of the task {view['task']}"
    return f"“{view['title']}”" if view["title"] else f"on {view['model']}"
