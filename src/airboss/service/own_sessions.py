"""The sessions of one task run: opened with what the task may do, and closed by it."""

import contextlib
from dataclasses import dataclass

from airboss.errors import Conflict, RuntimeUnavailable
from airboss.harness.turn import AcceptedPrompt, Pause
from airboss.model.ids import PromptId, RunId, SessionId, TaskRunId
from airboss.runtime.sweep import sweep_session
from airboss.service.sessions import Sessions
from airboss.settings import Policy


def name_of(task_run: TaskRunId) -> str:
    """Who acts where a task does, for people to read. Whose a session is says its field `task`."""
    return f"task {task_run}"


@dataclass
class OwnSessions:
    """The sessions of one task run, with what they are opened with."""

    sessions: Sessions
    task_run: TaskRunId
    cwd: str
    policy: Policy
    # The run of a job whose task it is.
    run: RunId | None = None
    # Gives its place to others while a person is waited for.
    pause: Pause | None = None

    @property
    def _who(self) -> str:
        return name_of(self.task_run)

    async def open(self, model: str) -> SessionId:
        view = await self.sessions.start(
            model,
            self.cwd,
            self._who,
            self.policy,
            task=self.task_run,
            run=self.run,
            waits=False,
        )
        return view.id

    async def wake(self, session: SessionId) -> None:
        await self.sessions.resume(session, self._who, self.policy)

    async def go_on(self, session: SessionId, prompt: PromptId) -> AcceptedPrompt | None:
        return await self.sessions.go_on(session, prompt, self._who, self.policy, self.pause)

    async def ask(self, session: SessionId, text: str, prompt: PromptId) -> AcceptedPrompt:
        try:
            return await self.sessions.ask(
                session, text, self._who, self.task_run, prompt, self.pause
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
        await sweep_session(session)

    async def withdraw(self, session: SessionId, prompt: PromptId) -> None:
        with contextlib.suppress(Conflict):  # it is not open any more
            await self.sessions.withdraw(session, prompt)
