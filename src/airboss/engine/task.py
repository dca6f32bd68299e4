"""The rules of running a task: a sequence of acts that depends on their answers alone.

No I/O, no clock, no chance: a durable engine plays it again with the answers that it has kept.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, Literal

from airboss.engine import checks, decisions
from airboss.engine.acts import Act, Acts, Answer, OpenAct, tell
from airboss.engine.missions import (
    CRASHES,
    BorrowedCrashed,
    Exhausted,
    Missions,
    NotRepeated,
    Stopped,
    TaskFailed,
    Tries,
    Unasked,
)
from airboss.entry.document import DrivingRetry, Prompt, Task
from airboss.entry.prompts import (
    REPORTED_DOCUMENT,
    REPORTED_FALSE_REASON,
    REPORTED_TRUE_REASON,
    TASK_MODEL,
    USER_INPUT,
    expand_dynamic,
)
from airboss.entry.tools import (
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    PREPARE_DOCUMENT,
    PREREQUISITE_FAILED,
)
from airboss.model.ids import SessionId
from airboss.model.task_events import MissionKind, TaskChecked, TaskRetrying, ToolCall

# One more whenever the same answers lead to other acts, or to the same ones in another order. A
# task under way goes on by the rules that it began with. Version 1 told of a mission before it
# opened the session for it.
RULES: Final = 2


@dataclass(frozen=True)
class TaskPlan:
    """All that a run of a task depends on, beside the answers to its acts."""

    name: str
    # Its prompts are expanded: each is one string.
    task: Task
    task_model: str
    driving_model: str
    driving_retries: tuple[DrivingRetry, ...] | None
    user_input: str
    borrowed: SessionId | None
    checks_availability: bool
    # Those that ended last on the path to this one; several after a `Par`.
    previous_tasks: tuple[str, ...]
    rules: int = RULES


@dataclass(frozen=True)
class Verdict:
    succeeded: bool
    reason: str
    # Where it failed: something could not be asked, so that it has said neither yes nor no.
    unasked: bool = False


@dataclass(frozen=True)
class _Unmet:
    """Why the criteria do not hold after a round: empty where they do."""

    reason: str
    unasked: bool = False


def run_task(plan: TaskPlan) -> Generator[Act, Answer, Verdict]:
    """Yields what is to be done, takes how it went, and returns what came of the task.

    When it is closed it does nothing more: who stops a task also stops its sessions.
    """
    run = _Run(plan)
    try:
        verdict = Verdict(succeeded=True, reason=(yield from run.work()))
    except TaskFailed as failed:
        troubles = () if isinstance(failed, Stopped) else run.missions.troubles
        reason = decisions.with_troubles(failed.reason, troubles)
        verdict = Verdict(succeeded=False, reason=reason, unasked=failed.unasked)
    yield from run.missions.close(succeeded=verdict.succeeded)
    yield from tell(decisions.ended(verdict.reason, succeeded=verdict.succeeded))
    return verdict


class _Run:
    """One run of a task: its missions, what its tools reported, and what was missing last."""

    def __init__(self, plan: TaskPlan) -> None:
        self._plan = plan
        self._task = plan.task
        self._criteria = plan.task.criteria
        self._retries = self._criteria.failure_action.retry_times if self._criteria else 0
        self._values = {TASK_MODEL: plan.task_model}
        if plan.user_input:
            self._values[USER_INPUT] = plan.user_input
        # Of the last round that was checked: one that crashed says nothing about its tools.
        self._missing: tuple[str, ...] = ()
        self.missions = _missions(plan, self._retries)

    def work(self) -> Acts[str]:
        """Why the task succeeded. Raises `TaskFailed`."""
        yield from self._check_availability()
        unmet = yield from self._round(0)
        retry = 0
        while unmet.reason and retry < self._retries:
            retry += 1
            unmet = yield from self._retry(retry, unmet)
        after = decisions.counted_retries(retry) if retry else ""
        if unmet.reason:
            reason = f"After {after}: {unmet.reason}" if after else unmet.reason
            raise Unasked(reason) if unmet.unasked else TaskFailed(reason)
        if self._criteria is None:
            return "The prompt was done."
        return f"The criteria hold after {after}." if after else "The criteria hold."

    def _check_availability(self) -> Acts[None]:
        given = self._task.availability
        if given is None or not self._plan.checks_availability:
            return
        if given.previous_tasks is not None:
            ended = self._plan.previous_tasks
            check = checks.check_previous_tasks(given.previous_tasks, ended)
            yield from self._tell(check)
            yield from self._require(check)
        if given.condition is not None:
            yield from self._require((yield from self._ask("availability", given.condition, 0)))

    def _ask(
        self, of: Literal["availability", "criteria"], condition: Prompt, retry: int
    ) -> Acts[TaskChecked]:
        """What a condition comes to. Raises `TaskFailed` where nothing may be tried any more."""
        try:
            calls = yield from self._put(of, retry, self._expand(condition))
        except Unasked as unasked:
            check = checks.check_unasked(of, condition, unasked.reason, retry)
            is_last = isinstance(unasked, BorrowedCrashed | NotRepeated)
        else:
            check, is_last = checks.check_condition(of, condition, calls, retry), False
        yield from self._tell(check)
        if is_last:
            raise Unasked(decisions.unmet(check))
        return check

    def _require(self, check: TaskChecked) -> Acts[None]:
        if check.unasked:
            raise Unasked(decisions.unmet(check))
        if not check.holds:
            yield from tell(decisions.not_available(check.reason))
            raise TaskFailed(decisions.unmet(check))

    def _round(self, retry: int) -> Acts[_Unmet]:
        calls = yield from self._put("prompt", retry, self._text(retry))
        for call in calls:
            if call.tool == PREREQUISITE_FAILED:
                yield from tell(decisions.prerequisite_failed(call.argument))
        criteria = self._criteria
        if criteria is None:
            return _Unmet("")
        done: list[TaskChecked] = []
        if criteria.tool_executed is not None:
            self._missing = checks.missing_tools(criteria.tool_executed, calls)
            done.append(checks.check_tools(criteria.tool_executed, self._missing, retry))
            yield from self._tell(done[-1])
        if criteria.condition is not None:
            done.append((yield from self._ask("criteria", criteria.condition, retry)))
        return _Unmet(
            " ".join(decisions.unmet(check) for check in done if not check.holds),
            unasked=any(check.unasked for check in done),
        )

    def _retry(self, number: int, why: _Unmet) -> Acts[_Unmet]:
        retrying = TaskRetrying(
            retry=number, of=self._retries, reason=why.reason, unasked=why.unasked
        )
        yield from tell(retrying)
        yield from tell(decisions.retrying(retrying))
        try:
            return (yield from self._round(number))
        except Exhausted as exhausted:
            reason = exhausted.reason
        yield from tell(decisions.retry_spent(retrying, reason))
        return _Unmet(reason, unasked=True)

    def _text(self, retry: int) -> str:
        lines = [self._expand(self._task.prompt)]
        if retry and self._missing:
            lines.append(f"## Required Tool Not Called: {', '.join(self._missing)}")
        more = self._criteria.failure_action.additional_prompt if self._criteria else None
        if retry and more is not None:
            lines += ["## You accidentally Stopped", self._expand(more)]
        return "\n".join(lines)

    def _expand(self, prompt: Prompt) -> str:
        return expand_dynamic(prompt, self._values)

    def _put(self, kind: MissionKind, retry: int, text: str) -> Acts[tuple[ToolCall, ...]]:
        calls = yield from self.missions.run(kind, retry, text)
        for call in calls:
            self._remember(call)
        return calls

    def _remember(self, call: ToolCall) -> None:
        if call.tool == PREPARE_DOCUMENT:
            self._values[REPORTED_DOCUMENT] = call.argument.partition("\n")[0].strip()
        elif call.tool == BOOLEAN_TRUE:
            self._values[REPORTED_TRUE_REASON] = call.argument
            self._values.pop(REPORTED_FALSE_REASON, None)
        elif call.tool == BOOLEAN_FALSE:
            self._values[REPORTED_FALSE_REASON] = call.argument
            self._values.pop(REPORTED_TRUE_REASON, None)

    def _tell(self, check: TaskChecked) -> Acts[None]:
        yield from tell(check)
        yield from tell(decisions.checked(check))


def _missions(plan: TaskPlan, retries: int) -> Missions:
    """Which sessions the missions are put to, and how often each is tried."""
    criteria = plan.task.criteria
    opens_first, plans = plan.rules > 1, bool(plan.task.plan)
    unsafe = plan.task.on_unsafe_retry or "retry"
    if plan.borrowed is not None:
        one = Tries(((plan.borrowed, 1),))
        return Missions(one, one, True, retries, opens_first, plans)
    if criteria is None or criteria.run_condition_in_same_session is not False:
        own = Tries(((OpenAct(plan.task_model, is_driving=True), CRASHES),))
        return Missions(own, own, True, retries, opens_first, plans, unsafe)
    driving = [(plan.driving_model, CRASHES)]
    if plan.driving_retries is not None:
        driving = [(given.model_id, given.retries) for given in plan.driving_retries]
    return Missions(
        prompt=Tries(((OpenAct(plan.task_model, is_driving=False), CRASHES),)),
        condition=Tries(
            tuple((OpenAct(model, is_driving=True), tries) for model, tries in driving)
        ),
        keeps=False,
        retries=retries,
        opens_first=opens_first,
        plans=plans,
        on_unsafe_retry=unsafe,
    )
