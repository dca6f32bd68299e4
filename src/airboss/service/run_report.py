"""A run as a report: what it was for, what came of it, why, and what to do next."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airboss.engine.conclusions import conclude, first_paragraph, said_in
from airboss.log.log import EventLog
from airboss.model.ids import SessionId, TaskRunId
from airboss.model.run_titles import clipped
from airboss.model.runs import RunView, WorkRecord
from airboss.model.task_events import TaskChecked
from airboss.model.task_runs import Attempt, FieldCheck, TaskRunStory, tell_story
from airboss.model.usage import Usage
from airboss.service.report_parts import CheckWords, LineState, Report, TaskLine, TriedAttempt
from airboss.service.report_words import FailedTask, next_steps, outcome_sentence
from airboss.service.run_changes import RunDiff, diff_of_run
from airboss.service.run_decisions import decisions_of
from airboss.service.run_facts import RunFacts, read_facts
from airboss.service.runs import Runs

if TYPE_CHECKING:
    from airboss.entry.work_places import Decider, WorkPlace

_TASK_EVENTS: Final = 1_000
_LONGEST_CHECK: Final = 240
_MOST_TRIED: Final = 20
# Runs of earlier versions told no conclusions: of so many tasks they are looked for.
_MOST_LOOKED_FOR: Final = 200
_KEPT: Final = 16


@dataclass(frozen=True)
class ReportedRun:
    """A report with what it was made from."""

    facts: RunFacts
    diff: RunDiff
    report: Report


@dataclass
class RunReports:
    """Of runs that have ended the last ones are kept: nothing of them changes any more."""

    runs: Runs
    _kept: "OrderedDict[tuple[str, int], ReportedRun]" = field(
        default_factory=lambda: OrderedDict[tuple[str, int], ReportedRun]()
    )

    @property
    def log(self) -> EventLog:
        return self.runs.log

    async def report(self, run: str) -> Report:
        return (await self.read(run)).report

    async def read(self, run: str) -> ReportedRun:
        view = await self.runs.show(run)
        key = (view.id, view.seq)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = await self._make(view)
        if view.is_over:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    async def _make(self, view: RunView) -> ReportedRun:
        entry = await self.runs.entries.by_digest(view.entry)
        facts = await read_facts(self.log, view, entry)
        failed, words = await _failed_task(self.log, facts)
        lines = await _lines(self.log, facts)
        diff = await diff_of_run(self.log, facts, self.runs.redactor)
        for_person = sum(times.for_person_ms for times in facts.times.values())
        report = Report(
            id=view.id,
            seq=view.seq,
            job=view.job,
            title=view.short_title,
            state=view.state,
            input=facts.story.user_input,
            folder=view.cwd,
            who=view.who,
            tags=view.tags,
            models=list(dict.fromkeys(one.model for one in facts.sessions)),
            started_at=view.created_at,
            ended_at=view.ended_at,
            took_ms=max(0, facts.now - view.created_at),
            waited_for_person_ms=for_person,
            worked_ms=view.worked_until(facts.now),
            task_runs=view.task_runs,
            usage=view.usage,
            attempt=view.attempt,
            again=view.again,
            outcome=outcome_sentence(facts, lines, failed),
            words=words,
            tried=await _tried(self.log, failed),
            next=next_steps(facts, lines, failed),
            tasks=lines,
            changes=diff.summary,
            decisions=await decisions_of(self.log, facts),
        )
        return ReportedRun(facts, diff, report)


async def _failed_task(
    log: EventLog, facts: RunFacts
) -> tuple[FailedTask | None, CheckWords | None]:
    work = facts.culprit
    if work is None:
        return None, None
    said = await log.after(work.task_run, 0, _TASK_EVENTS)
    failed = [
        (recorded, recorded.event)
        for recorded in said
        if isinstance(recorded.event, TaskChecked) and not recorded.event.holds
    ]
    story = tell_story(said)
    if not failed:
        return FailedTask(work, story, None), None
    recorded, check = failed[-1]
    words = CheckWords(
        task=facts.name(work),
        task_run=work.task_run,
        field=check.field,
        attempt=check.round + 1,
        at=recorded.at,
        seq=recorded.seq,
        text=check.reason,
    )
    looked = FieldCheck(at=recorded.at, **check.model_dump(exclude={"kind"}))
    return FailedTask(work, story, looked), words


async def _tried(log: EventLog, failed: FailedTask | None) -> list[TriedAttempt]:
    if failed is None:
        return []
    sent = [one for one in failed.story.attempts if one.mission.kind == "prompt"]
    found: list[TriedAttempt] = []
    for number, attempt in list(enumerate(sent, start=1))[-_MOST_TRIED:]:
        following = sent[number].started_at if number < len(sent) else failed.work.ended_at
        found.append(
            TriedAttempt(
                attempt=number,
                session=attempt.session,
                said=await said_in(log, attempt) or attempt.reason or "",
                check=_check_of(failed.story, attempt),
                milliseconds=max(0, (following or attempt.started_at) - attempt.started_at),
                requests=attempt.usage.whole_requests,
            )
        )
    return found


def _check_of(story: TaskRunStory, attempt: Attempt) -> str:
    """What the checks behind this attempt said: those of its round that did not hold."""
    if attempt.outcome != "done":
        return ""
    unmet = [
        check
        for check in story.checks
        if check.round == attempt.mission.round
        and not check.holds
        and check.field.startswith("criteria")
    ]
    return clipped(" ".join(first_paragraph(check.reason) for check in unmet), _LONGEST_CHECK)


async def _lines(log: EventLog, facts: RunFacts) -> list[TaskLine]:
    sessions: dict[str, str] = {}
    for opened in facts.sessions:
        sessions[opened.task_run] = opened.session
    lines: list[TaskLine] = []
    looked_for = 0
    for place in facts.places:
        executions = facts.by_work.get(place.work, [])
        if not executions:
            lines.append(_unrun(facts, place))
            continue
        last = executions[-1]
        conclusion = last.conclusion
        if not conclusion and last.ended_at and looked_for < _MOST_LOOKED_FOR:
            looked_for += 1
            conclusion = await conclude(log, last.task_run)
        session = sessions.get(last.task_run)
        lines.append(_line(facts, place, executions, conclusion, session))
    return lines


def _line(
    facts: RunFacts,
    place: "WorkPlace",
    executions: list[WorkRecord],
    conclusion: str,
    session: str | None,
) -> TaskLine:
    last = executions[-1]
    usage = Usage()
    for one in executions:
        usage += one.usage
    times = [facts.times[one.task_run] for one in executions]
    return TaskLine(
        work=place.work,
        name=facts.name(last) if last.state == "failed" else place.name,
        task=place.task,
        state=last.state,
        conclusion=conclusion or _said_nothing(last),
        is_condition=place.is_condition,
        answer=_answer(last) if place.is_condition else None,
        task_run=TaskRunId(last.task_run),
        session=SessionId(session) if session else None,
        rounds=len(executions),
        attempts=len(last.retried_at) + 1,
        worked_ms=sum(facts.worked_ms(one) for one in executions),
        waited_for_person_ms=sum(one.for_person_ms for one in times),
        usage=usage,
    )


def _said_nothing(work: WorkRecord) -> str:
    if work.ended_at is None:
        return f"Waiting for {work.waits_for}." if work.waits_for else ""
    return "Was stopped." if work.state == "canceled" else "Ended without a message."


def _answer(work: WorkRecord) -> bool | None:
    if work.unasked or work.state not in ("succeeded", "failed"):
        return None
    return work.state == "succeeded"


def _unrun(facts: RunFacts, place: "WorkPlace") -> TaskLine:
    state, why = _why_unrun(facts, place)
    return TaskLine(
        work=place.work,
        name=place.name,
        task=place.task,
        state=state,
        conclusion=why,
        is_condition=place.is_condition,
    )


def _why_unrun(facts: RunFacts, place: "WorkPlace") -> tuple[LineState, str]:
    for decider in place.deciders:
        said = _said_by(facts, decider)
        if said is not None and said is not decider.says:
            asked = facts.place_of[decider.works[-1]].name
            return "not-needed", f"Not run, because {asked} was {str(said).lower()}."
    if facts.view.is_open:
        return "not-yet", "Not yet."
    if facts.culprit is not None:
        verb = "could not be checked" if facts.culprit.unasked else "failed"
        return "not-run", f"Not run, because {facts.name(facts.culprit)} {verb}."
    return "not-run", "Not run, because the run had ended."


def _said_by(facts: RunFacts, decider: "Decider") -> bool | None:
    """What a condition came to, by all of its works; None where it was not asked to the end."""
    answers = [
        _answer(executions[-1]) for work in decider.works if (executions := facts.by_work.get(work))
    ]
    if False in answers:
        return False
    return True if len(answers) == len(decider.works) and all(answers) else None
