"""A task run's view and story are folds over its events."""

from typing import Any

from airboss.model.events import Event, Recorded
from airboss.model.ids import PromptId, SessionId
from airboss.model.task_events import (
    Mission,
    MissionEnded,
    MissionSent,
    TaskAccepted,
    TaskChecked,
    TaskDecided,
    TaskEnded,
    TaskError,
    TaskRetrying,
    TaskSessionStarted,
    TaskSessionStopped,
    ToolCall,
)
from airboss.model.task_runs import Attempt, Decision, FieldCheck, TaskRunView, tell_story
from airboss.model.views import View, fold

FIRST, SECOND = SessionId("ses_1"), SessionId("ses_2")
MISSION = Mission(kind="prompt", round=0, attempt=1)
AGAIN = Mission(kind="prompt", round=0, attempt=2)
CALL = ToolCall(tool="job_prepare_document", argument="plan.md")
ACCEPTED = TaskAccepted(
    task="plan",
    entry="digest",
    model="m",
    cwd="/work",
    policy="read-only",
    user_input="a bridge",
    who="me",
)
STORY: tuple[Event, ...] = (
    ACCEPTED,
    TaskSessionStarted(session=FIRST, model="m", is_driving=True),
    TaskDecided(text="[OPERATION] Sends the prompt."),
    MissionSent(mission=MISSION, session=FIRST, prompt=PromptId("pro_1"), text="Plan a bridge"),
    MissionEnded(mission=MISSION, session=FIRST, outcome="crashed", reason="gone"),
    TaskSessionStopped(session=FIRST, succeeded=False),
    TaskSessionStarted(session=SECOND, model="m", is_driving=True),
    MissionSent(mission=AGAIN, session=SECOND, prompt=PromptId("pro_2"), text="Again"),
    MissionEnded(mission=AGAIN, session=SECOND, outcome="done", calls=(CALL,)),
    TaskChecked(
        field="criteria.toolExecuted", round=0, holds=False, content="[]", reason="missing"
    ),
    TaskRetrying(retry=1, of=2, reason="missing"),
)


def view_of(*events: Event) -> View | None:
    view: View | None = None
    for seq, event in enumerate(events, start=1):
        view = fold(view, "tsk_1", seq, 1000 + seq, event)
    return view


def expected(seq: int, **changes: Any) -> TaskRunView:
    begun: dict[str, Any] = {
        **ACCEPTED.model_dump(
            exclude={
                "kind",
                "user_input",
                "checks_availability",
                "previous_tasks",
                "rules",
                "trace",
            }
        ),
        "id": "tsk_1",
        "state": "running",
        "created_at": 1001,
        "updated_at": 1000 + seq,
        "seq": seq,
    }
    return TaskRunView.model_validate(begun | changes)


def test_only_an_accepted_task_begins_a_view() -> None:
    assert view_of(*STORY[1:]) is None
    assert view_of(ACCEPTED) == expected(1)


def test_a_view_knows_what_was_opened_tried_and_retried() -> None:
    view = view_of(*STORY)
    assert view is not None
    assert view == expected(
        11,
        sessions=(SECOND,),
        opened=(FIRST, SECOND),
        missions=2,
        crashes=1,
        retries=1,
        doing="[OPERATION] Sends the prompt.",
    )
    assert view.is_open
    assert not view.is_over


def test_a_view_knows_how_it_ended() -> None:
    stopped = TaskSessionStopped(session=SECOND, succeeded=True)
    view = view_of(*STORY[:7], stopped, TaskEnded(outcome="succeeded", reason="done"))
    assert isinstance(view, TaskRunView)
    assert (view.state, view.reason, view.sessions) == ("succeeded", "done", ())
    assert view.ended_at == 1009
    assert view.is_over
    assert not view.is_open


def test_a_crash_is_told_by_its_error_until_the_end_says_more() -> None:
    view = view_of(ACCEPTED, TaskError(name="OSError", message="disk full"))
    assert isinstance(view, TaskRunView)
    assert view.reason == "disk full"


def test_a_story_tells_every_attempt_with_its_outcome() -> None:
    told = [Recorded.of(seq, 1000 + seq, event) for seq, event in enumerate(STORY, start=1)]
    story = tell_story(told)
    assert story.user_input == "a bridge"
    assert story.decisions == (Decision(at=1003, text="[OPERATION] Sends the prompt."),)
    assert story.checks == (
        FieldCheck(
            at=1010,
            field="criteria.toolExecuted",
            round=0,
            holds=False,
            content="[]",
            reason="missing",
        ),
    )
    assert story.attempts == (
        Attempt(
            mission=MISSION,
            session=FIRST,
            prompt=PromptId("pro_1"),
            text="Plan a bridge",
            started_at=1004,
            ended_at=1005,
            outcome="crashed",
            reason="gone",
        ),
        Attempt(
            mission=AGAIN,
            session=SECOND,
            prompt=PromptId("pro_2"),
            text="Again",
            started_at=1008,
            ended_at=1009,
            outcome="done",
            calls=(CALL,),
        ),
    )
