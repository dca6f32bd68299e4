"""Who works on a shared database, asked without a server."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from airboss.cli.screen import aside, moment, out, print_json, print_table
from airboss.cli.trouble import CommandRefused, Trouble
from airboss.errors import StoreUnavailable

if TYPE_CHECKING:
    from airboss.store.worker_rows import AllWorkers, WorkerRow

DATABASE: Final = "AIRBOSS_DATABASE"
_SECONDS: Final = 5.0


def _url() -> str:
    url = os.environ.get(DATABASE, "").strip()
    if not url:
        raise CommandRefused(f"Set {DATABASE} to the address of the database: postgresql://…")
    return url


def show_workers(*, is_json: bool) -> None:
    from airboss.store.postgres_workers import WorkerLine

    line = WorkerLine(_url(), "")
    try:
        found = line.all(_SECONDS)
    except StoreUnavailable as error:
        raise Trouble(str(error)) from error
    finally:
        line.close()
    if is_json:
        items = [_facts(worker, found) for worker in found.workers]
        print_json({"items": items, "tasks_waiting": found.tasks_waiting})
        return
    if not found.workers:
        aside().line("No workers yet. Start one with: airboss worker")
        return
    heads = ("Name", "State", "Host", "Heard of", "Slots", "Runs", "Version", "Clock", "Id")
    rows = [
        (
            worker.name,
            worker.state,
            f"{worker.host}:{worker.pid}",
            moment(worker.seen_at),
            _slots(worker, found),
            str(len(found.runs_of(worker.id))),
            worker.version,
            f"{worker.offset_ms:+d} ms",
            worker.id,
        )
        for worker in found.workers
    ]
    print_table(heads, rows, out())
    if count := found.tasks_waiting:
        tasks = "1 task waits" if count == 1 else f"{count} tasks wait"
        aside().line(f"{tasks} for a slot: all machines together are full (max_tasks_all).")


def _slots(worker: "WorkerRow", found: "AllWorkers") -> str:
    return f"{found.slots_used(worker.id)} of {worker.slots}" if worker.slots else "none"


def _facts(worker: "WorkerRow", found: "AllWorkers") -> dict[str, Any]:
    runs = [run.view.id for run in found.runs_of(worker.id)]
    return {**asdict(worker), "slots_used": found.slots_used(worker.id), "runs": runs}


def mark_lost(worker: str) -> None:
    """Also of one that is marked, or has left, already."""
    from airboss.store.postgres_workers import WorkerLine

    line = WorkerLine(_url(), worker)
    try:
        is_done = line.mark_lost(worker, None, _SECONDS)
        state = line.state_of(worker, _SECONDS)
    except StoreUnavailable as error:
        raise Trouble(str(error)) from error
    finally:
        line.close()
    if state is None:
        raise CommandRefused(f"There is no worker {worker}. To list them: airboss workers")
    if is_done:
        out().line(f"{worker} counts as lost. Others continue its runs.")
    else:
        said = "had left" if state == "left" else "counted as lost"
        out().line(f"{worker} {said} already.")
