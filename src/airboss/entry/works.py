"""Trees of works: made simple, numbered, walked. What a task is, is not known here."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final, TypeAlias, TypeVar, cast

from airboss.entry.document import Alt, Loop, Par, Ref, Seq, Work
from airboss.entry.violations import At

Group = TypeVar("Group", Seq, Par)
Raw: TypeAlias = Mapping[str, object]
GROUPS: Final = ("Seq", "Par")


def flat(kind: type[Group], works: Sequence[Work]) -> tuple[Work, ...]:
    """The works of a group, with those of the same kind directly inside it put in their place."""
    found: list[Work] = []
    for work in works:
        if isinstance(work, kind):
            found += flat(kind, work.works)
        else:
            found.append(work)
    return tuple(found)


def simplify(work: Work) -> Work:
    """Without a `Seq` directly inside a `Seq`, or a `Par` inside a `Par`, at any depth."""
    match work:
        case Ref():
            return work
        case Seq():
            return Seq(works=tuple(simplify(part) for part in flat(Seq, work.works)))
        case Par():
            return Par(works=tuple(simplify(part) for part in flat(Par, work.works)))
        case Loop(pre_condition=before, body=body, post_condition=after):
            return Loop(
                pre_condition=(before[0], simplify(before[1])) if before else None,
                body=simplify(body),
                post_condition=(after[0], simplify(after[1])) if after else None,
            )
        case Alt(condition=condition, true_work=yes, false_work=no):
            return Alt(
                condition=simplify(condition),
                true_work=simplify(yes) if yes else None,
                false_work=simplify(no) if no else None,
            )


def number(work: Work, numbers: Iterator[int] | None = None) -> Work:
    """With its `Ref`s numbered from 0: left to right; in a loop the conditions before the body."""
    numbers = numbers or count()
    match work:
        case Ref():
            return work.model_copy(update={"work_id_in_job": next(numbers)})
        case Seq() | Par():
            return type(work)(works=tuple(number(part, numbers) for part in work.works))
        case Loop(pre_condition=before, body=body, post_condition=after):
            first = (before[0], number(before[1], numbers)) if before else None
            last = (after[0], number(after[1], numbers)) if after else None
            return Loop(pre_condition=first, body=number(body, numbers), post_condition=last)
        case Alt(condition=condition, true_work=yes, false_work=no):
            return Alt(
                condition=number(condition, numbers),
                true_work=number(yes, numbers) if yes else None,
                false_work=number(no, numbers) if no else None,
            )


def refs(work: Work) -> Iterator[Ref]:
    """Every `Ref`, in the order of their numbers."""
    match work:
        case Ref():
            yield work
        case Seq() | Par():
            for part in work.works:
                yield from refs(part)
        case Loop(pre_condition=before, body=body, post_condition=after):
            for part in (before and before[1], after and after[1], body):
                if part:
                    yield from refs(part)
        case Alt(condition=condition, true_work=yes, false_work=no):
            for part in (condition, yes, no):
                if part:
                    yield from refs(part)


def walk_raw(value: object, place: At) -> Iterator[tuple[Raw, At]]:
    """Every work of a tree as a file has it, whatever is wrong there, in the order of the numbers.

    Places are called as in the simplified tree, and known where they stand in the file.
    """
    if not isinstance(value, Mapping):
        return
    work = cast("Raw", value)
    yield work, place
    kind = work.get("kind")
    if kind in GROUPS:
        works = place.field("works")
        for index, (part, spot) in enumerate(_flat_raw(work, works)):
            yield from walk_raw(part, works.item(index).from_file(spot.loc))
    elif kind == "Loop":
        for name in ("preCondition", "postCondition"):
            for part in _elements(work.get(name))[1:2]:
                yield from walk_raw(part, place.field(name).item(1))
        yield from walk_raw(work.get("body"), place.field("body"))
    elif kind == "Alt":
        for name in ("condition", "trueWork", "falseWork"):
            yield from walk_raw(work.get(name), place.field(name))


def _elements(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def _flat_raw(group: Raw, works: At) -> Iterator[tuple[object, At]]:
    for index, value in enumerate(_elements(group.get("works"))):
        spot = works.item(index)
        if isinstance(value, Mapping) and cast("Raw", value).get("kind") == group["kind"]:
            yield from _flat_raw(cast("Raw", value), spot.field("works"))
        else:
            yield value, spot


def is_empty_raw(group: Raw) -> bool:
    """Whether a group has no works once it is simplified."""
    if not isinstance(group.get("works"), list | tuple):
        return False  # the shape's fault
    return not any(True for _ in _flat_raw(group, At()))
