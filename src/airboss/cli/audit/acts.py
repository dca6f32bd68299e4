"""`airboss audit`: who did what, from where."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.feed import AUDIT, FeedClient
from airboss.cli.heard import Heard, Record, Remark
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line
from airboss.cli.trouble import Exit
from airboss.cli.watcher import Interrupts, watch_to_the_end

_PATH: Final = "/api/v1/audit"
_PAGE: Final = 1000
_PREFIX: Final = "audit."
# What stands in columns of its own.
_BESIDE: Final = ("kind", "by")


def show_audit(client: Client, limit: int, *, is_json: bool) -> int:
    """The last so many, the oldest of them first; answers where to go on."""
    items: list[Json] = []
    cursor: int | None = None
    while len(items) < limit:
        page = client.get(_PATH, limit=min(limit - len(items), _PAGE), cursor=cursor)
        items += cast("list[Json]", page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    items.reverse()
    if is_json:
        for item in items:
            print_json(item)
    else:
        rows = [_row(int(item["at"]), cast("Json", item["event"])) for item in items]
        print_table(("When", "Who", "From", "What", "Details"), rows, out())
    return int(items[-1]["seq"]) if items else 0


def follow_audit(
    reach: Callable[[], Client], limit: int, patience: float, *, is_json: bool
) -> Exit:
    """The last so many, then whatever comes, until Ctrl-C."""
    with Interrupts() as interrupts:
        with closing(reach()) as client:
            seq = show_audit(client, limit, is_json=is_json)
        feed = FeedClient(reach, {AUDIT: seq}, patience)
        is_over = watch_to_the_end(feed, _AuditViewer(is_json), interrupts)
    return Exit.DONE if is_over else Exit.STOPPED


@dataclass(frozen=True)
class _AuditViewer:
    """Writes down what comes."""

    is_json: bool

    def hear(self, heard: Heard | None) -> bool:
        if isinstance(heard, Record):
            _tell(heard, is_json=self.is_json)
        elif isinstance(heard, Remark):
            aside().line(heard.text)
        return True


def _tell(heard: Record, *, is_json: bool) -> None:
    if is_json:
        print_json({"seq": heard.seq, "at": heard.at, "event": heard.event})
    else:
        out().line("  ".join(_row(heard.at, heard.event)))


def _row(at: int, event: dict[str, Any]) -> tuple[str, ...]:
    by = cast("Json", event.get("by") or {})
    kind = str(event.get("kind", "")).removeprefix(_PREFIX)
    where = " ".join(str(by[name]) for name in ("address", "via") if by.get(name))
    return (
        moment(at),
        visible_line(str(by.get("who") or "-")),
        visible_line(where),
        visible_line(kind),
        visible_line(_details(event)),
    )


def _details(event: dict[str, Any]) -> str:
    """The rest of it, as it is: name and value."""
    said: list[str] = []
    for name, value in event.items():
        if name in _BESIDE or value in (None, "", []):
            continue
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        said.append(f"{name}={shown}")
    return " ".join(said)
