"""What a task is accepted with: by its run, by its entry, or by whoever started it by itself."""

from typing import Any

import pytest

from airboss.engine.accepted_task import accept_task
from airboss.engine.task import TaskPlan
from airboss.engine.walk import ROOT, RunTask, only_task, tree_of
from airboss.entry.build import ref, seq
from airboss.entry.document import Entry, Job, Model, Ref, Task
from airboss.entry.validate import validate_entry
from airboss.errors import NotFound
from airboss.model.ids import RunId, SessionId
from airboss.model.run_events import LoneTask, RunAccepted
from airboss.model.runs import LoneRunView, RunView, begin_run
from tests.engine.player import BORROWED
from tests.entry.example import entry as written

RUN, LONE = RunId("run_1"), RunId("lon_1")
STEP = RunTask("0.1", Ref(task_id="it", model_override=Model(category="coding")), ("plan",))


def entry(**more: Any) -> Entry:
    task = Task(prompt=("Do it.",), require_user_input=False, **more)
    return Entry(
        models={"driving": "driver", "coding": "coder"},
        prompt_variables={},
        tasks={"it": task},
        jobs={"deliver": Job(work=seq(ref("it"), ref("it")))},
        grid=(),
    )


def run(*, trusted: bool = False) -> RunView:
    accepted = RunAccepted(
        job="deliver", entry="digest", cwd="/work", user_input="", who="me", trusted=trusted
    )
    return begin_run(RUN, 1, 1, accepted)


def lone(**more: Any) -> LoneRunView:
    task = LoneTask(task="it", user_input="x", **more)
    accepted = RunAccepted(job="", entry="digest", cwd="/work", user_input="", who="me", lone=task)
    view = begin_run(LONE, 1, 1, accepted)
    assert isinstance(view, LoneRunView)
    return view


def test_a_task_of_a_job_belongs_to_its_run_and_knows_what_ended_before() -> None:
    accepted = accept_task(run(), entry(), STEP, "Please.", "ask")
    said = accepted.event
    assert (said.run, said.path, said.own_run, said.who) == (RUN, "0.1", None, "run run_1")
    assert (said.model, said.user_input, said.previous_tasks) == ("coder", "Please.", ("plan",))
    assert (accepted.plan.task_model, accepted.plan.borrowed) == ("coder", None)
    assert said.rules == accepted.plan.rules


def test_a_task_by_itself_belongs_to_nobody_and_keeps_what_it_was_started_with() -> None:
    view = lone(model="other", session=SessionId("ses_1"), policy="approve-all",
                checks_availability=False)  # fmt: skip
    step = only_task(LONE, tree_of(view, entry()))
    assert step.path == ROOT
    accepted = accept_task(view, entry(), step, "x", "read-only")
    said = accepted.event
    assert (said.run, said.path, said.own_run, said.who) == (None, None, LONE, "me")
    assert (said.session, said.model, said.checks_availability) == ("ses_1", "other", False)
    # That of the session which was lent; sessions of its own get what the entry may have.
    assert (said.policy, accepted.policy) == ("approve-all", "read-only")


@pytest.mark.parametrize(("trusted", "granted"), [(False, "read-only"), (True, "approve-all")])
def test_only_a_trusted_entry_widens_what_the_server_allows(trusted: bool, granted: str) -> None:
    given = entry(permissions="approve-all")
    accepted = accept_task(run(trusted=trusted), given, STEP, "", "read-only")
    assert (accepted.policy, accepted.event.policy) == (granted, granted)


def test_only_a_run_of_one_task_is_taken_for_one() -> None:
    with pytest.raises(TypeError, match="run_1 is no run of one task"):
        only_task(RUN, tree_of(run(), entry()))


# The plan


def planned(name: str, override: str | None = None, **bend: Any) -> TaskPlan:
    view = lone(session=BORROWED, checks_availability=False)
    step = RunTask(ROOT, ref(name, model=override), ("plan",))
    return accept_task(view, validate_entry({**written(), **bend}), step, "it", "ask").plan


@pytest.mark.parametrize(
    ("name", "override", "model"),
    [
        ("plan", None, "gpt-5.2"),
        ("build", None, "gpt-4.1"),
        ("check", None, "gpt-4.1"),
        ("plan", "o3", "o3"),
        ("check", "o3", "o3"),
    ],
)
def test_a_plan_takes_the_override_then_the_model_of_the_task_then_the_driving_one(
    name: str, override: str | None, model: str
) -> None:
    assert planned(name, override).task_model == model


def test_a_plan_has_all_that_a_run_depends_on() -> None:
    retries = [{"modelId": "gpt-4.1", "retries": 2}]
    made = planned("build", drivingSessionRetries=retries)
    loaded = validate_entry({**written(), "drivingSessionRetries": retries})
    assert made == TaskPlan(
        name="build",
        task=loaded.tasks["build"],
        task_model="gpt-4.1",
        driving_model="gpt-4.1",
        driving_retries=loaded.driving_session_retries,
        user_input="it",
        borrowed=BORROWED,
        checks_availability=False,
        previous_tasks=("plan",),
    )


def test_a_task_that_the_entry_does_not_have_cannot_be_planned() -> None:
    with pytest.raises(NotFound, match=r"There is no task nope\."):
        planned("nope")
