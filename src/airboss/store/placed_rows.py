"""Rows that are one machine's own. A file has one machine, and no column for it; on a database that
several share, each reads and writes its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Insert, Table, true

from airboss.store.dialect import Dialect
from airboss.store.machine_tables import PLACED


@dataclass(frozen=True)
class PlacedRows:
    """Those of the machine with this data folder."""

    dialect: Dialect
    of_file: Table
    place: str

    @property
    def table(self) -> Table:
        return PLACED[self.of_file.name] if self.dialect.has_places else self.of_file

    @property
    def mine(self) -> ColumnElement[bool]:
        return self.table.c.place == self.place if self.dialect.has_places else true()

    def put(self, keys: Sequence[str], values: Mapping[str, Any]) -> Insert:
        """In the place of the row with the same keys."""
        keys, values = self._placed(keys, values)
        return self.dialect.put(self.table, keys, values)

    def putting(
        self, keys: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[Insert, dict[str, Any]]:
        """The same, for what is put often: a statement that is built once, and its row."""
        keys, values = self._placed(keys, values)
        return self.dialect.putting(self.table, keys, values), values

    def _placed(
        self, keys: Sequence[str], values: Mapping[str, Any]
    ) -> tuple[Sequence[str], dict[str, Any]]:
        if not self.dialect.has_places:
            return keys, dict(values)
        known = ("place",) if "place" in self.table.primary_key.columns else ()
        return [*known, *keys], {"place": self.place, **values}
