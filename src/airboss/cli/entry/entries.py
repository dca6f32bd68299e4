"""Entries in the terminal: every mistake with its place, the chart of a job. Needs no server."""

import os
from pathlib import Path

from airboss.cli.client import Client, find
from airboss.cli.entry.mistakes import tell_mistake
from airboss.cli.folder import data_folder
from airboss.cli.screen import aside, out, print_json, visible, visible_line
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.entry.bounds import Ungranted, limited_in, ungranted
from airboss.entry.chart import draw
from airboss.entry.document import Entry, Work
from airboss.entry.drawing.mermaid import mermaid
from airboss.entry.drawing.svg import svg
from airboss.entry.drawing.terminal import terminal
from airboss.entry.load import check_file
from airboss.entry.places import NAMES, find_repo_root, own_entries
from airboss.entry.validate import Checked
from airboss.entry.violations import EntryInvalid, Hints, asked, in_order_of_text
from airboss.model.cage_bounds import ServerCages
from airboss.settings import Settings


def own_entry() -> Path:
    """The entry of the repository that one stands in, named from here where that is shorter."""
    here = Path.cwd()
    root = find_repo_root(here)
    found = own_entries(root)
    if not found:
        raise CommandRefused(
            f"{root} has no {NAMES[0]}. Create one with `airboss init`, or pass the file."
        )
    return found[0].relative_to(here) if found[0].is_relative_to(here) else found[0]


def is_remembered(file: Path, data: Path | None) -> bool:
    """Whether the server of this data folder knows that a person trusts the file as it is."""
    if os.environ.get("AIRBOSS_URL") or data_folder(data).note() is None:
        return False
    try:
        trusted = Client(find(data)).get("/api/v1/trust")["items"]
    except Trouble:
        return False
    real = os.path.realpath(file)
    return any(item["current"] and item["path"] == real for item in trusted)


def check(
    file: Path, settings: Settings, *, trusted: bool, remembered: bool, is_json: bool
) -> Exit:
    """Say all that is wrong with an entry, and which of its requests are not granted."""
    checked = _examine(file, trusted=trusted)
    wished = checked.entry and ungranted(
        checked.entry,
        settings.permissions,
        session=settings.session,
        cages=ServerCages.of(settings),
    )
    requests = [] if trusted else list(wished or ())
    if is_json:
        print_json(_report(file, checked, requests))
    elif checked.entry:
        tasks, jobs = len(checked.entry.tasks), len(checked.entry.jobs)
        out().line(f"{visible_line(str(file))}: no errors. Tasks: {tasks}, jobs: {jobs}.")
        if remembered:
            aside().line("note: You trust this file as it is now, so its policy applies.")
        for request in requests:
            aside().line(f"note: {visible_line(str(request))}")
        for limited in limited_in(checked.entry):
            aside().line(f"note: {visible_line(limited)}")
    else:
        _tell(file, checked)
    return Exit.DONE if checked.entry else Exit.FAILED


def chart(file: Path, job: str, form: str, *, trusted: bool) -> Exit:
    """Print the chart of a job, as somebody wants to have it."""
    checked = _examine(file, trusted=trusted)
    if not checked.entry:
        _tell(file, checked)
        return Exit.FAILED
    graph, block = draw(_job(checked.entry, job, file))
    pen = out()
    if form == "mermaid":
        pen.write(visible(mermaid(graph)))
    elif form == "svg":
        # By their numbers, so that every pipe carries them.
        pen.write(svg(graph, block, job).encode("ascii", "xmlcharrefreplace").decode("ascii"))
    else:
        is_wide = (pen.stream.encoding or "").lower().replace("-", "") in ("utf8", "utf16")
        pen.write(terminal(graph, block, visible_line, plain=not is_wide))
    return Exit.DONE


def _job(entry: Entry, name: str, file: Path) -> Work:
    if name in entry.jobs:
        return entry.jobs[name].work
    hint = asked(Hints().nearest(name, entry.jobs)) or f"It has: {', '.join(entry.jobs) or 'none'}."
    raise CommandRefused(f"There is no job {name} in {file}. {hint}")


def _examine(file: Path, *, trusted: bool) -> Checked:
    try:
        return check_file(file, trusted=trusted)
    except EntryInvalid as error:
        return Checked(None, error.violations)


def _tell(file: Path, checked: Checked) -> None:
    pen = out()
    for violation in in_order_of_text(checked.violations):
        tell_mistake(violation, str(file), pen)
    count = len(checked.violations)
    aside().line("1 error." if count == 1 else f"{count} errors.")


def _report(file: Path, checked: Checked, requests: list[Ungranted]) -> dict[str, object]:
    return {
        "file": str(file),
        "valid": checked.entry is not None,
        "violations": [said.to_wire() for said in in_order_of_text(checked.violations)],
        "ungranted": [
            {"where": request.place.where, "wished": request.wished, "granted": request.granted}
            for request in requests
        ],
    }
