"""A job's tree is walked as the entry language says: what runs, in which order, after what."""

import pytest

from airboss.engine.walk import Branch, RunBranches, RunTask, TaskOutcome, Walked, walk
from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.document import Loop, Par, Seq
from tests.engine.walker import failing, scripted, tour

A, B, C, D = ref("a"), ref("b"), ref("c"), ref("d")


@pytest.mark.parametrize("succeeds", [True, False])
def test_a_ref_comes_to_what_its_task_comes_to(succeeds: bool) -> None:
    toured = tour(A, lambda _: succeeds)
    assert toured.runs == [RunTask("0", A, previous=())]
    assert toured.walked == Walked(succeeds, previous=("a",))


def test_a_seq_runs_its_works_in_order() -> None:
    toured = tour(seq(A, B, C), failing())
    assert toured.befores == [("a", ()), ("b", ("a",)), ("c", ("b",))]
    assert toured.walked == Walked(succeeded=True, previous=("c",))


@pytest.mark.parametrize(("fails", "ran"), [("a", "a"), ("b", "ab"), ("c", "abc")])
def test_a_seq_fails_at_the_first_that_fails(fails: str, ran: str) -> None:
    toured = tour(seq(A, B, C), failing(fails))
    assert toured.names == [*ran]
    assert toured.walked == Walked(succeeded=False, previous=(fails,))


def test_a_par_asks_for_all_at_once() -> None:
    steps = walk(par(A, seq(B, C)))
    asked = next(steps)
    assert asked == RunBranches((RunTask("0.0", A, ()), Branch("0.1", seq(B, C), ())))
    with pytest.raises(StopIteration) as end:
        steps.send((TaskOutcome(succeeded=True), Walked(succeeded=True, previous=("c",))))
    assert end.value.value == Walked(succeeded=True, previous=("a", "c"))


@pytest.mark.parametrize("fails", ["", "a", "b", "c", "ac", "abc"])
def test_a_par_runs_all_and_succeeds_when_all_did(fails: str) -> None:
    toured = tour(par(A, B, C), failing(*fails))
    assert toured.names == ["a", "b", "c"]
    assert toured.walked == Walked(succeeded=not fails, previous=("a", "b", "c"))


def test_each_branch_has_what_came_before_the_par_and_what_follows_has_the_last_of_each() -> None:
    toured = tour(seq(A, par(seq(B, C), D), A), failing())
    assert toured.befores == [
        ("a", ()),
        ("b", ("a",)),
        ("c", ("b",)),
        ("d", ("a",)),
        ("a", ("c", "d")),
    ]


def test_after_a_par_a_task_that_ended_two_branches_is_named_once() -> None:
    assert tour(seq(par(A, seq(B, A), C), D), failing()).befores[-1] == ("d", ("a", "c"))


def test_a_branch_that_fails_ends_with_the_task_that_failed() -> None:
    asked = alt(par(seq(A, B), C), true=A, false=D)
    assert tour(asked, failing("a")).befores == [("a", ()), ("c", ()), ("d", ("a", "c"))]


def test_a_par_in_a_par_has_branches_of_its_own() -> None:
    tree = Par(works=(Par(works=(A, B)), C))
    assert tour(tree, failing()).paths == ["0.0", "0.0.0", "0.0.1", "0.1"]


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("outcome", [True, False])
def test_a_pre_condition_that_differs_ends_the_loop_with_success(
    wanted: bool, outcome: bool
) -> None:
    toured = tour(loop(B, before=(wanted, A)), failing() if outcome else failing("a"))
    assert toured.names == (["a", "b"] if wanted == outcome else ["a"])
    assert toured.walked == Walked(succeeded=True, previous=(toured.names[-1],))


@pytest.mark.parametrize(("wanted", "outcomes"), [(True, "yyn"), (False, "nny")])
def test_a_post_condition_that_is_equal_begins_again(wanted: bool, outcomes: str) -> None:
    toured = tour(loop(A, after=(wanted, B)), scripted(b=outcomes))
    assert toured.places == {
        "0.it1": "a",
        "0.it1.post": "b",
        "0.it2": "a",
        "0.it2.post": "b",
        "0.it3": "a",
        "0.it3.post": "b",
    }
    assert toured.walked == Walked(succeeded=True, previous=("b",))


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_a_loop_asks_both_conditions_in_every_round(before: bool, after: bool) -> None:
    """The second round ends at the first condition."""
    first, second = "yn" if before else "ny", "y" if after else "n"
    toured = tour(loop(B, before=(before, A), after=(after, C)), scripted(a=first, c=second))
    assert toured.befores == [("a", ()), ("b", ("a",)), ("c", ("b",)), ("a", ("c",))]
    assert toured.walked == Walked(succeeded=True, previous=("a",))


