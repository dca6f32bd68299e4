"""DBOS as this house uses it. Imported only when there is a run: it takes half a second and 30 MB.

Nothing here knows what a workflow is about.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from dbos import DBOS, DBOSPortableJSONSerializer, SetWorkflowID

from airboss.engine.dbos_internals import (
    inside_of,
    look_every,
    quiet_log,
    recovery_queue,
    take_from,
)
from airboss.engine.homes import ENGINE_VERSION, EngineHome

if TYPE_CHECKING:
    from dbos import DBOSConfig


_QUICK_SECONDS: Final = 0.05
_CALM_SECONDS: Final = 1.0
_UNUSED_SECONDS: Final = 60.0
_CLOSING_SECONDS: Final = 0.2
# The house's own `to_thread` works on these too: DBOS puts them in the loop's place for its own.
_THREADS: Final = 16

_log = logging.getLogger(__name__)

Body: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Workflows:
    """Durable workflows on one database. There can be one at a time in a process."""

    def __init__(self, home: EngineHome, bodies: Mapping[str, Body]) -> None:
        quiet_log()
        home.prepare()
        self._home = home
        DBOS(
            config={
                "name": "airboss",
                "application_version": ENGINE_VERSION,
                "executor_id": home.executor,
                "serializer": DBOSPortableJSONSerializer(),
                "log_level": "WARNING",
                "max_executor_threads": _THREADS,
                # We send no messages; closing waits for these two.
                "notification_listener_polling_interval_sec": _CLOSING_SECONDS,
                "notification_coalesce_sec": _CLOSING_SECONDS,
                **cast("DBOSConfig", home.config(_THREADS)),
            }
        )
        # A run may be cut off as often as it likes: there is no limit at which it is given up.
        self._bodies = {
            name: DBOS.workflow(name=name, max_recovery_attempts=None)(_marked(body))
            for name, body in bodies.items()
        }
        # DBOS takes up what is open through this queue, at 1 s a look if nobody says otherwise.
        # Of a shared database each worker has one of its own for that, and nothing comes to this.
        self._queue = recovery_queue(_QUICK_SECONDS if home.queue is None else _UNUSED_SECONDS)
        if home.queue is not None:
            DBOS.listen_queues([home.queue])

    def launch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Blocks, so it has a thread of its own. DBOS adopts the loop that it finds itself in."""
        try:
            with inside_of(loop):
                DBOS.launch()
            self.hurry()
        except BaseException:
            _destroy()
            raise

    def calm_down(self) -> None:
        """What was open has been taken up: looking twenty times a second costs for nothing."""
        self._look_every(_CALM_SECONDS)

    def hurry(self) -> None:
        """Something is to be taken up now."""
        self._look_every(_QUICK_SECONDS)

    def _look_every(self, seconds: float) -> None:
        """Blocks: how often the queue of a shared database is looked at stands in that."""
        if self._home.queue is None:
            look_every(self._queue, seconds)
        else:
            DBOS.register_queue(
                self._home.queue, polling_interval_sec=seconds, on_conflict="always_update"
            )

    async def resume(self, workflows: list[str]) -> None:
        """What another worker had is taken up by this one, and by nobody else."""
        queue = self._home.queue
        await DBOS.resume_workflows_async(workflows, queue_name=queue)
        if queue is not None:
            try:
                await asyncio.to_thread(take_from, queue)
            except Exception:  # noqa: BLE001 - the queue itself looks a moment later
                _log.debug("The queue was not looked into at once", exc_info=True)

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
