"""Lists of what there is, as pages ask for them."""

import json
from pathlib import Path
from typing import Any

from airboss.model.events import (
    Event,
    SessionClosed,
    SessionOpened,
    SessionPinned,
    SessionReady,
)
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from airboss.model.run_events import RunAccepted, RunTagged
from airboss.model.task_events import TaskAccepted, TaskEnded, TaskGoing, TaskWaiting
from airboss.store.database import Database
from airboss.store.job_stats import JobStatsIndex
from airboss.store.views import ALL, ViewIndex, Wanted
from tests.databases import running_log

ASKED = QuestionAsked(item=ItemId("itm_1"), question="Which?")
OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")
ACCEPTED = TaskAccepted(
    task="look", entry="e", model="m", cwd="/", policy="ask", user_input="", who="me"
)
FOR_YOU = TaskWaiting(reason="your answer", for_person=True)
STREAMS: dict[str, tuple[Event, ...]] = {
    "ses_asks": (OPENED, SessionReady(), ASKED),
    "ses_idle": (OPENED, SessionReady()),
    "ses_answered": (OPENED, ASKED, ItemSettled(item=ASKED.item, outcome="answered", who="me")),
    "ses_closed": (OPENED, ASKED, SessionClosed(reason="Closed by me.", who="me")),
    "tsk_asks": (ACCEPTED, FOR_YOU),
    "tsk_job": (ACCEPTED.model_copy(update={"run": "run_1"}), FOR_YOU),
    "tsk_queued": (ACCEPTED, TaskWaiting(reason="a free place", for_person=False)),
    "tsk_goes": (ACCEPTED, FOR_YOU, TaskGoing()),
    "tsk_over": (ACCEPTED, FOR_YOU, TaskEnded(outcome="canceled", reason="Stopped.", who="me")),
}


async def test_what_waits_for_a_person_is_listed_of_sessions_and_of_tasks(
    database: Database, tmp_path: Path
) -> None:
    async with running_log(database, tmp_path) as log:
        for stream, events in STREAMS.items():
            await log.new_writer(stream).commit(*events)

    async def found(kind: str, wanted: Wanted) -> set[str]:
        bodies = await ViewIndex(database).page(kind, (), None, 50, wanted)
        return {json.loads(body)["id"] for body in bodies}

    assert await found("session", Wanted(for_person=True)) == {"ses_asks"}
    assert await found("task", Wanted(for_person=True)) == {"tsk_asks", "tsk_job"}
    assert await found("task", Wanted(for_person=True, alone=True)) == {"tsk_asks"}
    assert len(await found("task", ALL)) == 5


async def test_a_list_is_narrowed_by_words_tags_and_what_people_gave(
    database: Database, tmp_path: Path
) -> None:
    session = SessionOpened(model="m", cwd="/Wörk", policy="ask", who="me")
    run = RunAccepted(job="Ship ÄRGER", entry="e", cwd="/", user_input="", who="me", title="a\0b")
    tagged = RunTagged(tags=("two words", "100%"), who="me")
    async with running_log(database, tmp_path) as log:
        await log.new_writer("ses_1").commit(session, SessionPinned(pinned=True, who="me"))
        await log.new_writer("ses_2").commit(session.model_copy(update={"model": "n"}))
        await log.new_writer("run_1").commit(run, tagged)
        await log.new_writer("run_2").commit(run)

    async def found(kind: str, **wanted: Any) -> list[str]:
        bodies = await ViewIndex(database).page(kind, (), None, 50, Wanted(**wanted))
        return sorted(json.loads(body)["id"] for body in bodies)

    assert await found("session", pinned=True) == ["ses_1"]
    assert await found("session", model="n") == ["ses_2"]
    assert await found("session", text="WÖRK") == ["ses_1", "ses_2"]
    assert await found("session", text="ses_2") == ["ses_2"]
    assert await found("session", text="\0") == await found("session", model="\0") == []
    assert await found("run", tag="two words") == ["run_1"]
    assert await found("run", tag="two") == []
    assert await found("run", tag="%") == []
    assert await found("run", text="ärger") == ["run_1", "run_2"]
    assert await found("run", text="_") == ["run_1", "run_2"]
    names = await JobStatsIndex(database).names()
    assert names == (["Ship ÄRGER"], ["two words", "100%"])
