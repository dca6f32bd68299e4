"""Two runs side by side: where they parted, and what differs from there on."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from airboss.errors import Invalid
from airboss.log.log import EventLog
from airboss.model.redaction import Redactor
from airboss.model.run_titles import clipped
from airboss.model.runs import WorkRecord
from airboss.model.task_events import TaskChecked
from airboss.service.compare_parts import (
    CheckOutcome,
    ComparedCheck,
    ComparedFile,
    ComparedRun,
    ComparedStep,
    Comparison,
    Difference,
    LineCounts,
    StepOutcome,
)
from airboss.service.report_words import named
from airboss.service.run_changes import tree_places
from airboss.service.run_facts import RunFacts, round_of
from airboss.service.run_report import ReportedRun, RunReports
from airboss.store.git_trees import NotKept
from airboss.store.tree_diffs import TreePlace, list_differences, write_diff

_MOST_CHECKS: Final = 10_000
_MOST_LISTED: Final = 200
_MOST_DIFFS: Final = 20
_LONGEST_DIFF: Final = 100_000
_LONGEST_REASON: Final = 240
# Where the parts of a path come in walking order; all others are numbers.
_ORDER: Final = {"pre": -2, "cond": -2, "true": 0, "false": 0, "post": 10**9}


async def compare_runs(reports: RunReports, a: str, b: str) -> Comparison:
    if a == b:
        raise Invalid("Choose two different runs to compare.")
    one, other = await reports.read(a), await reports.read(b)
    steps = _steps(one, other)
    parted = next((step for step in steps if step.differs != "none"), None)
    checks, in_all = await _checks(reports.log, one, other)
    files, alike = await _files(one, other, reports.runs.redactor)
    same = _same(one, other)
    head, text = _words(parted, same)
    return Comparison(
        a=_run(one),
        b=_run(other),
        parted_at=parted.path if parted else None,
        head=head,
        text=text,
        same=same,
        steps=steps,
        checks=checks[:_MOST_LISTED],
        checks_in_all=in_all,
        files=files,
        files_alike=alike,
    )


def _run(read: ReportedRun) -> ComparedRun:
    report = read.report
    needed = [line for line in report.tasks if line.state != "not-needed"]
    return ComparedRun(
        id=report.id,
        job=report.job,
        title=report.title,
        state=report.state,
        folder=report.folder,
        who=report.who,
        models=report.models,
        started_at=report.started_at,
        took_ms=report.took_ms,
        worked_ms=report.worked_ms,
        task_runs=report.task_runs,
        waited_for_person_ms=report.waited_for_person_ms,
        usage=report.usage,
        tasks=len(needed),
        tasks_succeeded=sum(1 for line in needed if _is_done(line.state, line.answer)),
        files=len(report.changes.files),
        added=report.changes.added,
        removed=report.changes.removed,
    )


def _is_done(state: str, answer: bool | None) -> bool:
    """A condition that said no has done what it was for."""
    return state == "succeeded" or answer is not None


def _same(one: ReportedRun, other: ReportedRun) -> dict[str, bool]:
    a, b = one.report, other.report
    return {
        "input": a.input == b.input,
        "model": sorted(a.models) == sorted(b.models),
        "definition": (a.job, one.facts.view.entry) == (b.job, other.facts.view.entry),
        "folder": a.folder == b.folder,
    }


def _words(parted: ComparedStep | None, same: Mapping[str, bool]) -> tuple[str, str]:
    alike = [name for name, is_same in same.items() if is_same]
    unlike = [name for name, is_same in same.items() if not is_same]
    said: list[str] = []
    if alike:
        verb = "is" if len(alike) == 1 else "are"
        rest = f", the {named(unlike)} {'is' if len(unlike) == 1 else 'are'} not" if unlike else ""
        said.append(f"{named(alike).capitalize()} {verb} the same{rest}.")
    elif unlike:
        said.append(f"{named(unlike).capitalize()} differ.")
    if parted is None:
        return "No differences.", " ".join(["Every step had the same outcome.", *said])
    how = [_said("A", parted.a), _said("B", parted.b)]
    if parted.differs == "changes":
        how.insert(0, "The outcome is the same, but the changed files differ.")
    return f"They differ from {parted.name} on.", " ".join([*how, *said])


def _said(letter: str, step: StepOutcome | None) -> str:
    if step is None:
        return f"{letter} did not run it."
    said = {True: "said true", False: "said false", None: step.state}[step.answer]
    why = f": {step.conclusion}" if step.conclusion else "."
    return f"{letter} {said}{why}"


def _steps(one: ReportedRun, other: ReportedRun) -> list[ComparedStep]:
    a, b = _last_by_path(one.facts), _last_by_path(other.facts)
    paths = sorted({*a, *b}, key=walking_order)
    return [_step(path, a.get(path), b.get(path), one, other) for path in paths]


def _last_by_path(facts: RunFacts) -> dict[str, WorkRecord]:
    return {work.path: work for work in facts.story.works}


def walking_order(path: str) -> tuple[int, ...]:
    """What a loop asks before its body comes before it, what it asks behind it comes behind it."""
    parts = [_ORDER[part] if part in _ORDER else _number(part) for part in path.split(".")]
    return (*parts, 0)


def _number(part: str) -> int:
    digits = part.removeprefix("it")
    return int(digits) if digits.isdecimal() else 0


def _step(
    path: str,
    a: WorkRecord | None,
    b: WorkRecord | None,
    one: ReportedRun,
    other: ReportedRun,
) -> ComparedStep:
    named_by = _name(one.facts, a) if a else _name(other.facts, b) if b else ""
    return ComparedStep(
        path=path,
        name=named_by,
        a=_outcome(one.facts, a) if a else None,
        b=_outcome(other.facts, b) if b else None,
        differs=_difference(a, b, one, other),
    )


def _name(facts: RunFacts, work: WorkRecord) -> str:
    """With the round in every run: the other one may have had more of them."""
    place = facts.place_of.get(work.work)
    name, number = place.name if place else work.task, round_of(work.path)
    return f"{name} · round {number}" if number else name


def _outcome(facts: RunFacts, work: WorkRecord) -> StepOutcome:
    place = facts.place_of.get(work.work)
    ended = work.state in ("succeeded", "failed")
    asks = place is not None and place.is_condition and ended and not work.unasked
    return StepOutcome(
        state=work.state,
        answer=work.state == "succeeded" if asks else None,
        conclusion=work.conclusion,
        worked_ms=facts.worked_ms(work),
        after_ms=max(0, work.started_at - facts.view.created_at),
        attempts=len(work.retried_at) + 1,
        task_run=work.task_run,
        unasked=work.unasked,
    )


def _difference(
    a: WorkRecord | None, b: WorkRecord | None, one: ReportedRun, other: ReportedRun
) -> Difference:
    if a is None or b is None or (a.task, a.state, a.unasked) != (b.task, b.state, b.unasked):
        return "outcome"
    return "none" if _edits(one, a) == _edits(other, b) else "changes"


def _edits(read: ReportedRun, work: WorkRecord) -> dict[str, list[str]]:
    """The lines that a task changed, wherever in the file they stood."""
    files = read.diff.edits.by_task_run.get(work.task_run, {})
    return {
        path: [line for line in file.diff.splitlines()[2:] if line[:1] in ("+", "-")]
        for path, file in files.items()
    }


async def _checks(
    log: EventLog, one: ReportedRun, other: ReportedRun
) -> tuple[list[ComparedCheck], int]:
    """The last word of each check in each step: those that differ, and how many there are."""
    a, b = await _last_checks(log, one.facts), await _last_checks(log, other.facts)
    keys = sorted({*a, *b}, key=lambda key: (walking_order(key[0]), key[1]))
    differing: list[ComparedCheck] = []
    for key in keys:
        mine, theirs = a.get(key), b.get(key)
        if mine and theirs and (mine.holds, mine.attempt) == (theirs.holds, theirs.attempt):
            continue
        facts = one.facts if mine else other.facts
        name = _name(facts, _last_by_path(facts)[key[0]])
        differing.append(ComparedCheck(name=name, field=key[1], a=mine, b=theirs))
    return differing, len(keys)


async def _last_checks(log: EventLog, facts: RunFacts) -> dict[tuple[str, str], CheckOutcome]:
    paths: dict[str, str] = {work.task_run: work.path for work in facts.story.works}
    said = await log.among(list(paths), ["task.checked"], _MOST_CHECKS)
    found: dict[tuple[str, str], CheckOutcome] = {}
    for task_run, recorded in said:
        check = recorded.event
        if isinstance(check, TaskChecked):
            found[paths[task_run], check.field] = CheckOutcome(
                holds=check.holds,
                unasked=check.unasked,
                attempt=check.round + 1,
                reason=clipped(" ".join(check.reason.split()), _LONGEST_REASON),
            )
    return found


async def _files(
    one: ReportedRun, other: ReportedRun, redactor: Redactor
) -> tuple[list[ComparedFile], int]:
    """Of the files that either run changed, those that are not the same behind both."""
    a = {file.path: file for file in one.report.changes.files}
    b = {file.path: file for file in other.report.changes.files}
    paths = sorted({*a, *b})
    mine, theirs = tree_places(one.facts), tree_places(other.facts)
    differing = None
    diffs: dict[str, str] = {}
    if mine and theirs:
        found = await asyncio.to_thread(_between, mine[1], theirs[1], paths)
        differing, diffs = found if found else (None, {})
    if differing is None:
        differing = [path for path in paths if _diff_of(one, path) != _diff_of(other, path)]
    files: list[ComparedFile] = []
    for path in differing[:_MOST_LISTED]:
        clean = redactor.text(diffs.get(path, ""))
        counts = [
            LineCounts(added=f.added, removed=f.removed) if f else None
            for f in (a.get(path), b.get(path))
        ]
        files.append(
            ComparedFile(
                path=path,
                a=counts[0],
                b=counts[1],
                diff=clean[:_LONGEST_DIFF],
                cut=len(clean) > _LONGEST_DIFF,
            )
        )
    return files, len(paths) - len(differing)


def _between(
    before: TreePlace, after: TreePlace, paths: Sequence[str]
) -> tuple[list[str], dict[str, str]] | None:
    try:
        wanted = set(paths)
        found = [file for file in list_differences(before, after) if file.path in wanted]
        texts = [file.path for file in found if file.is_text][:_MOST_DIFFS]
        return [file.path for file in found], write_diff(before, after, texts)
    except NotKept:
        return None


def _diff_of(read: ReportedRun, path: str) -> str:
    return next((f.diff for f in read.diff.edits.whole.files if f.path == path), "")
