"""Runs jobs durably: whatever ends the server, the next one goes on where it stopped.

A run is one workflow. What its tasks came to is in the log: taken up again, the run walks its tree
anew, and each task is answered from there or goes on. So DBOS is asked for nothing while a run
works, and its branches may work at the same time.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

from airboss.background import Background
from airboss.engine.executor import ConditionUnasked, Executor, RunOver
from airboss.engine.homes import EngineHome
from airboss.engine.ledger import EngineLedger
from airboss.engine.walk import (
    ROOT,
    Branch,
    Endings,
    RunTask,
    Step,
    TaskOutcome,
    Walk,
    Walked,
    only_task,
    walk,
)
from airboss.errors import Conflict, OwnedElsewhere, StoreUnavailable
from airboss.model.run_events import RunEnding

if TYPE_CHECKING:
    from airboss.engine.workflows import Workflows

# How long agents have to be gone when their run is stopped.
_STOP_SECONDS: Final = 1.8
_LOOK_SECONDS: Final = 0.5
_AGAIN_SECONDS: Final = 0.5
# By then a new task waits for the runtime, which opens its session.
_AHEAD_SECONDS: Final = 0.01
_STOPPING: Final = "The server is stopping."

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Engine:
    """Lives in one event loop. DBOS is loaded when the first run starts or is taken up."""

    def __init__(self, home: EngineHome, executor: Executor) -> None:
        self._executor = executor
        self._home = home
        self._ledger = EngineLedger(home)
        self._flows: Workflows | None = None
        self._door = asyncio.Lock()
        self._closing = False
        # The workflows of each run that work in this process.
        self._local: defaultdict[str, set[asyncio.Task[Any]]] = defaultdict(set)
        # What works before its workflow is stored, until that begins.
        self._ahead: dict[str, asyncio.Task[bool]] = {}
        # Each stop is another object: a start takes back only those that it knew of.
        self._stopped: dict[str, object] = {}
        # Runs that another worker goes on with.
        self._left: set[str] = set()
        self._gates: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._chores = Background("engine")

    async def recover(self) -> None:
        """Takes up every run that the last server left open."""
        if await asyncio.to_thread(self._ledger.has_open):
            await self._launched()

    async def warm_up(self) -> None:
        """For who may have to take up something at any moment: DBOS is loaded then."""
        with suppress(Conflict, StoreUnavailable):
            await self._launched()

    async def take_up(self, runs: list[str]) -> None:
        """What another worker had goes on here, and nowhere else. Repeated, it does no harm."""
        self._left.difference_update(runs)
        flows = await self._launched()
        with self._in_words():
            await asyncio.to_thread(flows.hurry)
            await flows.resume(runs)
        self._soon(self._calm_down(flows), "calm down")

    async def elsewhere(self, runs: list[str]) -> list[str]:
        """Those of `runs` that are going on under another worker's name."""
        return await asyncio.to_thread(self._ledger.open_elsewhere, runs)

    async def open_of_others(self) -> dict[str, str]:
        """What is open under another worker's name, and under which."""
        return await asyncio.to_thread(self._ledger.open_of_others)

    async def known(self, run: str) -> bool:
        """Whether it was started, however long ago."""
        return await asyncio.to_thread(self._ledger.knows, run)

    async def is_open(self, run: str) -> bool:
        """Whether it is going on, or will after the next start."""
        return await asyncio.to_thread(self._ledger.has_open, run)

    async def forget(self, run: str) -> None:
        """All that is kept of a run that has ended, of every time that it was tried."""
        await asyncio.to_thread(self._ledger.forget, run)

    async def start(self, run: str, *, is_lone: bool = False, is_new: bool = False) -> None:
        """Returns when the run survives a crash. One that is known is not started again. One of a
        single task needs no workflow of its own for that; where it `is_new`, it may work before."""
        body, ahead = "lone" if is_lone else "run", is_lone and is_new
        start = self._start(run, body, self._stopped.get(run), ahead=ahead)
        await self._surely(start, f"start {run}")

    async def _start(self, run: str, body: str, earlier: object | None, *, ahead: bool) -> None:
        async with self._gate(run):
            flows = await self._launched()
            self._left.discard(run)
            if self._stopped.get(run) is earlier:  # else it was stopped since it was asked for
                self._stopped.pop(run, None)
            if ahead:
                self._begin_ahead(run)
                await asyncio.sleep(_AHEAD_SECONDS)
            try:
                with self._in_words():
                    await flows.start(body, run, run)
            except BaseException:
                if (work := self._ahead.pop(run, None)) is not None:
                    await _let_go([work])
                raise

    def _begin_ahead(self, run: str) -> None:
        """To store a workflow takes as long as all that a task does before its session is opened,
        so it is stored while the runtime opens that. What crashes before is begun anew, as one that
        was accepted and is not known, and answered from the log."""
        work = self._guard(run, self._run_lone(run))
        self._ahead[run] = self._chores.call(work, f"work of {run}")

    async def end(self, run: str, ending: RunEnding) -> None:
        """By somebody, or by a fault. First on disk, so that no restart brings it back; then all
        that works, then its end."""
        said = await self._executor.begin_ending(run, ending)
        if said is not None:
            await self.stop(run)
            await self._executor.dismiss(run, said)

    async def end_surely(self, run: str, ending: RunEnding) -> None:
        """As often as the disk refuses it: without an end there it would be shown as running."""
        while True:
            try:
                return await self.end(run, ending)
            except StoreUnavailable:
                with suppress(StoreUnavailable):
                    await self._executor.dismiss(run, ending)
                await asyncio.sleep(_AGAIN_SECONDS)

    async def stop(self, run: str) -> None:
        """Returns when nothing of the run works any more, and nothing of it will."""
        self._stopped[run] = object()
        await self._surely(self._stop(run), f"stop {run}")

    async def _stop(self, run: str) -> None:
        async with self._gate(run):
            try:
                if self._flows or await asyncio.to_thread(self._ledger.has_open, run):
                    flows = await self._launched()
                    # First on disk: a crash between the two must not bring it back.
                    with self._in_words():
                        await flows.cancel(run)
            finally:  # also where the disk refuses that: what was stopped works no more
                await _let_go(self._local.get(run, ()))

    async def leave(self, run: str) -> None:
        """Nothing of it works here any more, and it stays open: another worker takes it up."""
        self._left.add(run)
        async with self._gate(run):
            await _let_go(self._local.get(run, ()))

    async def close(self) -> None:
        """Lets go of everything and leaves it open: the next server takes it up."""
        self._closing = True
        async with self._door:
            await _let_go([task for tasks in self._local.values() for task in tasks])
            await self._chores.close(cancel=True, seconds=_STOP_SECONDS)
            if self._flows:
                flows, self._flows = self._flows, None
                await flows.close()
            await asyncio.to_thread(self._ledger.home.close)

    def _gate(self, run: str) -> asyncio.Lock:
        """A run is not stopped while it is being started: it would be on disk after the mark."""
        return self._gates.setdefault(run, asyncio.Lock())

    async def _launched(self) -> "Workflows":
        async with self._door:
            if self._closing:
                raise Conflict(_STOPPING)
            flows = self._flows
            if flows is None:
                flows = await asyncio.to_thread(self._launch, asyncio.get_running_loop())
                self._soon(self._calm_down(flows), "calm down")
            return flows

    def _launch(self, loop: asyncio.AbstractEventLoop) -> "Workflows":
        from airboss.engine.workflows import Workflows

        try:
            with self._in_words():
                bodies = {"run": self._run, "lone": self._lone}
                flows = self._flows = Workflows(self._home, bodies)
                # What was open begins to work before this has returned.
                flows.launch(loop)
        except Exception:
            self._flows = None
            raise
        return flows

    @contextmanager
    def _in_words(self) -> Generator[None]:
        """Trouble of the engine's database is told as that of the log's is."""
        try:
            yield
        except Exception as error:
            said = self._home.in_words(error)
            if said is None:
                raise
            raise said from error

    async def _calm_down(self, flows: "Workflows") -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(StoreUnavailable):  # asked again
                if not await asyncio.to_thread(self._ledger.has_queued):
                    await asyncio.to_thread(flows.calm_down)
                    return

    async def _run(self, run: str) -> bool:
        return await self._guard(run, self._run_job(run))

    async def _lone(self, run: str) -> bool:
        ahead = self._ahead.pop(run, None)
        return await self._guard(run, self._run_lone(run) if ahead is None else _outcome(ahead))

    async def _guard(self, run: str, work: Coroutine[Any, Any, T]) -> T:
        """A workflow never ends in an error; being cancelled leaves no trace in DBOS."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A workflow works in a task.")
        # What it does at the same time is cancelled by it, and only once.
        self._local[run].add(task)
        try:
            return await self._part(run, ROOT, work)
        finally:
            self._local[run].discard(task)
            if not self._local[run]:
                del self._local[run]

    async def _part(self, run: str, path: str, work: Coroutine[Any, Any, T]) -> T:
        """What fails at this path fails the run, and is cancelled with all that works beside it."""
        if self._closing or run in self._stopped or run in self._left:
            work.close()
            raise asyncio.CancelledError
        try:
            return await work
        except RunOver:
            self._soon(self._give_up(run), f"give up {run}")
        except OwnedElsewhere:
            self._soon(self._leave(run), f"leave {run}")
        except Exception as error:  # noqa: BLE001 (the border of the step: the executor is told)
            self._crash(run, path, error)
        return await asyncio.get_running_loop().create_future()

    def _crash(self, run: str, path: str, error: Exception) -> None:
        if run not in self._stopped and run not in self._left:
            self._stopped[run] = object()
            self._soon(self._tell_crash(run, path, error), f"crash of {run}")

    async def _tell_crash(self, run: str, path: str, error: Exception) -> None:
        # First what works beside it: to tell of it takes as long as the disk does.
        await _let_go(self._local.get(run, ()))
        try:
            await self.end_surely(run, await self._executor.crash_run(run, path, error))
        except OwnedElsewhere:
            self._stopped.pop(run, None)
            return
        except Exception:  # noqa: BLE001 (logged, and the run is stopped all the same)
            _log.exception("The crash of %s at %s could not be told.", run, path)
        await self._give_up(run)

    async def _leave(self, run: str) -> None:
        """Another worker has taken the run, and its workflow is that one's: it stays as it is."""
        await _let_go(self._local.get(run, ()))

    async def _give_up(self, run: str) -> None:
        # While the engine closes: the next one finds the same.
        with suppress(Conflict):
            await self.stop(run)

    async def _run_job(self, run: str) -> bool:
        work = await self._executor.work_of(run)
        walked = await self._walk(run, walk(work))
        await self._executor.end_run(run, succeeded=walked.succeeded)
        return walked.succeeded

    async def _run_lone(self, run: str) -> bool:
        task = only_task(run, await self._executor.work_of(run))
        succeeded = await self._run_task(run, task)
        await self._executor.end_run(run, succeeded=succeeded)
        return succeeded

    async def _walk(self, run: str, steps: Walk) -> Walked:
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._answer(run, step))
        except StopIteration as end:
            return end.value

    async def _answer(self, run: str, step: Step) -> TaskOutcome | Endings:
        if isinstance(step, RunTask):
            return await self._work(run, step)
        async with asyncio.TaskGroup() as group:
            parts = [
                group.create_task(self._work(run, part), name=f"{run}.{part.path}")
                for part in step.branches
            ]
        return tuple([part.result() for part in parts])

    async def _work(self, run: str, part: RunTask | Branch) -> Any:
        if isinstance(part, RunTask):
            done = await self._part(run, part.path, self._run_task(run, part))
            return TaskOutcome(done)
        walked = self._walk(run, walk(part.work, part.path, part.previous))
        return await self._part(run, part.path, walked)

    async def _run_task(self, run: str, task: RunTask) -> bool:
        verdict = await self._executor.run_task(run, task)
        if verdict.unasked and task.decides:
            name = task.ref.task_id
            raise ConditionUnasked(f"The condition {name} could not be checked: {verdict.reason}")
        return verdict.succeeded

    async def _surely(self, chore: Coroutine[Any, Any, None], name: str) -> None:
        """To be ended even when whoever asked is gone: half a start would wait for the next server.
        It is no part of the workflow that asks, so it has not its context."""
        if self._chores.is_closed:
            chore.close()
            raise Conflict(_STOPPING)
        await asyncio.shield(self._chores.call(chore, name, context=Context()))

    def _soon(self, chore: Coroutine[Any, Any, None], name: str) -> None:
        """The same without waiting."""
        self._chores.start_if_open(chore, name, context=Context())


async def _outcome(work: "asyncio.Task[bool]") -> bool:
    return await work


async def _let_go(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels them and waits until they have cleaned up behind themselves."""
    left = [*tasks]
    for task in left:
        task.cancel()
    if left:
        _, late = await asyncio.wait(left, timeout=_STOP_SECONDS)
        if late:
            _log.warning("%d works did not end within %g s.", len(late), _STOP_SECONDS)
