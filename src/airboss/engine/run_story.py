"""What runs and tasks have done so far, read from their streams."""

from collections.abc import Sequence
from typing import Final

from airboss.log.log import EventLog
from airboss.model.events import Recorded
from airboss.model.run_events import (
    RunEnded,
    RunRetried,
    WorkGoing,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.runs import RunStory, RunView, tell_run

_PAGE: Final = 1000
_WAITS: Final = tuple(str(kind.model_fields["kind"].default) for kind in (WorkWaiting, WorkGoing))


async def events_until(log: EventLog, stream: str, until: int) -> list[Recorded]:
    """All events of a stream that has no deltas, up to the seq `until`."""
    said: list[Recorded] = []
    while not said or said[-1].seq < until:
        found = await log.after(stream, said[-1].seq if said else 0, _PAGE)
        if not found:
            break
        said += found
    return [one for one in said if one.seq <= until]


async def story_of_run(log: EventLog, view: RunView) -> RunStory:
    """All that the run did as of its view."""
    return tell_run(await telling_events(log, view.id, view.seq))


async def telling_events(log: EventLog, run: str, until: int) -> list[Recorded]:
    """The events of a run up to `until` without those that no fold needs: what a work waited for
    does not matter once it has ended, and is most of what a long run says."""
    marks = await _until(log, run, 0, until, without=_WAITS)
    waits = await _until(log, run, _since(marks), until, kinds=_WAITS)
    # What is as of an event has its time and its seq, whatever it says.
    last = await log.transcript(run, until - 1, 1, until=until)
    said = {recorded.seq: recorded for recorded in (*marks, *waits, *last)}
    return [said[seq] for seq in sorted(said)]


def _since(marks: Sequence[Recorded]) -> int:
    """From where on waits matter: where the first work began that has not ended; without such a
    work, behind the last event that says that there is none."""
    # A view knows works by their paths, a story by their task runs.
    paths: dict[str, int] = {}
    task_runs: dict[str, int] = {}
    last = 0
    for recorded in marks:
        match recorded.event:
            case WorkStarted(path=path, task_run=task_run):
                paths.setdefault(path, recorded.seq)
                task_runs.setdefault(task_run, recorded.seq)
            case WorkStopped(path=path, task_run=task_run):
                paths.pop(path, None)
                task_runs.pop(task_run, None)
            case RunEnded():
                paths, task_runs = {}, {}
            case RunRetried():
                paths = {}
            case _:
                continue
        last = recorded.seq
    return min((*paths.values(), *task_runs.values()), default=last)


async def _until(
    log: EventLog,
    stream: str,
    after: int,
    until: int,
    kinds: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[Recorded]:
    said: list[Recorded] = []
    while found := await log.transcript(stream, after, _PAGE, kinds, until, without):
        said += found
        after = found[-1].seq
    return said
