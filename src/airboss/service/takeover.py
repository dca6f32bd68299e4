"""Works on what nobody owns: new runs, and runs of workers that were lost or have left.

Each step can be repeated. What was claimed and not taken up yet stays on a list: the database was
away, say. Where this worker dies meanwhile, the next one begins at the first step.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from airboss.background import Background
from airboss.errors import AirbossError, StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.run_events import RunMoved
from airboss.model.runs import OPEN_RUNS
from airboss.model.task_runs import TaskRunView
from airboss.service.left_work import LeftWork
from airboss.service.run_recovery import RunRecovery
from airboss.service.run_release import RunRelease
from airboss.service.shared_runs import SharedRuns
from airboss.store.claims import Claims, TakenRun
from airboss.store.notices import WORK

# So often it is looked whether all that this worker has is at work.
LOOK_SECONDS: Final = 1.0
# So long somebody may say a word in what is below a run that is taken up.
_WORD_SECONDS: Final = 2.0
_AGAIN_SECONDS: Final = 0.05
# Of a run that is just begun, or given away, it is known soon.
_FORGOTTEN_SECONDS: Final = 4.0
# Nobody waits for it.
_TIDY_SECONDS: Final = 10.0
_FATES: Final = {
    "lost": "{name} was lost.",
    "left": "{name} was stopped.",
    "draining": "{name} takes no more work.",
}
_RELEASED: Final = "{name} released it."

_log = logging.getLogger(__name__)


@dataclass
class Takeover:
    """In the name of one worker."""

    shared: SharedRuns
    log: EventLog
    left: LeftWork
    runs: RunRecovery
    # What people call this worker.
    name: str
    release: RunRelease | None = None
    # Runs that are this worker's, and not at work yet.
    _claimed: dict[str, TakenRun] = field(default_factory=dict[str, TakenRun])
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _work: Background = field(default_factory=lambda: Background("takeover"))
    # Since when this worker has runs and chats that it knows nothing of.
    _idle_since: dict[str, float] = field(default_factory=dict[str, float])
    _looks_again_at: float = 0
    _tidies_again_at: float = 0
    # Of others; new runs are none of them.
    taken: int = 0

    @property
    def claims(self) -> Claims:
        return self.shared.claims

    def start(self) -> None:
        self.shared.on_room = self.wake
        self._work.start(self._look_on(), "takeover")
        self._work.start(self._listen(), "listening")

    async def close(self) -> None:
        await self._work.close(cancel=True)

    def drop_soon(self, stream: str) -> None:
        """It is another worker's by now."""
        if self.release:
            self._work.start_if_open(self.release.drop(stream), f"drop {stream}")

    def wake(self) -> None:
        """Something may be free now."""
        self._woken.set()

    async def _listen(self) -> None:
        with self.log.changes(WORK) as heard:
            while not heard.is_over:
                if await heard.within():
                    self.wake()

    async def _look_on(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()
            is_woken = self._woken.is_set()
            self._woken.clear()
            try:
                await (self.look() if is_woken else self._look_after_own())
            except StoreUnavailable as error:
                _log.debug("Looked for nothing to take over: %s", error)
            except Exception:  # noqa: BLE001 - a chore's border: whoever runs the worker is told
                _log.exception("Could not look for what nobody works on")

    async def look(self) -> None:
        """Takes what is free and fits, once."""
        state, waits, is_given = await self.claims.look(OPEN_RUNS)
        self.shared.be_draining(is_draining=state == "draining")
        room = max(0, self._room)
        if is_given or (waits and room):
            taken = await self.claims.take(OPEN_RUNS, room)
            self._claimed |= {one.run: one for one in taken}
        await self._take_up_claimed()
        await self.left.end_chats()
        await self.left.resume_own()
        await self.runs.take_back()
        if self.release and state == "draining":
            for view in self.release.resting():
                await self.release.release(view.id)

    async def _look_after_own(self) -> None:
        """Where nothing was heard of that is free."""
        await self._take_up_claimed()
        await self.runs.take_back()

    async def _take_up_claimed(self) -> None:
        await self._find_forgotten()
        held = sum(bool(claimed.held_by) for claimed in self._claimed.values())
        if held:
            self._work.start_if_open(self._warm_up(), "runtime")
        if held > 1:
            with self.runs.coming_back():
                await self._take_up_all()
        else:
            await self._take_up_all()

    async def _find_forgotten(self) -> None:
        """Runs and chats that this worker has and does not work on: it wrote that it has them, or
        was to give them away, and the database was away before it heard so."""
        now = asyncio.get_running_loop().time()
        if now < self._looks_again_at or (self.release and self.release.is_at_it):
            return
        self._looks_again_at = now + _FORGOTTEN_SECONDS / 2
        begun = {view.id for view in self.runs.runs.records.open_views()}
        runs, chats = await self.claims.mine()
        idle = {one.run: one for one in runs if one.run not in begun | self._claimed.keys()}
        forgotten = [name for name in chats if not self.left.sessions.is_open(name)]
        self._idle_since = {name: self._idle_since.get(name, now) for name in (*idle, *forgotten)}
        late = {name for name, at in self._idle_since.items() if now - at >= _FORGOTTEN_SECONDS}
        self._claimed |= {run: one for run, one in idle.items() if run in late}
        await self.left.end_forgotten([name for name in forgotten if name in late])
        if self.shared.placement.works and now >= self._tidies_again_at:
            self._tidies_again_at = now + _TIDY_SECONDS
            await self.runs.end_over(self.shared.placement.workers)

    @property
    def _room(self) -> int:
        """For so many more runs."""
        views = self.runs.runs.records.open_views()
        begun = {view.id for view in views}
        return self.shared.room(views) - len(self._claimed.keys() - begun)

    async def _warm_up(self) -> None:
        """A runtime takes longest of all: it starts while the rest is made ready."""
        pool = self.left.sessions.pool
        with contextlib.suppress(AirbossError):  # who needs it is told
            async with pool.use(pool.default) as runtime:
                await runtime.process()

    async def _take_up_all(self) -> None:
        for claimed in list(self._claimed.values()):
            await self._try_to_take_up(claimed)

    async def _try_to_take_up(self, claimed: TakenRun) -> None:
        """One that cannot be taken up does not keep others back; it is tried again."""
        try:
            await self._take_up(claimed)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - the others are taken up all the same
            _log.exception("The run %s could not be taken up", claimed.run)

    async def _take_up(self, claimed: TakenRun) -> None:
        """First what is below the run, which its worker left in the middle of something."""
        view = await self.runs.fresh_view(claimed.run)
        if view.is_open:
            tasks = [await self.log.view(work.task_run) for work in view.running]
            names = [task.id for task in tasks if isinstance(task, TaskRunView)]
            own = [one for task in tasks if isinstance(task, TaskRunView) for one in task.sessions]
            others = await self._claim([*names, *own])
            if mine := [one for one in own if one not in others]:
                await self.left.interrupt(mine)
            await self.runs.take_over(view, self._moved(claimed), claimed.epoch)
            self.taken += bool(claimed.held_by)
        del self._claimed[claimed.run]

    async def _claim(self, names: Sequence[str]) -> frozenset[str]:
        """What is below a run; answers what others have of it. Somebody who only says a word there
        is waited for; a chat that was lent to a task may be open elsewhere by now, and stays."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _WORD_SECONDS
        while True:
            await self.claims.claim(names)
            others = await self.claims.others(names)
            if not others or loop.time() > until:
                return others
            await asyncio.sleep(_AGAIN_SECONDS)

    def _moved(self, claimed: TakenRun) -> RunMoved | None:
        """None of a run that nobody had."""
        if not claimed.held_by:
            return None
        reason = _FATES.get(claimed.fate, _RELEASED).format(name=claimed.held_by)
        if claimed.given_by:
            reason = f"Moved by {claimed.given_by}."
        return RunMoved(before=claimed.held_by, to=self.name, reason=reason)
