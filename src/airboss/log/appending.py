"""One attempt to write what streams have to say, and how to find out what came of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from airboss.log import rows
from airboss.log.portion import Portion, portion_of
from airboss.log.rows import merged_row
from airboss.log.shared_view import row_over, view_of
from airboss.model.audit_events import AUDIT
from airboss.model.inbox_events import INBOX
from airboss.store.dialect import SHARED_EPOCH, Append, Dialect
from airboss.store.ownership import has_come_to, lock_shared
from airboss.store.view_rows import ViewRow, view_row

# Everybody writes in these: their numbers and their view are made while their row is locked.
SHARED: Final = frozenset({INBOX, AUDIT})


class AppendAttempt:
    """Of one transaction."""

    def __init__(self, dialect: Dialect, worker: str, portions: Sequence[Portion]) -> None:
        self._dialect = dialect
        self._worker = worker
        # As they were written: those of shared streams have other numbers then.
        self.portions = list(portions)

    def write(self, connection: Connection) -> None:
        own = [one for one in self.portions if not one.is_shared]
        if own:
            self._dialect.append(connection, append_of(self._worker, own))
        if len(own) < len(self.portions):
            # Last, so that nobody waits for more than this.
            shared: list[Portion] = []
            views: list[ViewRow] = []
            for number, one in enumerate(self.portions):
                if one.is_shared:
                    self.portions[number], row = _behind_all(connection, one)
                    shared.append(self.portions[number])
                    views += row
            batch = append_of(self._worker, shared)
            self._dialect.append(connection, replace(batch, views=views))

    def has_happened(self, connection: Connection) -> bool:
        return has_come_to(connection, append_of(self._worker, self.portions))

    def refuse_late(self, now: float, words: str) -> None:
        """Those who wait for it, and have waited long enough."""
        for portion in self.portions:
            for item in portion.items:
                group = item.group
                if group and group.is_late(now):
                    group.leave_in_doubt(words)


def _behind_all(connection: Connection, portion: Portion) -> tuple[Portion, list[ViewRow]]:
    """What others have said there by now comes first; with the row of its view."""
    stream = portion.growth.stream
    head = lock_shared(connection, stream)
    before = rows.view_text(connection, stream)
    view = None if before is None else view_of(*before)
    for seq, item in enumerate(portion.items, start=head + 1):
        item.recorded.seq = seq
        if view is not None:
            item.recorded.at = max(item.recorded.at, view.updated_at)
    told = portion_of(stream, view, portion.items, SHARED_EPOCH, head, in_parts=True)
    if told.view is None or not told.has_new_view:
        return told, []
    if before is None:
        return told, [view_row(told.view)]
    return told, [row_over(before[1], told.view, [item.event for item in portion.items])]


def append_of(worker: str, portions: Sequence[Portion]) -> Append:
    """All of them, to be written in one transaction."""
    runs = [run for portion in portions for run in portion.runs]
    return Append(
        worker=worker,
        growths=[portion.growth for portion in portions],
        rows=[
            *(row for portion in portions for row in portion.rows),
            *(merged_row(run) for run in runs),
        ],
        # A run has no seq of anybody else between its first and its last.
        replaced=[
            (run.stream, run.marks.seqs[0], run.marks.seqs[-1]) for run in runs if run.stored
        ],
        parts=[part for portion in portions for part in portion.parts],
        opened=[start for portion in portions for start in portion.opened],
        closed=[start for portion in portions for start in portion.closed],
        origins=[origin for portion in portions for origin in portion.origins],
        views=[view_row(one.view) for one in portions if one.view and one.has_new_view],
    )
