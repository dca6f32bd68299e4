"""The sessions of one task run: opened with what the task may do, and closed by it."""

import contextlib
from dataclasses import dataclass
from typing import Final

from airboss.errors import Conflict, RuntimeUnavailable
from airboss.harness.permissions import SessionPolicy
from airboss.harness.turn import Asked
from airboss.model.ids import PromptId, SessionId, TaskRunId
from airboss.runtime.sweep import sweep_session
from airboss.service.sessions import Sessions

# Who opens a session: the name of nobody, so that it is known whose it was after a restart.
BY_A_TASK: Final = "task "


@dataclass(frozen=True)
class OwnSessions:
    """The sessions of one task run, with what they are opened with."""

    sessions: Sessions
    run: TaskRunId
    cwd: str
    policy: SessionPolicy

    async def open(self, model: str) -> SessionId:
        who = f"{BY_A_TASK}{self.run}"
        view = await self.sessions.start(model, self.cwd, who, self.policy, waits=False)
        return view.id

    async def wake(self, session: SessionId) -> None:
        await self.sessions.resume(session, f"{BY_A_TASK}{self.run}", self.policy)

    async def ask(self, session: SessionId, text: str, prompt: PromptId) -> Asked:
        who = f"{BY_A_TASK}{self.run}"
        try:
            return await self.sessions.ask(session, text, who, self.run, prompt)
        except Conflict:
            view = await self.sessions.show(session)
            if view.state == "closed":
                raise
            raise RuntimeUnavailable(view.error or "The session lost its runtime.") from None

    async def close(self, session: SessionId) -> None:
        # The task tells of it next, and waits for that.
        await self.sessions.close(session, f"{BY_A_TASK}{self.run}", waits=False)

    async def bury(self, session: SessionId) -> None:
        await sweep_session(session)

    async def withdraw(self, session: SessionId, prompt: PromptId) -> None:
        with contextlib.suppress(Conflict):  # it is not open any more
            await self.sessions.withdraw(session, prompt)
