"""What the engine needs done by others. It may be asked for again after a crash: all that is
written is written once, by the run, the path and the number that it is asked with."""

from collections.abc import Generator
from typing import Protocol

from airboss.engine.acts import Act, Answer, Close, OpenAct, Put
from airboss.engine.task import Verdict
from airboss.engine.walk import RunTask
from airboss.entry.document import Work
from airboss.errors import AirbossError
from airboss.model.task_events import TaskChecked, TaskDecided, TaskRetrying


class RunOver(Exception):
    """Raised by any hand when the run has ended already: the engine lets go of it, and no more."""


class ConditionUnasked(AirbossError):
    """A task that a branch or a round depends on could not be asked: no way is right to go on."""

    code = "condition_unasked"


class TaskPlay(Protocol):
    """One run of a task, as far as it has come. Acts are numbered from 1 in their order."""

    @property
    def acts(self) -> Generator[Act, Answer, Verdict]: ...

    async def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None: ...

    async def do(self, number: int, act: OpenAct | Put | Close) -> Answer:
        """Does the act, or answers what it came to before. When it is cancelled it cleans up
        behind itself, quickly, and may be asked again after the next start."""
        ...


class Executor(Protocol):
    async def work_of(self, run: str) -> Work:
        """The tree of an accepted run, as it was when it was accepted."""
        ...

    async def begin_task(self, run: str, step: RunTask) -> TaskPlay: ...

    async def end_task(self, run: str, path: str, verdict: Verdict) -> None: ...

    async def end_run(self, run: str, *, succeeded: bool) -> None: ...

    async def crash_run(self, run: str, path: str, error: Exception) -> None:
        """An exception of ours, or a condition that could not be asked, at this path: the run has
        failed, and is stopped after this."""
        ...
