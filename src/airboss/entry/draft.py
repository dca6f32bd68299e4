"""An entry that somebody is writing: its mistakes with repairs, and the charts of those jobs that
can be drawn although others cannot."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError

from airboss.entry.bounds import Ungranted, UngrantedWish, ungranted
from airboss.entry.chart import generate_chart_nodes
from airboss.entry.document import Policy, Work
from airboss.entry.found import MOST_VIOLATIONS
from airboss.entry.load import Format, LookedThrough, look_through
from airboss.entry.repairs import with_repairs
from airboss.entry.shape import MAX_PARTS, TooManyParts, measure
from airboss.entry.validate import fields
from airboss.entry.violations import (
    At,
    EntryInvalid,
    Repair,
    Violation,
    in_order_of_text,
    without_halves,
)
from airboss.entry.works import number, refs, simplify
from airboss.tuning import unsearched

# A page that draws more is of no use to anybody; jobs that come later have no chart.
MOST_NODES: Final = 20_000
_MOST_PARTS: Final = 500_000
BROKEN: Final = "no such task"
_WIDEST_FORBIDDEN: Final[Policy] = "deny-all"


@dataclass(frozen=True)
class DraftJob:
    """A job that can be drawn. A node whose task does not exist has `broken`."""

    name: str
    # The tree that the chart was drawn from: a page lays out by its nesting.
    work: dict[str, Any]
    chart: dict[str, Any]
    require_user_input: bool


@dataclass(frozen=True)
class Draft:
    """What is known of it. `requests` are all policies that a finished entry asks
    for, and all that it asks for its sessions beyond the usual."""

    violations: tuple[Violation, ...] = ()
    mistakes: int = 0
    tasks: tuple[str, ...] = ()
    jobs: tuple[DraftJob, ...] = ()
    requests: tuple[Ungranted, ...] = ()


def find_draft(content: bytes, form: Format, most_parts: int = MAX_PARTS) -> Draft:
    """Of what has more parts than that nothing is known: TooManyParts."""
    text = content.decode("utf-8-sig", "surrogatepass")
    with unsearched():
        try:
            looked = look_through(text, form, "", most_parts)
        except EntryInvalid as error:
            return _refused(error.violations)
        drawn = _drawn(looked.data)
        if entry := looked.checked.entry:
            return replace(drawn, requests=tuple(ungranted(entry, _WIDEST_FORBIDDEN)))
        found = _refused(_repaired(looked, text, form))
        return replace(found, tasks=drawn.tasks, jobs=drawn.jobs)


def _refused(violations: tuple[Violation, ...]) -> Draft:
    return Draft(tuple(in_order_of_text(violations)[:MOST_VIOLATIONS]), len(violations))


def _repaired(looked: LookedThrough, text: str, form: Format) -> tuple[Violation, ...]:
    found = looked.checked.violations
    return with_repairs(found, text, form, looked.source) if looked.source else found


def _drawn(data: object) -> Draft:
    try:
        measure(data, "", _MOST_PARTS)
    except (EntryInvalid, TooManyParts):
        return Draft()
    entry = fields(data)
    tasks = {name: fields(task) for name, task in _named(entry.get("tasks"))}
    jobs: list[DraftJob] = []
    left = MOST_NODES
    for name, job in _named(entry.get("jobs")):
        drawn = _job(name, fields(job).get("work"), tasks)
        left -= len(drawn.chart["nodes"]) if drawn else 0
        if drawn and left >= 0:
            jobs.append(drawn)
    return Draft(tasks=tuple(tasks), jobs=tuple(jobs))


def _named(value: object) -> Iterator[tuple[str, object]]:
    for name, part in fields(value).items():
        if isinstance(cast("object", name), str):
            yield without_halves(name), part


@cache
def _works() -> "TypeAdapter[Work]":
    return TypeAdapter(Work)


def _job(name: str, given: object, tasks: Mapping[str, Mapping[str, object]]) -> DraftJob | None:
    try:
        work = number(simplify(_works().validate_python(given, by_alias=True, by_name=False)))
        chart = generate_chart_nodes(work).to_wire()
    except (ValidationError, EntryInvalid):  # of a wrong shape, or with an empty group
        return None
    used = {ref.work_id_in_job: ref.task_id for ref in refs(work)}
    for node in chart["nodes"]:
        if isinstance(node["hint"], list) and used[node["hint"][1]] not in tasks:
            node["broken"] = BROKEN
    needs = (tasks.get(task, {}).get("requireUserInput") is True for task in used.values())
    return DraftJob(name, work.to_wire(), chart, any(needs))


# Over a pipe.


def written(draft: Draft) -> bytes:
    said = {
        "violations": [
            {**said.to_wire(), "repairs": [asdict(repair) for repair in said.repairs]}
            for said in draft.violations
        ],
        "mistakes": draft.mistakes,
        "tasks": draft.tasks,
        "jobs": [asdict(job) for job in draft.jobs],
        "requests": [_request(ask) for ask in draft.requests],
    }
    return json.dumps(said).encode()


def taken_up(output: bytes) -> Draft:
    said = cast("dict[str, Any]", json.loads(output))
    return Draft(
        violations=tuple(_violation(one) for one in said["violations"]),
        mistakes=said["mistakes"],
        tasks=tuple(said["tasks"]),
        jobs=tuple(DraftJob(**job) for job in said["jobs"]),
        requests=tuple(_ungranted(*ask) for ask in said["requests"]),
    )


def _request(ask: Ungranted) -> tuple[str, str, bool]:
    return ask.place.where, ask.wished, isinstance(ask, UngrantedWish)


def _ungranted(where: str, wished: str, is_wish: bool) -> Ungranted:
    if is_wish:
        return UngrantedWish(At(where), wished)
    return Ungranted(At(where), wished, _WIDEST_FORBIDDEN)


def _violation(said: dict[str, Any]) -> Violation:
    repairs = tuple(Repair(**repair) for repair in said.pop("repairs"))
    return Violation(**said, repairs=repairs)


def cleaned(draft: Draft, clean: Callable[[str], str]) -> Draft:
    """Without secrets. A repair that would bring one is left out."""

    def repairs(said: Violation) -> tuple[Repair, ...]:
        return tuple(
            repair
            for repair in said.repairs
            if clean(repair.text) == repair.text and clean(repair.title) == repair.title
        )

    body = json.dumps([draft.tasks, [asdict(job) for job in draft.jobs]])
    if (cleaned := clean(body)) != body:
        tasks, jobs = json.loads(cleaned)
        draft = replace(draft, tasks=tuple(tasks), jobs=tuple(DraftJob(**job) for job in jobs))
    violations = (replace(said, repairs=repairs(said)) for said in draft.violations)
    return replace(draft, violations=tuple(violations))
