"""What a run has done so far, told by its events or by the server's answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.cli.client import Json
from airboss.cli.stream import Record

OVER: Final = ("succeeded", "failed", "canceled")
FOR_PERSON: Final = "waiting-for-person"
_CONDITIONS: Final = frozenset(("pre", "post", "cond"))
_COUNTED: Final = ("requests", "input_tokens", "output_tokens", "cost")


def _sum(usages: list[Json]) -> Json:
    return {name: sum(usage.get(name, 0) for usage in usages) for name in _COUNTED}


@dataclass
class Done:
    """One work of a run: begun, waiting, or over."""

    path: str
    task: str
    task_run: str
    started_at: int
    state: str = "running"
    ended_at: int | None = None
    waits_for: str | None = None
    # It could not be asked, so it is neither true nor false.
    unasked: bool = False
    usage: Json = field(default_factory=dict[str, Any])
    # The last that was decided in it.
    decision: str = ""
    # What it asks of a person.
    items: list[Json] = field(default_factory=list[Json])
    # The task runs of earlier times: a retry does a failed work again.
    earlier: list["Done"] = field(default_factory=list["Done"])

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

    def seconds(self, now: int) -> float:
        return max((self.ended_at or now) - self.started_at, 0) / 1000


@dataclass
class Story:
    """A run as far as it is known here."""

    id: str
    job: str = ""
    cwd: str = ""
    state: str = "waiting"
    waits_for: str | None = None
    reason: str | None = None
    started_at: int = 0
    ended_at: int | None = None
    restarts: int = 0
    time: int = 1
    is_ending: bool = False
    # By their paths, in the order of their beginning.
    works: dict[str, Done] = field(default_factory=dict[str, Done])
    # The round that each loop is in, by its path.
    rounds: dict[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def told(cls, detail: Json) -> "Story":
        """As the server tells it at once."""
        story = cls(
            id=str(detail["id"]),
            job=str(detail["job"]),
            cwd=str(detail["cwd"]),
            state=str(detail["state"]),
            waits_for=detail["waits_for"],
            reason=detail["reason"],
            started_at=int(detail["created_at"]),
            ended_at=detail["ended_at"],
            restarts=int(detail["restarts"]),
            time=int(detail["time"]),
            is_ending=detail["ending"] is not None,
        )
        for told in cast("list[Json]", detail["works"]):
            work = story._begin(told, int(told["started_at"]))
            work.state = str(told["state"])
            work.ended_at, work.waits_for = told["ended_at"], told["waits_for"]
            work.unasked, work.usage = bool(told.get("unasked")), told["usage"]
        return story

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def running(self) -> list[Done]:
        return [work for work in self.works.values() if not work.is_over]

    @property
    def counts(self) -> tuple[int, int]:
        """How many works are done, and how many failed."""
        works = self.works.values()
        failed = sum(work.has_failed for work in works)
        return sum(work.state in ("succeeded", "failed") for work in works) - failed, failed

    def seconds(self, now: int) -> float:
        return max((self.ended_at or now) - self.started_at, 0) / 1000

    @property
    def usage(self) -> Json:
        """Of all that was done, what was done twice included."""
        works = [one for work in self.works.values() for one in (work, *work.earlier)]
        sub_agents = _sum([work.usage.get("sub_agents") or {} for work in works])
        return {**_sum([work.usage for work in works]), "sub_agents": sub_agents}

    def hear(self, record: Record) -> None:
        if tell := _TOLD.get(record.kind):
            tell(self, record.at, record.event)
        # A newer server may say more than we know.

    def _begin(self, told: Mapping[str, Any], at: int) -> Done:
        path = str(told["path"])
        work = Done(path, str(told["task"]), str(told["task_run"]), at)
        if before := self.works.pop(path, None):
            work.earlier = [*before.earlier, before]
        self.works[path] = work
        for loop, number in rounds_of(path):
            self.rounds[loop] = number
        return work

    def accepted(self, at: int, event: Json) -> None:
        self.job, self.cwd = str(event["job"]), str(event["cwd"])
        self.started_at = at

    def resumed(self, at: int, event: Json) -> None:
        del at, event
        self.restarts += 1

    def retried(self, at: int, event: Json) -> None:
        del at
        self.time, self.state = int(event["time"]), "waiting"
        self.reason = self.ended_at = None

    def work_started(self, at: int, event: Json) -> None:
        self._begin(event, at)
        self._weigh()

    def work_waiting(self, at: int, event: Json) -> None:
        del at
        if work := self.works.get(str(event["path"])):
            work.state = FOR_PERSON if event.get("for_person") else "waiting"
            work.waits_for = str(event["reason"])
        self._weigh()

    def work_going(self, at: int, event: Json) -> None:
        del at
        if work := self.works.get(str(event["path"])):
            work.state, work.waits_for, work.items = "running", None, []
        self._weigh()

    def work_stopped(self, at: int, event: Json) -> None:
        if work := self.works.get(str(event["path"])):
            work.state = "succeeded" if event["succeeded"] else "failed"
            work.unasked = bool(event.get("unasked"))
            work.ended_at, work.waits_for, work.items = at, None, []
            work.usage = dict(event.get("usage") or {})
        self._weigh()

    def _weigh(self) -> None:
        """A run waits when all that it has begun waits; for a person, when one of them does."""
        works = self.running
        if not works or not all(work.waits_for for work in works):
            self.state, self.waits_for = "running", None
            return
        first = next((work for work in works if work.state == FOR_PERSON), works[0])
        self.state, self.waits_for = first.state, first.waits_for

    def ending(self, at: int, event: Json) -> None:
        del at
        self.is_ending, self.reason = True, str(event["reason"])

    def crashed(self, at: int, event: Json) -> None:
        del at
        self.reason = str(event["message"])

    def ended(self, at: int, event: Json) -> None:
        self.state, self.reason, self.ended_at = str(event["outcome"]), str(event["reason"]), at
        self.waits_for, self.is_ending = None, False
        for work in self.running:
            work.state, work.ended_at, work.waits_for = "canceled", at, None


_TOLD: Final[dict[str, Callable[[Story, int, Json], None]]] = {
    "run.accepted": Story.accepted,
    "run.resumed": Story.resumed,
    "run.retried": Story.retried,
    "run.work.started": Story.work_started,
    "run.work.waiting": Story.work_waiting,
    "run.work.going": Story.work_going,
    "run.work.stopped": Story.work_stopped,
    "run.ending": Story.ending,
    "run.error": Story.crashed,
    "run.ended": Story.ended,
}


def rounds_of(path: str) -> list[tuple[str, int]]:
    """The loops that a path lies in, from the outside: the path of each, and the round."""
    parts = path.split(".")
    return [
        (".".join(parts[:place]), int(part[2:]))
        for place, part in enumerate(parts)
        if part.startswith("it") and part[2:].isdigit()
    ]
