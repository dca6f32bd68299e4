"""Lists of what there is, as pages ask for them."""

import json
from pathlib import Path

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.events import Event, SessionClosed, SessionOpened, SessionReady
from airboss.model.ids import ItemId
from airboss.model.inbox_events import ItemSettled, QuestionAsked
from airboss.model.task_events import TaskAccepted, TaskEnded, TaskGoing, TaskWaiting
from airboss.store.database import Database
from airboss.store.views import ALL, ViewIndex, Wanted

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


async def test_what_waits_for_a_person_is_listed_of_sessions_and_of_tasks(tmp_path: Path) -> None:
    database = Database(tmp_path / "airboss.sqlite")
    await database.open()
    async with EventLog(database, Journal(tmp_path / "deltas")).running() as log:
        for stream, events in STREAMS.items():
            await log.new_writer(stream).commit(*events)

    async def found(kind: str, wanted: Wanted) -> set[str]:
        bodies = await ViewIndex(database).page(kind, (), None, 50, wanted)
        return {json.loads(body)["id"] for body in bodies}

    assert await found("session", Wanted(for_person=True)) == {"ses_asks"}
    assert await found("task", Wanted(for_person=True)) == {"tsk_asks", "tsk_job"}
    assert await found("task", Wanted(for_person=True, alone=True)) == {"tsk_asks"}
    assert len(await found("task", ALL)) == 5
    await database.close()
