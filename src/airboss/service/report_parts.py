"""The parts of a run's report, as they are sent."""

from typing import Literal, TypeAlias

from airboss.model.ids import RunId, SessionId, TaskRunId
from airboss.model.runs import RunState
from airboss.model.usage import Usage
from airboss.model.words import Frozen
from airboss.service.changes import How

# Beside the states of a run: `not-run` where the run ended before it, `not-needed` where a
# condition led past it, `not-yet` while the run goes on.
LineState: TypeAlias = RunState | Literal["not-run", "not-needed", "not-yet"]


class OutcomeSentence(Frozen):
    """What came of the run: made by rule from its outcome, the failed check and what was concluded
    last. `head` says it in a few words, `text` the rest."""

    head: str
    text: str


class CheckWords(Frozen):
    """What a check that failed said, uncut. `seq` is its event in the stream of the task run."""

    task: str
    task_run: TaskRunId
    field: str
    attempt: int
    at: int
    seq: int
    text: str


class TriedAttempt(Frozen):
    """One attempt of the task that failed: what its agent said it did, and what the check said."""

    attempt: int
    session: SessionId
    said: str
    check: str
    milliseconds: int
    requests: int


class NextStep(Frozen):
    """Something that a person may do now, and what would come of it."""

    act: Literal["retry", "open-session", "run-again", "compare", "decide"]
    words: str
    session: SessionId | None = None


class TaskLine(Frozen):
    """One task of the job. What it concluded is the first paragraph of what its agent said last;
    of a task that was not run, why not. Times are those of all its rounds, without pauses."""

    work: int
    name: str
    task: str
    state: LineState
    conclusion: str
    is_condition: bool = False
    # What a condition said; nothing where it was not asked, or could not be.
    answer: bool | None = None
    task_run: TaskRunId | None = None
    session: SessionId | None = None
    rounds: int = 0
    attempts: int = 0
    worked_ms: int = 0
    waited_for_person_ms: int = 0
    usage: Usage = Usage()


class ChangedFile(Frozen):
    """A file that the run changed, with the tasks whose agents edited it by name."""

    path: str
    how: How
    added: int
    removed: int
    tasks: tuple[str, ...] = ()
    is_text: bool = True


class ChangedFiles(Frozen):
    """All together. `source`: `trees` compares the folder's files at the run's beginning with those
    at its end, `edits` is what editing tools said, where there is no git or the run goes on."""

    source: Literal["trees", "edits"]
    files: list[ChangedFile]
    added: int
    removed: int
    more: bool = False
    # What a person should know about where this comes from.
    note: str = ""


class PersonsDecision(Frozen):
    """Something that somebody was asked, and said."""

    at: int
    what: str
    outcome: str
    who: str | None
    answer: str | None
    task: str
    session: SessionId
    waited_ms: int


class DecisionsMade(Frozen):
    """Those of people one by one; those of rules and policies counted."""

    people: list[PersonsDecision]
    allowed: int = 0
    denied: int = 0
    # By what, and how often.
    by: dict[str, int]
    more: bool = False


class Report(Frozen):
    """A run as a person reads it. It is as of `seq` of the run's stream."""

    id: RunId
    seq: int
    job: str
    title: str
    state: RunState
    input: str
    folder: str
    who: str
    tags: tuple[str, ...]
    models: list[str]
    started_at: int
    ended_at: int | None
    # From the beginning to the end, and of that how long nobody but a person was waited for.
    took_ms: int
    waited_for_person_ms: int
    # What its agents worked, those beside each other each, without the time in which they waited.
    worked_ms: int
    # How many have come to an end: each round of a loop and each retry is one.
    task_runs: int
    usage: Usage
    attempt: int
    again: RunId | None
    outcome: OutcomeSentence
    words: CheckWords | None
    tried: list[TriedAttempt]
    next: list[NextStep]
    tasks: list[TaskLine]
    changes: ChangedFiles
    decisions: DecisionsMade
