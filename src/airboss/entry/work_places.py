"""The tasks of a job as places in its tree, each with a name that no other one has."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from airboss.entry.document import Alt, Loop, Par, Ref, Seq, Work


@dataclass(frozen=True)
class Decider:
    """What decides whether a place is reached: works of a condition, and what they have to say."""

    works: tuple[int, ...]
    says: bool


@dataclass(frozen=True)
class WorkPlace:
    """A task of the job, in the order in which it is walked."""

    work: int
    task: str
    # As people know it: `lint · build-web` where there is another `lint`.
    name: str
    is_condition: bool = False
    in_loop: bool = False
    # The first task of the branch that it stands in, where it is not that itself.
    branch: str | None = None
    deciders: tuple[Decider, ...] = ()


def places_of(work: Work) -> list[WorkPlace]:
    places = list(_walk(work, WorkPlace(0, "", "")))
    return _told_apart(places)


def names_of(work: Work) -> dict[int, str]:
    return {place.work: place.name for place in places_of(work)}


def _walk(work: Work, inside: WorkPlace) -> Iterator[WorkPlace]:
    match work:
        case Ref():
            model = work.model_override
            name = f"{work.task_id} ({model.name})" if model else work.task_id
            number = work.work_id_in_job or 0
            branch = None if inside.branch == work.task_id else inside.branch
            yield replace(inside, work=number, task=work.task_id, name=name, branch=branch)
        case Seq():
            for part in work.works:
                yield from _walk(part, inside)
        case Par():
            for part in work.works:
                yield from _walk(part, replace(inside, branch=_first_task(part)))
        case Loop():
            yield from _walk_loop(work, replace(inside, in_loop=True))
        case Alt():
            asked = list(_walk(work.condition, replace(inside, is_condition=True)))
            yield from asked
            for says, chosen in ((True, work.true_work), (False, work.false_work)):
                if chosen is not None:
                    yield from _walk(chosen, _behind(inside, asked, says=says))


def _walk_loop(loop: Loop, inside: WorkPlace) -> Iterator[WorkPlace]:
    body = inside
    if loop.pre_condition is not None:
        says, condition = loop.pre_condition
        asked = list(_walk(condition, replace(inside, is_condition=True)))
        yield from asked
        body = _behind(inside, asked, says=says)
    yield from _walk(loop.body, body)
    if loop.post_condition is not None:
        yield from _walk(loop.post_condition[1], replace(body, is_condition=True))


def _behind(inside: WorkPlace, asked: list[WorkPlace], *, says: bool) -> WorkPlace:
    decider = Decider(tuple(place.work for place in asked), says)
    return replace(inside, deciders=(*inside.deciders, decider))


def _first_task(work: Work) -> str | None:
    match work:
        case Ref():
            return work.task_id
        case Seq() | Par():
            return _first_task(work.works[0]) if work.works else None
        case Loop():
            return _first_task(work.pre_condition[1] if work.pre_condition else work.body)
        case Alt():
            return _first_task(work.condition)


def _told_apart(places: list[WorkPlace]) -> list[WorkPlace]:
    """By the branch that each stands in, or else by a number."""
    same = Counter(place.name for place in places)
    named = [
        replace(place, name=f"{place.name} · {place.branch}")
        if same[place.name] > 1 and place.branch
        else place
        for place in places
    ]
    still = Counter(place.name for place in named)
    numbers = {name: count(1) for name, times in still.items() if times > 1}
    return [
        replace(place, name=f"{place.name} · {next(numbers[place.name])}")
        if place.name in numbers
        else place
        for place in named
    ]