def test_a_loop_without_conditions_runs_its_body_once() -> None:
    assert tour(loop(A), failing()).names == ["a"]


@pytest.mark.parametrize("wanted", [True, False])
def test_a_loop_fails_with_its_body_and_asks_no_more(wanted: bool) -> None:
    luck = scripted(a="yyy" if wanted else "nnn", b="yn", c="yy" if wanted else "nn")
    toured = tour(loop(B, before=(wanted, A), after=(wanted, C)), luck)
    assert toured.names == ["a", "b", "c", "a", "b"]
    assert toured.walked == Walked(succeeded=False, previous=("b",))


def test_a_condition_may_be_a_tree() -> None:
    toured = tour(loop(A, after=(False, seq(B, par(C, D)))), scripted(b="yyy", c="nyy", d="yny"))
    assert toured.names == ["a", "b", "c", "d"] * 3
    assert toured.befores[4] == ("a", ("c", "d"))
    assert toured.walked.succeeded


@pytest.mark.parametrize("outcome", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_an_alt_runs_one_work_by_the_outcome_and_comes_to_what_that_comes_to(
    outcome: bool, ends: bool
) -> None:
    chosen = "b" if outcome else "c"
    fails = [*([] if outcome else ["a"]), *([] if ends else [chosen])]
    toured = tour(alt(A, true=B, false=C), failing(*fails))
    assert toured.befores == [("a", ()), (chosen, ("a",))]
    assert toured.walked == Walked(ends, previous=(chosen,))


@pytest.mark.parametrize("outcome", [True, False])
def test_an_absent_work_of_an_alt_counts_as_success(outcome: bool) -> None:
    asked = alt(A, false=B) if outcome else alt(A, true=B)
    toured = tour(asked, failing() if outcome else failing("a"))
    assert toured.names == ["a"]
    assert toured.walked == Walked(succeeded=True, previous=("a",))


def test_paths_follow_the_tree_and_tell_the_rounds_of_a_loop_apart() -> None:
    tree = seq(
        A,
        loop(
            seq(A, alt(B, true=par(C, seq(C, D)), false=D)),
            before=(True, B),
            after=(True, par(A, seq(B, C))),
        ),
    )
    toured = tour(tree, scripted(b="yyyynyn"))
    assert toured.paths == [
        "0.0",
        "0.1.it1.pre",
        "0.1.it1.0",
        "0.1.it1.1.cond",
        "0.1.it1.1.true.0",
        "0.1.it1.1.true.1",
        "0.1.it1.1.true.1.0",
        "0.1.it1.1.true.1.1",
        "0.1.it1.post.0",
        "0.1.it1.post.1",
        "0.1.it1.post.1.0",
        "0.1.it1.post.1.1",
        "0.1.it2.pre",
        "0.1.it2.0",
        "0.1.it2.1.cond",
        "0.1.it2.1.false",
        "0.1.it2.post.0",
        "0.1.it2.post.1",
        "0.1.it2.post.1.0",
        "0.1.it2.post.1.1",
        "0.1.it3.pre",
    ]


def test_a_loop_that_is_the_body_of_a_loop_has_rounds_of_its_own() -> None:
    toured = tour(loop(loop(A, after=(True, B)), after=(True, C)), scripted(b="ynn", c="yn"))
    assert [*toured.places] == [
        *("0.it1.it1", "0.it1.it1.post", "0.it1.it2", "0.it1.it2.post", "0.it1.post"),
        *("0.it2.it1", "0.it2.it1.post", "0.it2.post"),
    ]


def test_works_that_validation_refuses_still_come_to_an_end() -> None:
    assert tour(seq(A, Seq(works=()), B), failing()).befores == [("a", ()), ("b", ("a",))]


@pytest.mark.parametrize(
    "answer",
    [
        TaskOutcome(succeeded=True),
        (TaskOutcome(succeeded=True),),
        (Walked(succeeded=True, previous=()),) * 2,
    ],
)
def test_branches_that_are_answered_by_something_else_are_an_error(
    answer: TaskOutcome | tuple[TaskOutcome | Walked, ...],
) -> None:
    steps = walk(par(A, B))
    next(steps)
    with pytest.raises(TypeError, match="cannot be answered by"):
        steps.send(answer)


def test_a_task_that_is_answered_by_a_list_is_an_error() -> None:
    steps = walk(A)
    next(steps)
    with pytest.raises(TypeError, match="RunTask 0 cannot be answered by"):
        steps.send((TaskOutcome(succeeded=True),))


def test_a_long_loop_does_not_deepen_the_walk() -> None:
    toured = tour(Loop(body=A, post_condition=(True, B)), scripted(b="y" * 3000 + "n"))
    assert len(toured.runs) == 6002
    assert toured.walked.succeeded
