"""Tickets of a repository, as Markdown files in `.tickets/`: list, read, add and close them."""

import re
from pathlib import Path
from typing import Annotated, Literal

from airboss.extension import Call, Context, SessionStarted, hook, session, tool

Number = Annotated[int, "the number of the ticket"]
State = Literal["open", "done"]


def folder() -> Path:
    return session.cwd / ".tickets"


def file_of(number: int) -> Path:
    file = folder() / f"{number:04}.md"
    if not file.is_file():
        raise LookupError(f"there is no ticket {number}")
    return file


def known() -> dict[int, str]:
    """The first line of each: its title, with `[done]` before it if it is closed."""
    files = sorted(folder().glob("[0-9][0-9][0-9][0-9].md"))
    return {int(file.stem): file.read_text("utf-8").partition("\n")[0] for file in files}


@tool(repeatable=True)
def tickets(state: Annotated[State, "open ones, or those that are done"] = "open") -> str:
    """Lists the tickets of this repository: number and title."""
    is_done = state == "done"
    listed = [
        f"{number}: {title.removeprefix('# ')}"
        for number, title in known().items()
        if title.startswith("# [done]") == is_done
    ]
    return "\n".join(listed) or f"There is no ticket that is {state}."


@tool(repeatable=True)
def ticket(number: Number) -> str:
    """Reads one ticket of this repository."""
    return file_of(number).read_text("utf-8")


@tool(repeatable=True)
def add_ticket(
    title: Annotated[str, "one line"], text: Annotated[str, "what is wrong or wanted"], call: Call
) -> str:
    """Adds a ticket to this repository."""
    folder().mkdir(exist_ok=True)
    mark = f"<!-- {re.sub(r'[^A-Za-z0-9_-]', '', call.id)} -->"
    for number in known():  # the same call, made again after a crash
        if mark in file_of(number).read_text("utf-8"):
            return f"Ticket {number} is there."
    number = max(known(), default=0) + 1
    content = f"# {' '.join(title.split())}\n\n{text.strip()}\n\n{mark}\n"
    with (folder() / f"{number:04}.md").open("x", encoding="utf-8") as file:
        file.write(content)
    return f"Ticket {number} is there."


@tool(repeatable=True)
def close_ticket(number: Number, note: Annotated[str, "what was done"]) -> str:
    """Closes a ticket of this repository, with a note."""
    file = file_of(number)
    content = file.read_text("utf-8")
    if not content.startswith("# [done]"):
        closed = f"# [done] {content.removeprefix('# ').rstrip()}\n\nDone: {note.strip()}\n"
        file.write_text(closed, encoding="utf-8")
    return f"Ticket {number} is closed."


@hook.session_start
def remind(start: SessionStarted) -> Context | None:
    """The agent knows from the start that there are some."""
    count = sum(not title.startswith("# [done]") for title in known().values())
    return Context(f"This repository has {count} open tickets: use `tickets`.") if count else None
