"""The text of an entry: its data, and where each part begins. What it means is not known here."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from airboss.entry.shape import FLATTER, MAX_DEPTH
from airboss.entry.violations import EntryInvalid, Violation, at, wrong

# Where something begins, as a number that only the parser can read.
Spot: TypeAlias = int
Fields: TypeAlias = dict[str, object]
Container: TypeAlias = Fields | list[object]

TWICE: Final = "Stands here twice."


@dataclass(slots=True)
class FieldMarks:
    """Where an object begins, its names, and what they name."""

    spot: Spot
    names: dict[str, Spot] = field(default_factory=dict[str, Spot])
    inside: "dict[str | int, Marks]" = field(default_factory=dict["str | int", "Marks"])


@dataclass(slots=True)
class ItemMarks:
    """Where a list begins, and each of its items."""

    spot: Spot
    inside: "list[Marks]" = field(default_factory=list["Marks"])


Marks: TypeAlias = FieldMarks | ItemMarks | Spot


@dataclass(frozen=True)
class Source:
    """A parsed text. `faults` is what the text itself does wrong: a field that stands twice."""

    data: object
    marks: Marks
    position: Callable[[Spot], tuple[int, int]]
    faults: tuple[Violation, ...] = ()

    def placed(self, violation: Violation) -> Violation:
        """With its line and column, or those of the nearest thing around it that exists."""
        if violation.line is not None:
            return violation
        spot, is_itself = self._spot(violation)
        return replace(violation.placed(*self.position(spot)), is_around=not is_itself)

    def _spot(self, violation: Violation) -> tuple[Spot, bool]:
        """Where it begins, or what is nearest around it, and which of the two it is."""
        marks, is_itself = self.marks, True
        for number, step in enumerate(violation.loc):
            if isinstance(marks, FieldMarks) and step in marks.inside:
                if violation.of_name and number + 1 == len(violation.loc):
                    return marks.names.get(str(step), marks.spot), True
                marks = marks.inside[step]
            elif (
                isinstance(marks, ItemMarks) and isinstance(step, int) and step < len(marks.inside)
            ):
                marks = marks.inside[step]
            else:
                is_itself = False
                break
        return marks if isinstance(marks, int) else marks.spot, is_itself


@dataclass(slots=True)
class _Open:
    """An object or a list whose end has not come; of an object, the name that was read last."""

    data: Container
    marks: FieldMarks | ItemMarks
    name: str = ""

    @property
    def step(self) -> str | int:
        return self.name if isinstance(self.data, dict) else len(self.data) - 1


class Growing:
    """Data that a parser puts together part by part, without recursion and to a bounded depth."""

    def __init__(self, position: Callable[[Spot], tuple[int, int]], prefix: str) -> None:
        self._position = position
        self._prefix = prefix
        self._open: list[_Open] = []
        self._faults: list[Violation] = []
        self._root: tuple[object, Marks] | None = None

    @property
    def inside(self) -> Container | None:
        return self._open[-1].data if self._open else None

    @property
    def is_done(self) -> bool:
        return self._root is not None and not self._open

    def begin(self, container: Container, spot: Spot) -> Marks:
        marks = FieldMarks(spot) if isinstance(container, dict) else ItemMarks(spot)
        self.put(container, marks)
        if len(self._open) > MAX_DEPTH:
            steps = [around.step for around in self._open[:3]]
            reason = f"Is nested more than {MAX_DEPTH} levels deep."
            said = wrong(at(steps, self._prefix), reason, advice=FLATTER)
            raise EntryInvalid([said.placed(*self._position(spot))])
        self._open.append(_Open(container, marks))
        return marks

    def name(self, name: str, spot: Spot) -> None:
        """The next field's name."""
        around = self._open[-1]
        around.name = name
        if not isinstance(around.marks, FieldMarks):
            return
        if name in around.marks.names:
            steps = [parent.step for parent in self._open]
            line, _ = self._position(around.marks.names[name])
            advice = f"It is in line {line} already. Remove one of the two, or rename it."
            said = wrong(at(steps, self._prefix), TWICE, advice=advice)
            self._faults.append(said.placed(*self._position(spot)))
        around.marks.names[name] = spot

    def put(self, value: object, marks: Marks) -> None:
        if not self._open:
            self._root = (value, marks)
            return
        around = self._open[-1]
        if isinstance(around.data, dict) and isinstance(around.marks, FieldMarks):
            around.data[around.name] = value
            around.marks.inside[around.name] = marks
        elif isinstance(around.data, list) and isinstance(around.marks, ItemMarks):
            around.data.append(value)
            around.marks.inside.append(marks)

    def end(self) -> tuple[Container, Marks]:
        closed = self._open.pop()
        return closed.data, closed.marks

    def is_open(self, value: object) -> bool:
        return any(around.data is value for around in self._open)

    def done(self) -> Source:
        data, marks = self._root or (None, 0)
        return Source(data, marks, self._position, tuple(self._faults))
