"""Proof, in each transaction that writes, that its worker lives: with it, or nothing is written.

It is asked for last, together with the number of the transaction, so that it costs no round trip;
and only of one that has written something.
"""

from typing import Final

from sqlalchemy import Connection

from airboss.store.dialect import Fenced, is_proven, note_proven

_NUMBER: Final = "SELECT pg_current_xact_id_if_assigned()::text"
# Beats pass this lock; who gives the worker up for lost waits for it.
_PROOF: Final = """
SELECT number, number IS NULL OR EXISTS (
    SELECT 1 FROM workers WHERE id = %s AND state IN ('alive', 'draining') FOR KEY SHARE
) FROM (SELECT pg_current_xact_id_if_assigned()::text AS number) AS mine
"""


class WorkerLost(Fenced):
    """Others count this worker as lost, and what it has may be theirs by now."""

    def __init__(self, worker: str) -> None:
        super().__init__(f"the worker {worker} counts as lost", is_own_end=True)


def prove(connection: Connection, worker: str | None) -> str | None:
    """The transaction's number; None where it has written nothing. Who has no worker, as before it
    is one, is not asked. Raises `WorkerLost`."""
    if worker is None or is_proven(connection):
        return connection.exec_driver_sql(_NUMBER).scalar()
    number, lives = connection.exec_driver_sql(_PROOF, (worker,)).one()
    if not lives:
        raise WorkerLost(worker)
    note_proven(connection)
    return number
