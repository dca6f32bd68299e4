"""The sessions of one task run: opened with what the task may do, and closed by it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from airboss.errors import Conflict, RuntimesBusy, RuntimeUnavailable
from airboss.harness.retry_questions import RetrySettled
from airboss.harness.setup import Said
from airboss.harness.turn import AcceptedPrompt, Pause, TurnReport
from airboss.model.ids import PromptId, RunId, SessionId, TaskRunId
from airboss.model.views import SessionView
from airboss.runtime.sweep import sweep_session
from airboss.settings import Policy

if TYPE_CHECKING:
    from airboss.engine.task_setup import SaidOfTask

Entered = TypeVar("Entered")

_LOOK_SECONDS: Final = 0.5


class AgentSessions(Protocol):
    """The sessions of this server, which tasks share with people."""

    async def start(
        self,
        model: str,
        cwd: str,
        who: str,
        policy: Policy,
        *,
        task: TaskRunId,
        run: RunId | None,
        waits: bool,
        said: Sequence[Said],
    ) -> SessionView: ...

    async def room(self) -> None: ...

    async def show(self, session: str) -> SessionView: ...

    async def ask(
        self,
        session: str,
        text: str,
        who: str,
        task: TaskRunId,
        prompt: PromptId,
        pause: Pause | None,
        *,
        plan: bool,
    ) -> AcceptedPrompt: ...

    async def resume(self, session: str, who: str, policy: Policy) -> SessionView: ...

    async def go_on(
        self, session: str, prompt: PromptId, who: str, policy: Policy, pause: Pause | None
    ) -> AcceptedPrompt | None: ...

    async def report(self, session: str, prompt: PromptId) -> TurnReport: ...

    async def ask_retry(
        self, session: str, effects: Sequence[str], pause: Pause | None
    ) -> RetrySettled: ...

    async def withdraw_retry(self, session: str) -> None: ...

    async def withdraw(self, session: str, prompt: PromptId) -> None: ...

    async def close(self, session: str, who: str, *, waits: bool) -> SessionView: ...


def actor_of(task_run: TaskRunId) -> str:
    """Who acts where a task does, for people to read. Whose a session is says its field `task`."""
    return f"task {task_run}"


@dataclass(frozen=True)
class OwnSessions:
    """The sessions that one task run works with, and what they are opened with."""

    sessions: AgentSessions
    task_run: TaskRunId
    cwd: str
    policy: Policy
    # The run of a job whose task it is.
    run: RunId | None = None
    # Gives its place to others while a person is waited for.
    pause: Pause | None = None
    # What is said about those that it opens.
    said: "SaidOfTask | None" = None

    @property
    def _who(self) -> str:
        return actor_of(self.task_run)

    async def open(
        self, model: str, *, is_driving: bool = False, stopped: asyncio.Event | None = None
    ) -> SessionId:
        said = self.said.about(model, is_driving=is_driving) if self.said else ()

        async def start() -> SessionView:
            return await self.sessions.start(
                model,
                self.cwd,
                self._who,
                self.policy,
                task=self.task_run,
                run=self.run,
                waits=False,
                said=said,
            )

        view = await self._once_there_is_room(start, stopped)
        if self.pause is not None:  # an earlier server may have said that it waits
            self.pause.busy(None)
        return view.id

    async def wake(self, session: SessionId, *, stopped: asyncio.Event | None = None) -> None:
        """One that an earlier server opened goes on, with its history."""

        async def resume() -> SessionView:
            return await self.sessions.resume(session, self._who, self.policy)

        await self._once_there_is_room(resume, stopped)

    async def go_on(
        self, session: SessionId, prompt: PromptId, *, stopped: asyncio.Event | None = None
    ) -> AcceptedPrompt | None:
        """One that was cut off while its agent waited for a person still waits, for the same. None
        where it does not."""

        async def resume() -> AcceptedPrompt | None:
            return await self.sessions.go_on(session, prompt, self._who, self.policy, self.pause)

        return await self._once_there_is_room(resume, stopped)

    async def _once_there_is_room(
        self, enter: Callable[[], Awaitable[Entered]], stopped: asyncio.Event | None
    ) -> Entered:
        """Where all runtimes or cages are in use, one is waited for, as for a place; until
        `stopped`."""
        has_waited = False
        while True:
            try:
                entered = await enter()
            except RuntimesBusy as busy:
                if stopped is None or stopped.is_set():
                    raise
                has_waited = True
                await self._wait_for_runtime(busy)
            else:
                if has_waited and self.pause is not None:
                    self.pause.busy(None)
                return entered

    async def _wait_for_runtime(self, busy: RuntimesBusy) -> None:
        if self.pause is not None:
            cage = f"a free cage: all {busy.cages} are in use (max_cages)"
            runtime = "a free agent runtime: all are in use"
            self.pause.busy(runtime if busy.cages is None else cage)
        with contextlib.suppress(TimeoutError):  # it may have been stopped meanwhile
            async with asyncio.timeout(_LOOK_SECONDS):
                await self.sessions.room()

    async def ask(
        self, session: SessionId, text: str, prompt: PromptId, *, plan: bool = False
    ) -> AcceptedPrompt:
        try:
            return await self.sessions.ask(
                session, text, self._who, self.task_run, prompt, self.pause, plan=plan
            )
        except Conflict:
            view = await self.sessions.show(session)
            if view.state == "closed":
                raise
            raise RuntimeUnavailable(view.error or "The session lost its runtime.") from None

    async def close(self, session: SessionId) -> None:
        # The task tells of it next, and waits for that.
        await self.sessions.close(session, self._who, waits=False)

    async def bury(self, session: SessionId) -> None:
        """One that crashed: nothing that it started works any more."""
        await sweep_session((await self.sessions.show(session)).runtime_id)

    async def report(self, session: SessionId, prompt: PromptId) -> TurnReport:
        """What came of a request of an earlier server, as far as that is on disk."""
        return await self.sessions.report(session, prompt)

    async def ask_retry(self, session: SessionId, effects: Sequence[str]) -> RetrySettled:
        """Whether what a crashed session was asked may be asked again, as a person says."""
        return await self.sessions.ask_retry(session, effects, self.pause)

    async def withdraw_retry(self, session: SessionId) -> None:
        await self.sessions.withdraw_retry(session)

    async def withdraw(self, session: SessionId, prompt: PromptId) -> None:
        """The prompt is not worked on, or no longer; the session stays."""
        with contextlib.suppress(Conflict):  # it is not open any more
            await self.sessions.withdraw(session, prompt)
