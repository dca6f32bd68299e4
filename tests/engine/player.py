"""Plays a task's sequence with scripted answers, and tells what it did as a story."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from airboss.engine.acts import (
    Act,
    ActRefused,
    Answer,
    AskRetry,
    Close,
    Crashed,
    Done,
    OpenAct,
    Opened,
    Put,
    RetryWord,
    Tell,
)
from airboss.engine.task import TaskPlan, Verdict, run_task
from airboss.entry.document import Availability, Criteria, DrivingRetry, FailureAction, Task
from airboss.model.ids import SessionId
from airboss.model.task_events import TaskChecked, TaskDecided, TaskRetrying, ToolCall
from airboss.session_keys import OnUnsafeRetry

DOCUMENT: Final = "job_prepare_document"
TRUE: Final = "job_boolean_true"
FALSE: Final = "job_boolean_false"
PREREQUISITE: Final = "job_prerequisite_failed"

CRASH: Final = Crashed("gone")
REFUSAL: Final = ActRefused("No such model.")
BORROWED: Final = SessionId("ses_lent")
T = TypeVar("T")
AGAIN: Final = "The session crashed, please redo and here is the last request:\n"


def done(*calls: tuple[str, str]) -> Done:
    return Done(tuple(ToolCall(tool=tool, argument=argument) for tool, argument in calls))


def yes(reason: str = "It is.") -> Done:
    return done((TRUE, reason))


def no(reason: str = "It is not.") -> Done:
    return done((FALSE, reason))


def available(*previous: str, condition: str | None = None) -> Availability:
    return Availability(
        previous_tasks=previous or None, condition=None if condition is None else (condition,)
    )


def criteria(
    *tools: str,
    condition: str | None = None,
    same: bool | None = None,
    retries: int = 0,
    more: str | None = None,
) -> Criteria:
    return Criteria(
        tool_executed=tools or None,
        condition=None if condition is None else (condition,),
        run_condition_in_same_session=same,
        failure_action=FailureAction(
            retry_times=retries, additional_prompt=None if more is None else (more,)
        ),
    )


def plan(
    prompt: str = "Build it.",
    *,
    availability: Availability | None = None,
    criteria: Criteria | None = None,
    on_unsafe_retry: OnUnsafeRetry | None = None,
    **more: Any,
) -> TaskPlan:
    """A task on `coder`, driven by `driver`."""
    task = Task(
        prompt=(prompt,),
        require_user_input="$user-input" in prompt,
        availability=availability,
        criteria=criteria,
        on_unsafe_retry=on_unsafe_retry,
    )
    usual: dict[str, Any] = {
        "name": "build",
        "task": task,
        "task_model": "coder",
        "driving_model": "driver",
        "driving_retries": None,
        "user_input": "",
        "borrowed": None,
        "checks_availability": True,
        "previous_tasks": (),
    }
    return TaskPlan(**{**usual, **more})


def driving(*budgets: tuple[str, int]) -> tuple[DrivingRetry, ...]:
    return tuple(DrivingRetry(model_id=model, retries=retries) for model, retries in budgets)


@dataclass
class Played:
    """What was done, in order, and what came of it."""

    acts: list[Act] = field(default_factory=list[Act])
    verdict: Verdict = field(default_factory=lambda: Verdict(succeeded=False, reason="Not ended."))
    story: list[str] = field(default_factory=list[str])

    @property
    def said(self) -> list[str]:
        """The decisions."""
        return [recorded.text for recorded in self.told(TaskDecided)]

    @property
    def checked(self) -> list[TaskChecked]:
        return self.told(TaskChecked)

    @property
    def retried(self) -> list[TaskRetrying]:
        return self.told(TaskRetrying)

    @property
    def texts(self) -> list[str]:
        """What was sent."""
        return [act.text for act in self.acts if isinstance(act, Put)]

    @property
    def prompts(self) -> list[str]:
        """What was sent, without the conditions."""
        puts = [act for act in self.acts if isinstance(act, Put)]
        return [act.text for act in puts if act.mission.kind == "prompt"]

    @property
    def opened(self) -> list[str]:
        """The models of the sessions that were asked for."""
        return [act.model for act in self.acts if isinstance(act, OpenAct)]

    def told(self, kind: type[T]) -> list[T]:
        events = [act.event for act in self.acts if isinstance(act, Tell)]
        return [event for event in events if isinstance(event, kind)]


def play(
    plan: TaskPlan,
    *answers: Done | Crashed | ActRefused | RetryWord,
    opens: Mapping[int, Answer] | None = None,
) -> Played:
    """Answers the missions in order; each must be asked for, and no more.

    Sessions open as ses_1, ses_2 …; `opens` says how the n-th goes instead.
    """
    played = Played()
    script = iter(answers)
    sequence = run_task(plan)
    answer: Answer = None
    count = 0
    while True:
        try:
            act = sequence.send(answer)
        except StopIteration as end:
            played.verdict = end.value
            break
        played.acts.append(act)
        if isinstance(act, OpenAct):
            count += 1
            answer = (opens or {}).get(count, Opened(SessionId(f"ses_{count}")))
        elif isinstance(act, Put | AskRetry):
            answer = next(script, None)
            assert answer is not None, f"Nobody expected: {act}"
        else:
            answer = None
        played.story += _told(act, answer)
    assert [*script] == [], "The sequence ended early."
    return played


def _told(act: Act, answer: Answer) -> Iterable[str]:
    """Acts in a line each; checks and retries are left to the decisions that follow them."""
    if isinstance(act, OpenAct):
        got = answer.session if isinstance(answer, Opened) else "nothing"
        yield f"opens {got} on {act.model}{', driving' if act.is_driving else ''}"
    elif isinstance(act, Put):
        put = act.mission
        yield f"puts {put.kind} {put.round}.{put.attempt} to {act.session}: {act.text}"
    elif isinstance(act, AskRetry):
        yield f"asks whether to do {', '.join(act.effects)} again in place of {act.session}"
    elif isinstance(act, Close):
        yield f"closes {act.session}, {'succeeded' if act.succeeded else 'failed'}"
    elif isinstance(act.event, TaskDecided):
        yield act.event.text
