"""The events of a task run: which session, which prompt, which tools, which checks, and why."""

from typing import Literal, TypeAlias, get_args

from airboss.model.ids import PromptId, RunId, SessionId
from airboss.model.usage import Usage
from airboss.model.words import Frozen, Words

# What a prompt is put to a session for.
MissionKind: TypeAlias = Literal["availability", "prompt", "criteria"]
MissionOutcome: TypeAlias = Literal["done", "crashed", "refused"]
TaskOutcome: TypeAlias = Literal["succeeded", "failed", "canceled", "crashed"]
# The field of a task that a check looks at.
CheckedField: TypeAlias = Literal[
    "availability.previousTasks",
    "availability.condition",
    "criteria.toolExecuted",
    "criteria.condition",
]


class Mission(Frozen):
    """One condition or one prompt put to a session. `round` counts from 0, the criteria's retries
    from 1; `attempt` counts the sendings of it from 1, those behind a crash included."""

    kind: MissionKind
    round: int
    attempt: int


class ToolCall(Frozen):
    """A job tool that was called and completed with success."""

    tool: Words
    argument: Words


class TaskAccepted(Frozen):
    """A task is to be run; this is on disk before anything runs."""

    kind: Literal["task.accepted"] = "task.accepted"
    task: Words
    # The entry as it was, by its digest.
    entry: Words
    model: Words
    cwd: Words
    policy: Words
    user_input: Words
    who: Words
    # The borrowed session; a managed task opens its own.
    session: SessionId | None = None
    checks_availability: bool = True
    # The run whose task this is, and where in it.
    run: RunId | None = None
    path: Words | None = None
    previous_tasks: tuple[Words, ...] = ()
    # The version of the rules that it is played by to its end: its acts are known by their numbers.
    rules: int = 1
    # Of one that was started by itself: the run around it, which only the server knows.
    own_run: RunId | None = None
    # Where its run stands in a trace, where traces are sent.
    trace: Words | None = None


class TaskWaiting(Frozen):
    """A task that was started by itself waits, and says what for."""

    kind: Literal["task.waiting"] = "task.waiting"
    reason: Words
    for_person: bool = False


class TaskGoing(Frozen):
    """What it waited for is there."""

    kind: Literal["task.going"] = "task.going"


class TaskSessionStarted(Frozen):
    """The task opened a session of its own."""

    kind: Literal["task.session.started"] = "task.session.started"
    session: SessionId
    model: Words
    is_driving: bool


class TaskSessionFailed(Frozen):
    """A session of the task's own could not be opened."""

    kind: Literal["task.session.failed"] = "task.session.failed"
    model: Words
    is_driving: bool
    outcome: Literal["crashed", "refused"]
    reason: Words


class TaskSessionStopped(Frozen):
    """A session of the task's own was closed. It has succeeded where the task has; one that was
    opened for a single condition, where that holds; for a single prompt, where that was done."""

    kind: Literal["task.session.stopped"] = "task.session.stopped"
    session: SessionId
    succeeded: bool


class MissionSent(Frozen):
    """A session has the prompt of a mission, on disk."""

    kind: Literal["task.mission.sent"] = "task.mission.sent"
    mission: Mission
    session: SessionId
    prompt: PromptId
    text: Words


class MissionEnded(Frozen):
    """What came of a mission: the job tools that completed, or why it was cut short."""

    kind: Literal["task.mission.ended"] = "task.mission.ended"
    mission: Mission
    session: SessionId
    outcome: MissionOutcome
    calls: tuple[ToolCall, ...] = ()
    reason: Words | None = None
    # Cut off by the end of a server, which is no fault of the mission.
    is_restart: bool = False
    # Ended by a person, so nothing asks for the same again.
    by_person: bool = False
    usage: Usage = Usage()
    # Of one that crashed: the tools that may have done something, which another try does again.
    effects: tuple[Words, ...] | None = None
    # Of one that was done: what went wrong with MCP servers meanwhile.
    troubles: tuple[Words, ...] | None = None


class TaskChecked(Frozen):
    """One field of availability or criteria was looked at: what it holds, and why (not). A
    condition that could not be asked is neither true nor false; it does not count as held."""

    kind: Literal["task.checked"] = "task.checked"
    field: CheckedField
    round: int
    holds: bool
    content: Words
    reason: Words
    # The condition could not be asked.
    unasked: bool = False


class TaskRetrying(Frozen):
    """The criteria do not hold, or could not be asked, and the prompt is sent again."""

    kind: Literal["task.retrying"] = "task.retrying"
    retry: int
    of: int
    reason: Words
    # The prompt or the condition of the round before could not be asked.
    unasked: bool = False


class RetryDecided(Frozen):
    """What a person said to the question whether an attempt that crashed may be made again."""

    kind: Literal["task.retry.decided"] = "task.retry.decided"
    session: SessionId
    again: bool
    # Nobody where the question was withdrawn.
    who: Words | None = None


class TaskDecided(Frozen):
    """A decision in words, with one of the prefixes of the entry language."""

    kind: Literal["task.decided"] = "task.decided"
    text: Words


class TaskError(Frozen):
    """The task crashed: something failed that is no outcome of the task."""

    kind: Literal["task.error"] = "task.error"
    name: Words
    message: Words
    stack: Words | None = None
    cause: Words | None = None


class TaskEnded(Frozen):
    """The last event of a task run."""

    kind: Literal["task.ended"] = "task.ended"
    outcome: TaskOutcome
    reason: Words
    who: Words | None = None
    # It failed since its prompt or a condition could not be asked: it has said neither yes nor no.
    unasked: bool = False
    # What no mission's end has told: of one that was cut off, of agents that woke by themselves.
    usage: Usage = Usage()


TaskEvent: TypeAlias = (
    TaskAccepted
    | TaskWaiting
    | TaskGoing
    | TaskSessionStarted
    | TaskSessionFailed
    | TaskSessionStopped
    | MissionSent
    | MissionEnded
    | TaskChecked
    | TaskRetrying
    | RetryDecided
    | TaskDecided
    | TaskError
    | TaskEnded
)

TASK_EVENTS: dict[str, type[TaskEvent]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(TaskEvent)
}
