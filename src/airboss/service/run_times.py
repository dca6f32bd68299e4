"""How long each task of a run worked, and how long it waited. Pure: the time is given."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from airboss.model.events import Recorded
from airboss.model.run_events import RunEnded, WorkGoing, WorkStarted, WorkStopped, WorkWaiting


@dataclass
class WorkTimes:
    """Of one execution. A pause is time in which it waited, for a person or for a free place."""

    started_at: int
    ended_at: int | None = None
    paused_ms: int = 0
    for_person_ms: int = 0

    def worked_ms(self, now: int) -> int:
        whole = (self.ended_at or now) - self.started_at
        return max(0, whole - self.paused_ms - self.for_person_ms)


@dataclass
class _Pause:
    since: int
    for_person: bool


class RunClock:
    """Told all events of a run, it knows the times of every task run in it."""

    def __init__(self) -> None:
        self.times: dict[str, WorkTimes] = {}
        self._at_work: dict[str, str] = {}
        self._pauses: dict[str, _Pause] = {}

    def tell(self, at: int, event: object) -> None:
        match event:
            case WorkStarted():
                self.times[event.task_run] = WorkTimes(at)
                self._at_work[event.path] = event.task_run
            case WorkWaiting():
                self._go_on(event.path, at)
                self._pauses[event.path] = _Pause(at, event.for_person)
            case WorkGoing():
                self._go_on(event.path, at)
            case WorkStopped():
                self._end(event.path, at)
            case RunEnded():
                for path in list(self._at_work):
                    self._end(path, at)
            case _:
                pass

    def settle(self, now: int) -> None:
        """What still waits has waited until now."""
        for path, pause in list(self._pauses.items()):
            self._go_on(path, now)
            self._pauses[path] = _Pause(now, pause.for_person)

    def _go_on(self, path: str, at: int) -> None:
        pause = self._pauses.pop(path, None)
        times = self.times.get(self._at_work.get(path, ""))
        if pause is None or times is None:
            return
        if pause.for_person:
            times.for_person_ms += at - pause.since
        else:
            times.paused_ms += at - pause.since

    def _end(self, path: str, at: int) -> None:
        self._go_on(path, at)
        times = self.times.get(self._at_work.pop(path, ""))
        if times is not None:
            times.ended_at = at


def times_of(events: Iterable[Recorded], now: int) -> dict[str, WorkTimes]:
    clock = RunClock()
    for recorded in events:
        clock.tell(recorded.at, recorded.event)
    clock.settle(now)
    return defaultdict(lambda: WorkTimes(now, now), clock.times)
