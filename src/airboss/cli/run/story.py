"""What a run has done so far, told by its events or by the server's answer. How events fold is the
model's to know; here is only what a terminal adds: decisions, questions, and earlier times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, cast

from airboss.cli.client import Json
from airboss.cli.heard import Record

if TYPE_CHECKING:
    from pydantic import BaseModel

    from airboss.model.runs import RunView, WorkRecord
    from airboss.model.usage import Usage
    from airboss.model.views import View

Known = TypeVar("Known", bound="BaseModel")

OVER: Final = ("succeeded", "failed", "canceled")
FOR_PERSON: Final = "waiting-for-person"
_CONDITIONS: Final = frozenset(("pre", "post", "cond"))


@dataclass
class RunWork:
    """One work of a run: begun, waiting, or over."""

    record: "WorkRecord"
    # What it has used so far, as long as it is at work: its end tells all of it.
    used: "Usage | None" = None
    # The last that was decided in it.
    decision: str = ""
    # What it asks of a person.
    items: list[Json] = field(default_factory=list[Json])
    # The task runs of earlier times: a retry does a failed work again.
    earlier: list["RunWork"] = field(default_factory=list["RunWork"])

    @property
    def path(self) -> str:
        return self.record.path

    @property
    def task(self) -> str:
        return self.record.task

    @property
    def task_run(self) -> str:
        return self.record.task_run

    @property
    def state(self) -> str:
        return self.record.state

    @property
    def waits_for(self) -> str | None:
        return self.record.waits_for

    @property
    def unasked(self) -> bool:
        """It could not be asked, so it is neither true nor false."""
        return self.record.unasked

    @property
    def attempt(self) -> str:
        """Which of its attempts this is; nothing for the first."""
        retried = len(self.record.retried_at)
        return f"attempt {retried + 1} of {(self.record.retries or retried) + 1}" if retried else ""

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def is_condition(self) -> bool:
        """Its outcome is an answer, and none of them a failure."""
        return self.path.rpartition(".")[2] in _CONDITIONS and not self.unasked

    @property
    def has_failed(self) -> bool:
        """And the run, or what is around it, with it."""
        is_answer = not self.unasked and not _CONDITIONS.isdisjoint(self.path.split("."))
        return self.state == "failed" and not is_answer

    @property
    def usage(self) -> "Usage":
        return self.record.usage if self.used is None else self.used

    def seconds(self, now: int) -> float:
        return self.record.worked_until(now) / 1000

    def change(self, said: "WorkRecord") -> None:
        self.record = said
        if self.is_over or said.usage.requests:
            self.used = None
        if said.waits_for is None:
            self.items = []


class Story:
    """A run as far as it is known here."""

    def __init__(self, run: str) -> None:
        # Not above: it takes longer than all that a terminal needs otherwise.
        from airboss.model.states import FoldedRun

        self.id = run
        self._folded: FoldedRun = FoldedRun(run)
        # By their paths, in the order of their beginning.
        self.works: dict[str, RunWork] = {}
        # The round that each loop is in, by its path.
        self.rounds: dict[str, int] = {}
        # What its task runs have said of themselves so far.
        self._tasks: dict[str, View | None] = {}

    @classmethod
    def of(cls, detail: Json) -> "Story":
        """As the server tells it at once."""
        from airboss.model.runs import RunView, WorkRecord

        story = cls(str(detail["id"]))
        story._folded.view = RunView.model_validate(detail, extra="ignore")
        for said in cast("list[Json]", detail["works"]):
            story._begin(WorkRecord.model_validate(said, extra="ignore"))
        return story

    def hear(self, record: Record) -> None:
        """What a newer server says beyond what we know is passed over."""
        from airboss.model.run_events import RUN_EVENTS

        event = _known(record, RUN_EVENTS)
        if event is None:
            return
        for said in self._folded.hear(record.seq, record.at, event):
            work = self.works.get(said.path)
            if work is not None and work.task_run == said.task_run:
                work.change(said)
            else:
                self._begin(said)

    def take_items(self, items: Iterable[Json]) -> list[Json]:
        """Each work that waits for a person gets what it asks; answers what is new."""
        known = list(items)
        new: list[Json] = []
        for work in self.running:
            if work.state == FOR_PERSON:
                asked = [item for item in known if item.get("task_run") == work.task_run]
                before = {item["id"] for item in work.items}
                new += [item for item in asked if item["id"] not in before]
                work.items = asked
        return new

    def hear_task(self, record: Record) -> "RunWork | None":
        """What one of its task runs says: the work that this is, with its last decision and what
        it has used so far."""
        from airboss.model.task_events import TASK_EVENTS
        from airboss.model.task_runs import TaskRunView
        from airboss.model.views import fold

        event = _known(record, TASK_EVENTS)
        if event is None:
            return None
        name = record.stream
        view = fold(self._tasks.get(name), name, record.seq, record.at, event)
        self._tasks[name] = view
        work = next((one for one in self.works.values() if one.task_run == name), None)
        if work is not None and isinstance(view, TaskRunView):
            work.decision = view.doing
            work.used = work.used if work.is_over else view.usage
        return work

    def _begin(self, said: "WorkRecord") -> None:
        before = self.works.pop(said.path, None)
        earlier = [*before.earlier, before] if before else []
        self.works[said.path] = RunWork(said, earlier=earlier)
        for loop, number in rounds_of(said.path):
            self.rounds[loop] = number

    @property
    def _view(self) -> "RunView | None":
        from airboss.model.runs import RunView

        view = self._folded.view
        return view if isinstance(view, RunView) else None

    @property
    def job(self) -> str:
        return self._view.job if self._view else ""

    @property
    def state(self) -> str:
        return self._view.state if self._view else "waiting"

    @property
    def waits_for(self) -> str | None:
        return self._view.waits_for if self._view else None

    @property
    def reason(self) -> str | None:
        return self._view.reason if self._view else None

    @property
    def started_at(self) -> int:
        return self._view.created_at if self._view else 0

    @property
    def restarts(self) -> int:
        return self._view.restarts if self._view else 0

    @property
    def attempt(self) -> int:
        return self._view.attempt if self._view else 1

    @property
    def is_ending(self) -> bool:
        return self._view is not None and self._view.ending is not None

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def running(self) -> list[RunWork]:
        return [work for work in self.works.values() if not work.is_over]

    @property
    def counts(self) -> tuple[int, int]:
        """How many works are done, and how many failed."""
        works = self.works.values()
        failed = sum(work.has_failed for work in works)
        return sum(work.state in ("succeeded", "failed") for work in works) - failed, failed

    def seconds(self, now: int) -> float:
        """What its agents worked, as every list has it."""
        return self._view.worked_until(now) / 1000 if self._view else 0

    @property
    def usage(self) -> "Usage":
        """Of all that was done, what was done twice included, and of what is at work so far."""
        from airboss.model.usage import Usage

        used = self._view.usage if self._view else Usage()
        return sum((work.used for work in self.running if work.used is not None), start=used)


def _known(record: Record, kinds: "Mapping[str, type[Known]]") -> "Known | None":
    from pydantic import ValidationError

    known = kinds.get(record.kind)
    try:
        return known.model_validate(record.event, extra="ignore") if known else None
    except ValidationError:
        return None


def rounds_of(path: str) -> list[tuple[str, int]]:
    """The loops that a path lies in, from the outside: the path of each, and the round."""
    parts = path.split(".")
    return [
        (".".join(parts[:place]), int(part[2:]))
        for place, part in enumerate(parts)
        if part.startswith("it") and part[2:].isdigit()
    ]
