"""The sentences of a report, by rule: no model writes any of them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from airboss.model.runs import WorkRecord
from airboss.model.task_runs import FieldCheck, TaskRunStory
from airboss.service.report_parts import NextStep, OutcomeSentence, TaskLine
from airboss.service.run_facts import RunFacts, round_of

_MOST_NAMED = 4


@dataclass(frozen=True)
class FailedTask:
    """The task that made a run fail, and what its last round was found wanting in."""

    work: WorkRecord
    story: TaskRunStory
    check: FieldCheck | None

    @property
    def attempts(self) -> int:
        return sum(1 for one in self.story.attempts if one.mission.kind == "prompt")


def outcome_sentence(
    facts: RunFacts, lines: Sequence[TaskLine], failed: FailedTask | None
) -> OutcomeSentence:
    match facts.view.state:
        case "succeeded":
            return _succeeded(lines)
        case "failed":
            return _failed(facts, lines, failed)
        case "canceled":
            return _canceled(facts, lines)
        case _:
            return _going(facts, lines)


def _succeeded(lines: Sequence[TaskLine]) -> OutcomeSentence:
    done = [line for line in lines if line.state == "succeeded"]
    said = [line.conclusion for line in done if line.conclusion and not line.is_condition]
    count = tasks(len(done))
    return OutcomeSentence(head="Succeeded.", text=said[-1] if said else f"{count} succeeded.")


def _failed(
    facts: RunFacts, lines: Sequence[TaskLine], failed: FailedTask | None
) -> OutcomeSentence:
    if failed is None:
        return OutcomeSentence(head="Failed.", text=facts.view.reason or "")
    number = round_of(failed.work.path)
    place = facts.place_of.get(failed.work.work)
    name = place.name if place else failed.work.task
    where = f" in round {number}" if number > 1 else ""
    what = "could not be checked" if failed.work.unasked else "failed"
    said = [_why(facts, failed), not_run(lines)]
    return OutcomeSentence(head=f"{name} {what}{where}.", text=" ".join(filter(None, said)))


def _why(facts: RunFacts, failed: FailedTask) -> str:
    check = failed.check
    if check is None or failed.work.unasked:
        return facts.view.reason or ""
    if check.field.startswith("availability"):
        return "Its availability condition is not met."
    if failed.attempts > 1:
        return f"Its check failed {failed.attempts} times, and no retries are left."
    return "Its check failed, and it has no retries."


def _canceled(facts: RunFacts, lines: Sequence[TaskLine]) -> OutcomeSentence:
    cut = [line.name for line in lines if line.state == "canceled"]
    done = sum(1 for line in lines if line.state == "succeeded")
    worked = f"{named(cut)} {'was' if len(cut) == 1 else 'were'} running. " if cut else ""
    text = f"{worked}{done} of {tasks(len(lines))} had succeeded and are kept."
    return OutcomeSentence(head=facts.view.reason or "Stopped.", text=text)


def _going(facts: RunFacts, lines: Sequence[TaskLine]) -> OutcomeSentence:
    done = sum(1 for line in lines if line.state in ("succeeded", "failed"))
    at_work = [facts.name_of(work.task_run) for work in facts.view.running]
    for_person = [facts.name_of(work.task_run) for work in facts.view.running if work.for_person]
    count = f"{done} of {tasks(len(lines))} finished."
    if for_person:
        return OutcomeSentence(head=f"Waiting for you: {named(for_person)}.", text=count)
    if facts.view.waits_for:
        return OutcomeSentence(head=f"Waiting for {facts.view.waits_for}.", text=count)
    head = f"Working on {named(at_work)}." if at_work else "Starting."
    return OutcomeSentence(head=head, text=count)


def not_run(lines: Sequence[TaskLine]) -> str:
    missing = [line.name for line in lines if line.state == "not-run"]
    if not missing:
        return ""
    return f"{named(missing)} {'was' if len(missing) == 1 else 'were'} not run."


def next_steps(
    facts: RunFacts, lines: Sequence[TaskLine], failed: FailedTask | None
) -> list[NextStep]:
    """What a person may do now, what helps most first."""
    if facts.view.is_open:
        return (
            [NextStep(act="decide", words="The agent is waiting for your decision.")]
            if facts.view.state == "waiting-for-person"
            else []
        )
    again = NextStep(act="run-again", words="Start a new run with the same input.")
    if facts.view.state == "succeeded":
        compared = NextStep(
            act="compare", words="Compare it with another run to see where they differ."
        )
        return [again, compared]
    kept = sum(1 for line in lines if line.state == "succeeded")
    begins = f"{facts.name(failed.work)} runs again." if failed else "What was stopped runs again."
    stays = {0: "", 1: " The task that succeeded is kept."}.get(
        kept, f" The {tasks(kept)} that succeeded are kept."
    )
    retry = NextStep(act="retry", words=f"Continue this run: {begins}{stays}")
    steps = [retry]
    sent = [one for one in failed.story.attempts if one.mission.kind == "prompt"] if failed else []
    if sent:
        words = f"Read the whole conversation of attempt #{len(sent)}."
        steps.append(NextStep(act="open-session", words=words, session=sent[-1].session))
    return [*steps, again]


def named(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many only the first."""
    shown = list(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - _MOST_NAMED} others"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1] if shown else ""]))


def tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
