"""What durable runs need done by others: DBOS knows which work is open and where, the executor what
came of it. It may be asked again after a crash: all that it writes is written once, by the run and
the path that it is asked with."""

from typing import TYPE_CHECKING, Protocol

from airboss.errors import AirbossError

if TYPE_CHECKING:
    from airboss.engine.task import Verdict
    from airboss.engine.walk import RunTask
    from airboss.entry.document import Work
    from airboss.model.run_events import RunEnding


class RunOver(Exception):
    """Raised by an executor when the run has ended already: the engine lets go of it, no more."""


class ConditionUnasked(AirbossError):
    """A task that a branch or a round depends on could not be asked: no way is right to go on."""

    code = "condition_unasked"


class Executor(Protocol):
    async def work_of(self, run: str) -> "Work":
        """The tree of an accepted run, as it was when it was accepted."""
        ...

    async def run_task(self, run: str, step: "RunTask") -> "Verdict":
        """Runs it, or answers what it came to before. When it is cancelled it cleans up behind
        itself, quickly, and may be asked again after the next start."""
        ...

    async def end_run(self, run: str, *, succeeded: bool) -> None:
        """It came to its own end."""
        ...

    async def crash_run(self, run: str, path: str, error: Exception) -> "RunEnding":
        """An exception of ours, or a condition that could not be asked, at this path. Answers how
        the run is to end."""
        ...

    async def begin_ending(self, run: str, ending: "RunEnding") -> "RunEnding | None":
        """On disk: no server goes on with it. Answers the ending that was said first; none where
        the run has ended."""
        ...

    async def dismiss(self, run: str, ending: "RunEnding") -> None:
        """Every task of the run that is not over ends now, with its agents; then the run."""
        ...
