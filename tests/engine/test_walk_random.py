"""Whatever the tree and however its tasks end: the walk is right, and replays the same."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from airboss.engine.walk import RunTask, Walked, walk
from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.document import Alt, Loop, Par, Ref, Seq, Work
from airboss.entry.works import number
from tests.engine.walker import UNENDED, Luck, Tour, drive

REFS = st.sampled_from("abcd").map(ref)


Condition: TypeAlias = tuple[bool, Work] | None


def _loop(body: Work, before: Condition, after: Condition) -> Work:
    return loop(body, before=before, after=after)


def _alt(asked: Work, yes: Work | None, no: Work | None) -> Work:
    return alt(asked, true=yes, false=no)


def _larger(works: st.SearchStrategy[Work]) -> st.SearchStrategy[Work]:
    some = st.lists(works, min_size=1, max_size=3)
    condition = st.none() | st.tuples(st.booleans(), works)
    return st.one_of(
        some.map(lambda parts: seq(*parts)),
        some.map(lambda parts: par(*parts)),
        st.builds(_loop, works, condition, condition),
        st.builds(_alt, works, st.none() | works, st.none() | works),
    )


TREES = st.recursive(REFS, _larger, max_leaves=12).map(number)
SEEDS = st.integers(0, 2**32)


class Enough(Exception):
    """Some loops never end; as many runs as these are looked at."""


@dataclass
class Fate:
    """How the n-th run of a `Ref` ends; the same whatever runs beside it."""

    seed: int
    runs: Counter[int] = field(default_factory=Counter[int])

    def __call__(self, ref: Ref) -> bool:
        if self.runs.total() == 150:
            raise Enough
        assert ref.work_id_in_job is not None
        self.runs[ref.work_id_in_job] += 1
        said = f"{self.seed}/{ref.work_id_in_job}/{self.runs[ref.work_id_in_job]}"
        return sha256(said.encode()).digest()[0] < 140


@dataclass
class Oracle:
    """The rules once more, without paths and without generators."""

    ends: Fate
    ran: list[tuple[int | None, tuple[str, ...]]] = field(
        default_factory=list[tuple[int | None, tuple[str, ...]]]
    )

    def run(self, work: Work, last: tuple[str, ...]) -> tuple[bool, tuple[str, ...]]:
        match work:
            case Ref():
                self.ran.append((work.work_id_in_job, last))
                return self.ends(work), (work.task_id,)
            case Seq():
                good = True
                for part in work.works:
                    if good:
                        good, last = self.run(part, last)
                return good, last
            case Par():
                ended = [self.run(part, last) for part in work.works]
                names = [name for _, lasts in ended for name in lasts]
                return all(good for good, _ in ended), tuple(sorted({*names}, key=names.index))
            case Alt():
                good, last = self.run(work.condition, last)
                chosen = work.true_work if good else work.false_work
                return self.run(chosen, last) if chosen else (True, last)
            case Loop():
                return self.loop(work, last)

    def loop(self, work: Loop, last: tuple[str, ...]) -> tuple[bool, tuple[str, ...]]:
        while True:
            if work.pre_condition:
                good, last = self.run(work.pre_condition[1], last)
                if good is not work.pre_condition[0]:
                    return True, last
            good, last = self.run(work.body, last)
            if not good:
                return False, last
            if not work.post_condition:
                return True, last
            good, last = self.run(work.post_condition[1], last)
            if good is not work.post_condition[0]:
                return True, last


def toured(tree: Work, luck: Luck) -> Tour:
    found = Tour()
    with suppress(Enough):
        found.walked = drive(walk(tree), luck, found)
    return found


def fated(seed: int) -> Luck:
    fate = Fate(seed)
    return lambda run: fate(run.ref)


@settings(max_examples=300, deadline=None)
@given(TREES, SEEDS)
def test_a_walk_is_what_the_rules_say(tree: Work, seed: int) -> None:
    oracle, ends = Oracle(Fate(seed)), UNENDED
    with suppress(Enough):
        ends = Walked(*oracle.run(tree, ()))
    found = toured(tree, fated(seed))
    assert [(run.ref.work_id_in_job, run.previous) for run in found.runs] == oracle.ran
    assert found.walked == ends


@settings(max_examples=200, deadline=None)
@given(TREES, SEEDS)
def test_no_two_executions_share_a_path(tree: Work, seed: int) -> None:
    found = toured(tree, fated(seed))
    assert [path for path, times in Counter(found.paths).items() if times > 1] == []
    assert all(path.split(".")[0] == "0" for path in found.paths)


@settings(max_examples=200, deadline=None)
@given(TREES, SEEDS)
def test_answers_that_were_kept_by_path_give_the_same_walk(tree: Work, seed: int) -> None:
    kept: dict[str, bool] = {}
    fate = fated(seed)

    def keep(run: RunTask) -> bool:
        kept[run.path] = fate(run)
        return kept[run.path]

    def remember(run: RunTask) -> bool:
        if run.path not in kept:
            raise Enough
        return kept[run.path]

    assert toured(tree, keep) == toured(tree, remember)
