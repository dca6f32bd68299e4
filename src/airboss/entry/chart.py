"""The flow chart of a job: nodes and arrows, without any layout."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from airboss.entry.document import Alt, Loop, Par, Ref, Seq, Work
from airboss.entry.violations import At, EntryInvalid, wrong

Mark: TypeAlias = Literal["ParBegin", "ParEnd", "CondBegin", "CondEnd", "LoopEnd", "AltEnd"]
Hint: TypeAlias = Mark | tuple[Literal["TaskNode", "CondNode"], int]
Kind: TypeAlias = Literal["node", "seq", "par", "cond", "loop", "alt"]


class _Drawn(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Arrow(_Drawn):
    """The way from a node to the next."""

    to: int
    loop_back: bool = Field(default=False, serialization_alias="loopBack")
    label: Literal["true", "false"] | None = None


class ChartNode(_Drawn):
    """A task, or a mark where ways part and meet."""

    id: int
    hint: Hint
    label: str | None = None
    arrows: tuple[Arrow, ...] | None = None

    @property
    def kind(self) -> str:
        return self.hint if isinstance(self.hint, str) else self.hint[0]


class ChartGraph(_Drawn):
    """A whole chart."""

    nodes: tuple[ChartNode, ...]

    def to_wire(self) -> dict[str, Any]:
        """As JSON has it: `loopBack` always, labels and arrows only where there are any."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True)
class ChartPart:
    """The part of a chart that one work became: where one enters it and leaves it."""

    kind: Kind
    first: int
    last: int
    # A loop's: before, body, after. An alternative's: condition, true, false. None is absent.
    parts: tuple["ChartPart | None", ...] = ()


@dataclass
class _Draft:
    id: int
    hint: Hint
    label: str | None
    arrows: list[Arrow] = field(default_factory=list[Arrow])


def generate_chart_nodes(work: Work) -> ChartGraph:
    """The chart of a numbered work; ids are given in the order of creation."""
    return draw(work)[0]


def draw(work: Work) -> tuple[ChartGraph, ChartPart]:
    """The chart, and which part of it each work became: what a layout needs."""
    drafts = _Drafts()
    block = drafts.work(work)
    nodes = (
        ChartNode(id=d.id, hint=d.hint, label=d.label, arrows=tuple(d.arrows) or None)
        for d in drafts.nodes
    )
    return ChartGraph(nodes=tuple(nodes)), block


def _opposite(label: Literal["true", "false"]) -> Literal["true", "false"]:
    return "false" if label == "true" else "true"


class _Drafts:
    def __init__(self) -> None:
        self.nodes: list[_Draft] = []

    def _add(self, hint: Hint, label: str | None = None) -> int:
        self.nodes.append(_Draft(len(self.nodes), hint, label))
        return len(self.nodes) - 1

    def _join(
        self,
        start: int,
        end: int,
        label: Literal["true", "false"] | None = None,
        *,
        back: bool = False,
    ) -> None:
        self.nodes[start].arrows.append(Arrow(to=end, loop_back=back, label=label))

    def work(self, work: Work) -> ChartPart:
        match work:
            case Ref():
                return self._ref(work, "TaskNode")
            case Seq():
                return self._seq(work)
            case Par():
                return self._par(work)
            case Loop():
                return self._loop(work)
            case Alt():
                return self._alt(work)

    def _ref(self, ref: Ref, hint: Literal["TaskNode", "CondNode"]) -> ChartPart:
        model = ref.model_override
        label = f"{ref.task_id} ({model.name})" if model else ref.task_id
        node = self._add((hint, ref.work_id_in_job or 0), label)
        return ChartPart("node", node, node)

    def _seq(self, seq: Seq) -> ChartPart:
        parts = self._parts(seq)
        for before, after in pairwise(parts):
            self._join(before.last, after.first)
        return ChartPart("seq", parts[0].first, parts[-1].last, tuple(parts))

    def _parts(self, group: Seq | Par) -> list[ChartPart]:
        if not group.works:
            place = At("work").field("works")
            raise EntryInvalid([wrong(place, "should have at least one element.")])
        return [self.work(part) for part in group.works]

    def _par(self, par: Par) -> ChartPart:
        begin = self._add("ParBegin")
        parts = self._parts(par)
        end = self._add("ParEnd")
        for part in parts:
            self._join(begin, part.first)
            self._join(part.last, end)
        return ChartPart("par", begin, end, tuple(parts))

    def _condition(self, work: Work) -> ChartPart:
        if isinstance(work, Seq) and len(work.works) == 1 and isinstance(work.works[0], Ref):
            work = work.works[0]
        if isinstance(work, Ref):
            return self._ref(work, "CondNode")
        if not isinstance(work, Seq) or len(work.works) < 2:
            return self.work(work)
        begin = self._add("CondBegin")
        inside = self._seq(work)
        end = self._add("CondEnd")
        self._join(begin, inside.first)
        self._join(inside.last, end)
        return ChartPart("cond", begin, end, (inside,))

    def _loop(self, loop: Loop) -> ChartPart:
        before = self._condition(loop.pre_condition[1]) if loop.pre_condition else None
        body = self.work(loop.body)
        after = self._condition(loop.post_condition[1]) if loop.post_condition else None
        end = self._add("LoopEnd")
        first = (before or body).first
        if before and loop.pre_condition:
            label = _label(loop.pre_condition[0])
            self._join(before.last, body.first, label)
            self._join(before.last, end, _opposite(label))
        if after and loop.post_condition:
            label = _label(loop.post_condition[0])
            self._join(body.last, after.first)
            self._join(after.last, first, label, back=True)
            self._join(after.last, end, _opposite(label))
        else:
            self._join(body.last, end)
        return ChartPart("loop", first, end, (before, body, after))

    def _alt(self, alt: Alt) -> ChartPart:
        condition = self._condition(alt.condition)
        yes = self.work(alt.true_work) if alt.true_work else None
        no = self.work(alt.false_work) if alt.false_work else None
        end = self._add("AltEnd")
        self._join(condition.last, yes.first if yes else end, "true")
        self._join(condition.last, no.first if no else end, "false")
        for branch in (yes, no):
            if branch:
                self._join(branch.last, end)
        return ChartPart("alt", condition.first, end, (condition, yes, no))


def _label(value: bool) -> Literal["true", "false"]:
    return "true" if value else "false"
