"""What a task of a run is accepted with: its plan, what it may do, and its first word."""

from dataclasses import dataclass

from airboss.engine.task import TaskPlan
from airboss.engine.task_setup import SaidOfTask
from airboss.engine.walk import RunTask
from airboss.entry.document import DRIVING, Entry, Model
from airboss.errors import NotFound
from airboss.model.policies import granted_policy
from airboss.model.runs import LoneRunView, RunView
from airboss.model.task_events import TaskAccepted
from airboss.settings import Policy


@dataclass(frozen=True)
class AcceptedTask:
    """A task that nothing was said of yet."""

    plan: TaskPlan
    # For sessions of its own.
    policy: Policy
    said: SaidOfTask
    event: TaskAccepted


def accept_task(
    view: RunView,
    entry: Entry,
    step: RunTask,
    user_input: str,
    server_policy: Policy,
    *,
    offers_cage: bool = False,
) -> AcceptedTask:
    """The same run and step are accepted with the same, whenever they are asked for. The entry has
    been validated."""
    task_id, lone = step.ref.task_id, view if isinstance(view, LoneRunView) else None
    if task_id not in entry.tasks:
        raise NotFound("task", task_id)
    task = entry.tasks[task_id]
    plan = TaskPlan(
        name=task_id,
        task=task,
        task_model=_model(entry, step.ref.model_override or task.model),
        driving_model=entry.model_id(DRIVING),
        driving_retries=entry.driving_session_retries,
        user_input=user_input,
        borrowed=lone.session if lone else None,
        checks_availability=lone.checks_availability if lone else True,
        previous_tasks=step.previous,
    )
    policy = granted_policy(
        server_policy,
        entry.permissions,
        task.permissions,
        trusted=view.trusted,
        offers_cage=offers_cage,
    )
    accepted = TaskAccepted(
        task=task_id,
        entry=view.entry,
        model=plan.task_model,
        cwd=view.cwd,
        policy=(lone and lone.policy) or policy,
        user_input=plan.user_input,
        who=lone.who if lone else f"run {view.id}",
        session=plan.borrowed,
        checks_availability=plan.checks_availability,
        run=None if lone else view.id,
        path=None if lone else step.path,
        own_run=view.id if lone else None,
        previous_tasks=step.previous,
        rules=plan.rules,
    )
    model = step.ref.model_override or task.model
    said = SaidOfTask(entry, task_id, model, view.trusted, view.cage)
    return AcceptedTask(plan, policy, said, accepted)


def _model(entry: Entry, given: Model | None) -> str:
    """Of a task's models the override holds, then its own."""
    if given is None:
        return entry.model_id(DRIVING)
    return entry.model_id(given.name) if given.id is None else given.id
