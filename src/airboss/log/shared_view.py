"""The view of a stream in which all servers write, also while some are older than others: whoever
writes it keeps what a newer one has put there, and does not understand it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from airboss.model.events import Event
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import InboxItem, InboxSettled
from airboss.model.views import VIEWS, View
from airboss.store.view_rows import ViewRow, view_row

# In a row of `views`.
_BODY: Final = 5


def view_of(kind: str, body: str) -> View:
    """What this version understands of it: of the list of all that waits, the items that it
    knows."""
    try:
        return VIEWS[kind].model_validate_json(body, extra="ignore")
    except ValidationError:
        if kind != InboxView.stream_kind:
            raise
    raw = json.loads(body)
    raw["items"] = [item for item in raw["items"] if _is_known(item)]
    return InboxView.model_validate_json(json.dumps(raw), extra="ignore")


def _is_known(item: Any) -> bool:
    try:
        InboxItem.model_validate_json(json.dumps(item), extra="ignore")
    except ValidationError:
        return False
    return True


def row_over(before: str, view: View, said: Iterable[Event]) -> ViewRow:
    """The row of a view over the text of the one before it, behind these events."""
    row = view_row(view)
    if not isinstance(view, InboxView):
        return row
    body = _merged(json.loads(before), json.loads(row[_BODY]), _settled(said))
    return (*row[:_BODY], json.dumps(body, ensure_ascii=False), *row[_BODY + 1 :])


def _settled(said: Iterable[Event]) -> frozenset[str]:
    return frozenset(event.item for event in said if isinstance(event, InboxSettled))


def _merged(
    before: Mapping[str, Any], after: dict[str, Any], settled: frozenset[str]
) -> dict[str, Any]:
    """Items never change: as they were written they stay, until they are settled."""
    mine = {item["id"]: item for item in after["items"]}
    there = {item["id"] for item in before["items"]}
    stayed = [
        item
        for item in before["items"]
        if item["id"] not in settled and (item["id"] in mine or not _is_known(item))
    ]
    new = [item for name, item in mine.items() if name not in there]
    return {**before, **after, "items": [*stayed, *new]}
