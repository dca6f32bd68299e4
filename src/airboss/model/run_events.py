"""The events of a run, one execution of a job: which work began, which ended, and how."""

from typing import Final, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field

from airboss.model.ids import RunId, SessionId, TaskRunId
from airboss.model.usage import Usage
from airboss.model.words import Frozen, Words

RunOutcome: TypeAlias = Literal["succeeded", "failed", "canceled"]


class LoneTask(Frozen):
    """A task that is run by itself: the run around it has no job."""

    task: Words
    user_input: Words
    # Instead of the task's own; of a lent session its model.
    model: Words | None = None
    # The open session that somebody lends it; without one it opens its own.
    session: SessionId | None = None
    # What a lent session may do.
    policy: Words | None = None
    checks_availability: bool = True


# In strong ones, in narrow ones, only some of them, or none.
RunCaged: TypeAlias = Literal["strong", "narrow", "partly", "no"]


class RunAccepted(Frozen):
    """A job, or one task by itself, is to be run; this is on disk before anything runs."""

    kind: Literal["run.accepted"] = "run.accepted"
    job: Words
    # The entry as it was, by its digest.
    entry: Words
    cwd: Words
    user_input: Words
    who: Words
    # Whether somebody trusted the entry, so that it may allow more than the server does.
    trusted: bool = False
    # The run that this one repeats, where it does.
    again: RunId | None = None
    # What the job is called in the entry's grid; empty where it is not in there.
    title: Words = ""
    # In the place of a job and its input, which are empty then.
    lone: LoneTask | None = None
    # What the run is known by beside its job, from the first line of the input.
    short_title: Words = ""
    # What lists show of the input. Earlier versions told neither.
    input_start: Words = ""
    # The trace that it was asked for in, where traces are sent.
    trace: Words | None = None
    # The profile of the cage that its sessions work in, where whoever started it named one.
    cage: Words | None = None
    # Whether its agents work in cages. Earlier versions did not tell.
    caged: RunCaged | None = None
    # What a worker must have to take it, of several machines.
    labels: tuple[Words, ...] = ()


class RunResumed(Frozen):
    """A new server goes on with it."""

    kind: Literal["run.resumed"] = "run.resumed"
    reason: Words


class RunPlaced(Frozen):
    """A worker begins it, by its name. Said only where several share a database."""

    kind: Literal["run.placed"] = "run.placed"
    machine: Words


class RunMoved(Frozen):
    """It goes on with another worker; both by their names. What was cut off is done again."""

    model_config = ConfigDict(
        serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )

    kind: Literal["run.moved"] = "run.moved"
    before: Words = Field(validation_alias="from", serialization_alias="from")
    to: Words
    reason: Words


class RunRetried(Frozen):
    """The failed part is done again; what had succeeded stays."""

    kind: Literal["run.retried"] = "run.retried"
    # Counts from 2: the first time is no retry.
    time: int
    who: Words
    # The paths of the tasks that made it fail; all others keep what they came to.
    redo: tuple[Words, ...] = ()


class WorkStarted(Frozen):
    """A task of the job began. `path` is its place in the tree, with the round of each loop."""

    kind: Literal["run.work.started"] = "run.work.started"
    work: int
    path: Words
    task: Words
    task_run: TaskRunId


# How the reason ends of a task that waits until all machines together have room.
ON_ALL_MACHINES: Final = "on all machines"


class WorkWaiting(Frozen):
    """A task of the job waits, and says what for."""

    kind: Literal["run.work.waiting"] = "run.work.waiting"
    path: Words
    reason: Words
    for_person: bool = False


class WorkGoing(Frozen):
    """What a task waited for is there."""

    kind: Literal["run.work.going"] = "run.work.going"
    path: Words


class WorkRetrying(Frozen):
    """What a task of the job did was not enough, and it tries again."""

    kind: Literal["run.work.retrying"] = "run.work.retrying"
    path: Words
    task_run: TaskRunId
    retry: int
    of: int


class WorkStopped(Frozen):
    """A task of the job ended."""

    kind: Literal["run.work.stopped"] = "run.work.stopped"
    work: int
    path: Words
    task_run: TaskRunId
    succeeded: bool
    # It could not be asked: it has said neither yes nor no.
    unasked: bool = False
    usage: Usage = Usage()
    # The first paragraph of its agent's last message, or as much of it as is shown in a line.
    conclusion: Words = ""


class WorkCut(Frozen):
    """A task of the job was cut off by the run's end; this is what it had used."""

    kind: Literal["run.work.cut"] = "run.work.cut"
    path: Words
    task_run: TaskRunId
    usage: Usage = Usage()


class RunEnding(Frozen):
    """It is being ended, by a person or by a crash; what still works is stopped first."""

    kind: Literal["run.ending"] = "run.ending"
    outcome: RunOutcome
    reason: Words
    who: Words | None = None


class RunError(Frozen):
    """A task crashed (which is not: failed), or a condition could not be asked; the run has failed
    with it."""

    kind: Literal["run.error"] = "run.error"
    name: Words
    message: Words
    stack: Words | None = None
    cause: Words | None = None


class RunTreeKept(Frozen):
    """The files of the run's folder as they were when it began, or when it ended, in git. Nothing
    is said of a folder that is not in git."""

    kind: Literal["run.tree.kept"] = "run.tree.kept"
    when: Literal["begin", "end"]
    # The name of the git tree; none where it could not be kept.
    tree: Words | None = None
    # Why it could not be.
    reason: Words = ""
    # Files that are too large to be kept.
    left_out: int = 0


class RunRenamed(Frozen):
    """Somebody gave the run another title."""

    kind: Literal["run.renamed"] = "run.renamed"
    short_title: Words
    who: Words


class RunTagged(Frozen):
    """The run has these tags now, and no others."""

    kind: Literal["run.tagged"] = "run.tagged"
    tags: tuple[Words, ...]
    who: Words


class RunEnded(Frozen):
    """How the run ended; only a retry goes on behind it."""

    kind: Literal["run.ended"] = "run.ended"
    outcome: RunOutcome
    reason: Words
    who: Words | None = None


RunEvent: TypeAlias = (
    RunAccepted
    | RunResumed
    | RunPlaced
    | RunMoved
    | RunRetried
    | WorkStarted
    | WorkWaiting
    | WorkGoing
    | WorkRetrying
    | WorkStopped
    | WorkCut
    | RunEnding
    | RunError
    | RunTreeKept
    | RunRenamed
    | RunTagged
    | RunEnded
)

RUN_EVENTS: dict[str, type[RunEvent]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(RunEvent)
}
