"""A task's working time is without its pauses; what a person took stands apart."""

from airboss.model.events import Event, Recorded
from airboss.model.ids import TaskRunId
from airboss.model.run_events import (
    RunEnded,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.service.run_times import times_of


def started(path: str) -> WorkStarted:
    return WorkStarted(work=0, path=path, task="a", task_run=TaskRunId(f"tsk_{path}"))


def told(*events: tuple[int, Event]) -> list[Recorded]:
    return [Recorded.of(seq, at, event) for seq, (at, event) in enumerate(events, start=1)]


def test_pauses_do_not_count_as_work() -> None:
    stopped = WorkStopped(work=0, path="0", task_run=TaskRunId("tsk_0"), succeeded=True)
    times = times_of(
        told(
            (0, started("0")),
            (10, WorkWaiting(path="0", reason="a free place")),
            (30, WorkGoing(path="0")),
            (40, WorkWaiting(path="0", reason="a person", for_person=True)),
            (140, WorkGoing(path="0")),
            (150, stopped),
        ),
        now=1_000,
    )["tsk_0"]
    assert (times.worked_ms(1_000), times.paused_ms, times.for_person_ms) == (30, 20, 100)


def test_what_still_waits_has_waited_until_now_and_what_was_cut_off_until_the_end() -> None:
    waits = WorkWaiting(path="0", reason="a person", for_person=True)
    open_ended = told((0, started("0")), (10, waits))
    times = times_of(open_ended, now=60)["tsk_0"]
    assert (times.worked_ms(60), times.for_person_ms) == (10, 50)
    cut = RunEnded(outcome="canceled", reason="Stopped.")
    times = times_of([*open_ended, Recorded.of(3, 30, cut)], now=60)["tsk_0"]
    assert (times.worked_ms(60), times.for_person_ms, times.ended_at) == (10, 20, 30)
