"""What waits for a person just now, kept up to date by the events of the inbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from airboss.cli.client import Client, Json
from airboss.cli.feed import INBOX
from airboss.cli.heard import Record
from airboss.cli.inbox.deciding import INBOX as INBOX_PATH


@dataclass
class OpenItems:
    """Those that wait, by their ids, in the order in which they came: of one run, or of one task
    run."""

    # Which fields of an item have to be what.
    about: Mapping[str, str]
    seq: int = 0
    _items: dict[str, Json] = field(default_factory=dict[str, Json])

    @classmethod
    def ask(cls, client: Client, about: Mapping[str, str]) -> "OpenItems":
        """As of `seq`: an inbox that is followed from there misses and repeats nothing."""
        said = client.get(INBOX_PATH)
        items = cls(about, int(said["seq"]))
        for item in cast("list[Json]", said["items"]):
            items._add(item)
        return items

    def hear(self, record: Record) -> None:
        if record.stream != INBOX:
            return
        if record.kind == "inbox.arrived":
            self._add(cast("Json", record.event["item"]))
        elif record.kind == "inbox.settled":
            self._items.pop(str(record.event["item"]), None)

    def _add(self, item: Json) -> None:
        if all(item.get(name) == value for name, value in self.about.items()):
            self._items[str(item["id"])] = item

    @property
    def all(self) -> list[Json]:
        return list(self._items.values())
