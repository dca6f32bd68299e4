"""DBOS as this house uses it. Imported only when there is a run: it takes half a second and 30 MB.

Nothing here knows what a workflow is about.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias

from dbos import DBOS, DBOSPortableJSONSerializer, SetWorkflowID

from airboss.engine import tables
from airboss.engine.dbos_internals import (
    inside_of,
    look_every,
    quiet_log,
    recovery_queue,
)

# Bumped by hand when the same tree is walked in other steps: rows of another version stay asleep.
VERSION: Final = "walk-1"
# Always the same: the lock on the data folder lets one server in, and it takes up what is open.
EXECUTOR: Final = "server"

_QUICK_SECONDS: Final = 0.05
_CALM_SECONDS: Final = 1.0
# The house's own `to_thread` works on these too: DBOS puts them in the loop's place for its own.
_THREADS: Final = 16

Body: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Workflows:
    """Durable workflows on a SQLite file. There can be one at a time in a process."""

    def __init__(self, path: Path, bodies: Mapping[str, Body]) -> None:
        quiet_log()
        tables.prepare(path)
        DBOS(
            config={
                "name": "airboss",
                "system_database_url": tables.url_of(path),
                "application_version": VERSION,
                "executor_id": EXECUTOR,
                "serializer": DBOSPortableJSONSerializer(),
                "log_level": "WARNING",
                "max_executor_threads": _THREADS,
                # A local file is always there, and needs no asking before each statement.
                "db_engine_kwargs": {
                    "pool_pre_ping": False,
                    "pool_size": _THREADS + 4,
                    "connect_args": {"factory": tables.Relaxed},
                },
                # We send no messages; closing waits for this one.
                "notification_listener_polling_interval_sec": 0.2,
            }
        )
        # A run may be cut off as often as it likes: there is no limit at which it is given up.
        self._bodies = {
            name: DBOS.workflow(name=name, max_recovery_attempts=None)(_marked(body))
            for name, body in bodies.items()
        }
        # DBOS takes up what is open through this queue, at 1 s a look if nobody says otherwise.
        self._queue = recovery_queue(_QUICK_SECONDS)

    def launch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Blocks, so it has a thread of its own. DBOS adopts the loop that it finds itself in."""
        with inside_of(loop):
            try:
                DBOS.launch()
            except BaseException:
                _destroy()
                raise

    def calm_down(self) -> None:
        """What was open has been taken up: looking twenty times a second costs for nothing."""
        look_every(self._queue, _CALM_SECONDS)

    async def start(self, name: str, workflow: str, *given: Any) -> None:
        """Returns when it is on disk. One that is known already is not started again."""
        with SetWorkflowID(workflow):
            await DBOS.start_workflow_async(self._bodies[name], *given)

    async def cancel(self, workflow: str) -> None:
        """With all that it started. Nothing of it is taken up again."""
        await DBOS.cancel_workflow_async(workflow, cancel_children=True)

    async def close(self) -> None:
        """What is open stays open. The loop gets back threads to work with: DBOS put its own in
        their place, and takes them with it."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as thread:
            await loop.run_in_executor(thread, _destroy)
        loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="asyncio"))


def _marked(body: Body) -> Body:
    """DBOS hangs what it knows on the function; a method cannot bear that."""

    async def workflow(*given: Any) -> Any:
        return await body(*given)

    return workflow


def _destroy() -> None:
    DBOS.destroy(destroy_registry=True)
