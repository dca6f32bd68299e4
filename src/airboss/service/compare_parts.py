"""The parts of a comparison of two runs, as they are sent."""

from typing import Literal, TypeAlias

from airboss.model.ids import RunId
from airboss.model.runs import RunState
from airboss.model.usage import Usage
from airboss.model.words import Frozen

Difference: TypeAlias = Literal["none", "outcome", "changes"]


class ComparedRun(Frozen):
    """One of the two, in figures."""

    id: RunId
    job: str
    title: str
    state: RunState
    folder: str
    who: str
    models: list[str]
    started_at: int
    took_ms: int
    worked_ms: int
    task_runs: int
    waited_for_person_ms: int
    usage: Usage
    tasks: int
    tasks_succeeded: int
    files: int
    added: int
    removed: int


class StepOutcome(Frozen):
    """How a step went in one of the runs. `after_ms` is behind the run's beginning."""

    state: RunState
    answer: bool | None
    conclusion: str
    worked_ms: int
    after_ms: int
    attempts: int
    task_run: str
    unasked: bool = False


class ComparedStep(Frozen):
    """A step in walking order, in both runs or in one of them."""

    path: str
    name: str
    a: StepOutcome | None
    b: StepOutcome | None
    differs: Difference


class CheckOutcome(Frozen):
    """The last word of a check."""

    holds: bool
    unasked: bool
    attempt: int
    reason: str


class ComparedCheck(Frozen):
    """A check that came out differently, or after another number of attempts."""

    name: str
    field: str
    a: CheckOutcome | None
    b: CheckOutcome | None


class LineCounts(Frozen):
    """What a run changed in a file; nothing where it did not."""

    added: int
    removed: int


class ComparedFile(Frozen):
    """A file that one of the runs changed and that is not the same behind both. The diff leads from
    what A left to what B left; it may be empty where only edits are known."""

    path: str
    a: LineCounts | None
    b: LineCounts | None
    diff: str = ""
    cut: bool = False


class Comparison(Frozen):
    """Two runs side by side. They parted at the first step, in walking order, whose outcome or
    changes differ."""

    a: ComparedRun
    b: ComparedRun
    # The path of that step; none where nothing differs.
    parted_at: str | None
    head: str
    text: str
    same: dict[str, bool]
    steps: list[ComparedStep]
    checks: list[ComparedCheck]
    checks_in_all: int
    files: list[ComparedFile]
    files_alike: int
