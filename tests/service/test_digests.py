"""A digest is that of all events, though not all of them are read for it."""

from collections.abc import AsyncGenerator
from pathlib import Path
from random import Random

import pytest

from airboss.log.log import EventLog
from airboss.model.events import Event, Recorded
from airboss.model.ids import ItemId, RunId, SessionId, TaskRunId
from airboss.model.inbox_events import (
    INBOX,
    InboxArrived,
    InboxItem,
    InboxSettled,
    QuestionAsked,
)
from airboss.model.run_events import (
    RunAccepted,
    RunEnded,
    RunEnding,
    RunResumed,
    RunRetried,
    WorkCut,
    WorkGoing,
    WorkRetrying,
    WorkStarted,
    WorkStopped,
    WorkWaiting,
)
from airboss.model.states import STATES
from airboss.service.digests import Digests
from tests.log.conftest import log_in

RUN, SESSION = RunId("run_1"), SessionId("ses_1")
ACCEPTED = RunAccepted(job="wide", entry="e", cwd="/work", who="me", user_input="go")


@pytest.fixture
async def log(tmp_path: Path) -> AsyncGenerator[EventLog]:
    async with log_in(tmp_path) as log:
        yield log


def events_of_a_run(seed: int, count: int) -> list[Event]:
    """In any order, also such as no run says: what is read must not depend on that."""
    random = Random(seed)  # noqa: S311 - a trial, no secret
    said: list[Event] = [ACCEPTED]
    for number in range(count):
        path, work = f"0.{random.randrange(4)}", TaskRunId(f"tsk_{random.randrange(9)}")
        kinds: tuple[Event, ...] = (
            WorkStarted(work=number, path=path, task="t", task_run=work),
            WorkWaiting(path=path, reason="a task slot", for_person=random.random() < 0.3),
            WorkWaiting(path=path, reason="leave"),
            WorkGoing(path=path),
            WorkGoing(path=path),
            WorkStopped(work=number, path=path, task_run=work, succeeded=random.random() < 0.5),
            WorkRetrying(path=path, task_run=work, retry=1, of=3),
            WorkCut(path=path, task_run=work),
            RunResumed(reason="again"),
            RunEnding(outcome="canceled", reason="asked for"),
            RunEnded(outcome="failed", reason="no"),
            RunRetried(time=2, who="me"),
        )
        weights = [6, 6, 3, 4, 4, 5, 1, 1, 1, 0.5, 0.5, 0.5]
        said += random.choices(kinds, weights)
    return said


async def told(log: EventLog, *events: Event, stream: str = RUN) -> list[Recorded]:
    writer = log.new_writer(stream)
    await writer.commit(*events)
    writer.release()
    return await log.transcript(stream, 0, 10_000)


@pytest.mark.parametrize("seed", range(12))
async def test_as_of_each_event_of_a_run_it_is_that_of_all_before_it(
    log: EventLog, seed: int
) -> None:
    recorded = await told(log, *events_of_a_run(seed, 120))
    state = STATES["run"](RUN)
    for one in recorded:
        state.tell(one)
        afresh = await Digests(log).compare("run", RUN, one.seq, state.digest())
        assert afresh.same, f"as of {one.seq}, {one.event.kind}"


async def test_a_state_that_was_begun_from_some_events_goes_on_with_all(log: EventLog) -> None:
    recorded = await told(log, *events_of_a_run(99, 200))
    digests, state = Digests(log), STATES["run"](RUN)
    asked = {one.seq for one in recorded[40::7]}
    for one in recorded:
        state.tell(one)
        if one.seq in asked:
            assert (await digests.compare("run", RUN, one.seq, state.digest())).same


WORKS: tuple[Event, ...] = (
    ACCEPTED,
    WorkStarted(work=0, path="0", task="t", task_run=TaskRunId("tsk_1")),
    WorkWaiting(path="0", reason="a task slot"),
    WorkStopped(work=0, path="0", task_run=TaskRunId("tsk_1"), succeeded=True),
    WorkStarted(work=1, path="1", task="t", task_run=TaskRunId("tsk_2")),
    WorkWaiting(path="1", reason="leave", for_person=True),
    RunResumed(reason="again"),
)


@pytest.mark.parametrize("lost", [1, 3, 4, 5, 6])
async def test_a_page_that_lost_an_event_is_told_so(log: EventLog, lost: int) -> None:
    recorded = await told(log, *WORKS)
    state = STATES["run"](RUN)
    for one in (*recorded[:lost], *recorded[lost + 1 :]):
        state.tell(one)
    asked_as_of = recorded[-1].seq
    compared = await Digests(log).compare("run", RUN, asked_as_of, state.digest())
    assert not compared.same


def item(name: str) -> InboxItem:
    asked = QuestionAsked(item=ItemId(name), question=f"Is it {name}?")
    return InboxItem(id=asked.item, session=SESSION, asked=asked, asked_at=1)


async def test_the_inbox_is_compared_with_the_view_that_is_kept(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived = [InboxArrived(item=item(f"itm_{number}")) for number in range(3)]
    settled = InboxSettled(item=ItemId("itm_1"), session=SESSION, outcome="answered")
    recorded = await told(log, *arrived, settled, stream=INBOX)
    state = STATES["inbox"](INBOX)
    for one in recorded:
        state.tell(one)
        assert (await Digests(log).compare("inbox", INBOX, one.seq, state.digest())).same

    async def nothing(*_: object, **__: object) -> list[Recorded]:
        return []

    monkeypatch.setattr(EventLog, "transcript", nothing)
    last = recorded[-1].seq
    assert (await Digests(log).compare("inbox", INBOX, last, state.digest())).same
    assert not (await Digests(log).compare("inbox", INBOX, last, "0" * 16)).same
