"""Whatever a task asks for and however its acts go: the sequence ends, and replays the same."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.engine.acts import (
    Act,
    ActRefused,
    Answer,
    Close,
    Crashed,
    Done,
    OpenAct,
    Opened,
    Put,
    Tell,
)
from airboss.engine.task import TaskPlan, Verdict, run_task
from airboss.entry.document import Task
from airboss.entry.tools import JOB_TOOLS
from airboss.model.ids import SessionId
from airboss.model.task_events import TaskDecided, TaskRetrying, ToolCall
from tests.engine.player import BORROWED, driving

PREFIXES = (
    *("[SESSION STARTED] ", "[SESSION CRASHED] ", "[AVAILABILITY] ", "[CRITERIA] "),
    *("[OPERATION] ", "[DECISION] ", "[TASK SUCCEEDED] ", "[TASK FAILED] ", "[MISC] "),
)
TEXT = st.sampled_from(
    ["", "go on", "$reported-document\n$user-input", "$reported-true-reason", "$nothing"]
)
PROMPT = TEXT.map(lambda text: (text,))
NAMES = st.lists(st.sampled_from(["design", "plan"]), max_size=2).map(tuple)
TOOLS = st.lists(st.sampled_from(JOB_TOOLS), max_size=4).map(tuple)

Parts = st.SearchStrategy[dict[str, Any]]
ACTION: Parts = st.fixed_dictionaries(
    {"retry_times": st.integers(0, 3), "additional_prompt": st.none() | PROMPT}
)
CRITERIA: Parts = st.fixed_dictionaries(
    {
        "tool_executed": st.none() | TOOLS,
        "condition": st.none() | PROMPT,
        "run_condition_in_same_session": st.none() | st.booleans(),
        "failure_action": ACTION,
    }
)
AVAILABILITY: Parts = st.fixed_dictionaries(
    {"previous_tasks": st.none() | NAMES, "condition": st.none() | PROMPT}
)
TASKS = st.fixed_dictionaries(
    {
        "prompt": PROMPT,
        "require_user_input": st.just(value=False),
        "availability": st.none() | AVAILABILITY,
        "criteria": st.none() | CRITERIA,
    }
).map(Task.model_validate)
BUDGETS = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 7)), min_size=1, max_size=3)
PLANS = st.builds(
    TaskPlan,
    name=st.just("build"),
    task=TASKS,
    task_model=st.just("coder"),
    driving_model=st.just("driver"),
    driving_retries=st.none() | BUDGETS.map(lambda budgets: driving(*budgets)),
    user_input=TEXT,
    borrowed=st.none() | st.just(BORROWED),
    checks_availability=st.booleans(),
    previous_tasks=NAMES,
    rules=st.sampled_from([1, 2]),
)
CALLS = st.lists(st.builds(ToolCall, tool=st.sampled_from(JOB_TOOLS), argument=TEXT), max_size=3)
# How an attempt goes: rarely refused, since that is the end.
LUCK = st.one_of(
    CALLS.map(lambda calls: Done(tuple(calls))),
    CALLS.map(lambda calls: Done(tuple(calls))),
    st.builds(Crashed, TEXT),
    st.integers(0, 9).map(lambda dice: Crashed("gone") if dice else ActRefused("no")),
)

Told = list[tuple[Act, Answer]]


def end(plan: TaskPlan, luck: list[Done | Crashed | ActRefused]) -> tuple[Told, Verdict]:
    """Every attempt meets the luck that is next; when it has run out it begins anew."""
    told: Told = []
    sequence = run_task(plan)
    answer: Answer = None
    met = 0
    while True:
        try:
            act = sequence.send(answer)
        except StopIteration as over:
            return told, over.value
        answer = None
        if isinstance(act, OpenAct | Put):
            answer = luck[met % len(luck)]
            met += 1
        if isinstance(act, OpenAct) and isinstance(answer, Done):
            answer = Opened(SessionId(f"ses_{met}"))
        told.append((act, answer))


def replay(plan: TaskPlan, told: Told) -> tuple[list[Act], Verdict | None]:
    sequence = run_task(plan)
    acts = [next(sequence)]
    try:
        for _, answer in told:
            acts.append(sequence.send(answer))
    except StopIteration as over:
        return acts, over.value
    return acts, None


@settings(max_examples=400, deadline=None)
@given(PLANS, st.lists(LUCK, min_size=1, max_size=12))
def test_a_sequence_ends_and_keeps_its_promises(
    plan: TaskPlan, luck: list[Done | Crashed | ActRefused]
) -> None:
    told, verdict = end(plan, luck)
    acts = [act for act, _ in told]
    assert replay(plan, told) == (acts, verdict)
    sessions_are_closed_once(plan, told)
    budgets_are_kept(plan, acts)
    words_are_in_order(acts, verdict)


def sessions_are_closed_once(plan: TaskPlan, told: Told) -> None:
    """Those that were opened, one at a time, and none is used before or after."""
    session = plan.borrowed
    for act, answer in told:
        if isinstance(act, OpenAct):
            assert session is None
            session = answer.session if isinstance(answer, Opened) else None
        elif isinstance(act, Put):
            assert act.session == session
        elif isinstance(act, Close):
            assert act.session == session
            assert plan.borrowed is None
            session = None
    assert session == plan.borrowed


def budgets_are_kept(plan: TaskPlan, acts: list[Act]) -> None:
    missions = [act.mission for act in acts if isinstance(act, Put)]
    criteria = plan.task.criteria
    retries = criteria.failure_action.retry_times if criteria else 0
    assert all(mission.round <= retries for mission in missions)
    retried = [
        act.event for act in acts if isinstance(act, Tell) and isinstance(act.event, TaskRetrying)
    ]
    assert [retry.retry for retry in retried] == [*range(1, len(retried) + 1)]
    assert len(retried) <= retries
    several = criteria is not None and criteria.run_condition_in_same_session is False
    tries = sum(given.retries for given in plan.driving_retries or ())
    sent = Counter((mission.kind, mission.round) for mission in missions)
    for (kind, _), times in sent.items():
        if plan.borrowed:
            assert times == 1
        elif several and kind != "prompt" and plan.driving_retries is not None:
            assert times <= tries
        else:
            assert times <= 5


def words_are_in_order(acts: list[Act], verdict: Verdict) -> None:
    """Each decision has one prefix, and the last of all acts says how the task ended."""
    events = [act.event for act in acts if isinstance(act, Tell)]
    said = [event.text for event in events if isinstance(event, TaskDecided)]
    assert all(text.startswith(PREFIXES) for text in said)
    ends = [text for text in said if text.startswith(("[TASK SUCCEEDED] ", "[TASK FAILED] "))]
    outcome = "SUCCEEDED" if verdict.succeeded else "FAILED"
    assert ends == [f"[TASK {outcome}] {verdict.reason}"]
    last = acts[-1]
    assert isinstance(last, Tell)
    assert last.event == TaskDecided(text=ends[0])
