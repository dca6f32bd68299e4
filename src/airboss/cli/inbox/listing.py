"""What waits for a person, in the terminal: all of it, and one of it whole."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.inbox.deciding import find, waiting
from airboss.cli.inbox.item_page import draw_whole, title_of, waits, what_of
from airboss.cli.run.watch import RUNS
from airboss.cli.screen import aside, out, print_json, print_table
from airboss.cli.trouble import CommandRefused

NOTHING: Final = "Nothing is waiting for you."
_LESSON: Final = (
    "Permission requests (airboss serve --permissions ask) and questions of agents appear here.\n"
    "Approve a request with: airboss approve ITEM. Deny it with: airboss deny ITEM. "
    "Answer a question with: airboss answer ITEM TEXT"
)


@dataclass(frozen=True)
class InboxFilter:
    """Which of what waits somebody wants to see."""

    kind: str | None = None
    session: str | None = None
    run: str | None = None

    def has(self, item: Json) -> bool:
        return (
            self.kind in (None, what_of(item["asked"]))
            and self.session in (None, item["session"])
            and self.run in (None, item.get("run"))
        )


class Jobs:
    """The job of each run that asks something; asked for once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, client: Client, item: Json) -> str | None:
        run = item.get("run")
        if not run:
            return None
        if run not in self._known:
            self._known[run] = "?"
            with suppress(CommandRefused):
                said = client.get(f"{RUNS}/{quote(str(run), safe='')}")
                self._known[run] = str(said["job"])
        return self._known[run]


def show_inbox(client: Client, wanted: InboxFilter, *, is_json: bool) -> None:
    items = waiting(client, kind=wanted.kind, session=wanted.session, run=wanted.run)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        pen = aside()
        pen.line(NOTHING)
        pen.line(pen.styled(_LESSON, "dim"))
        return
    print_table(("Item", "What", "Title", "Waits", "For"), rows_of(client, items), out())
    pen = aside()
    if pen.is_terminal:
        pen.line(pen.styled("To see one in full: airboss inbox ITEM", "dim"))


def rows_of(client: Client, items: Iterable[Json]) -> list[tuple[str, ...]]:
    jobs = Jobs()
    return [
        (
            str(item["id"]),
            what_of(item["asked"]),
            title_of(item["asked"]),
            waits(item),
            for_whom(item, jobs.of(client, item)),
        )
        for item in items
    ]


def for_whom(item: Json, job: str | None) -> str:
    """The run with its job, else the task run, else the session."""
    if run := item.get("run"):
        return f"{run} ({job})"
    return str(item.get("task_run") or item["session"])


def show_item(client: Client, name: str, *, is_json: bool) -> None:
    item = find(waiting(client), name)
    if item is None:
        raise CommandRefused(f"No waiting item has the id {name}. List them with: airboss inbox")
    if is_json:
        print_json(item)
        return
    draw_whole(out(), item, Jobs().of(client, item))
