"""A run that is retried does again what made it fail, and nothing else."""

from airboss.engine.culprits import find_culprits
from airboss.entry.build import alt, loop, par, ref, seq

A, B, C = ref("a"), ref("b"), ref("c")


def test_the_task_that_ended_a_sequence_is_the_culprit() -> None:
    assert find_culprits(seq(A, B, C), {"0.0": True, "0.1": False}) == ("0.1",)


def test_all_branches_that_failed_are_culprits() -> None:
    ended = {"0.0": False, "0.1": True, "0.2.0": True, "0.2.1": False}
    assert find_culprits(par(A, B, seq(A, C)), ended) == ("0.0", "0.2.1")


def test_a_condition_that_did_not_hold_is_no_culprit() -> None:
    work = alt(A, true=B, false=C)
    assert find_culprits(work, {"0.cond": False, "0.false": False}) == ("0.false",)


def test_only_the_last_round_of_a_loop_is_at_fault() -> None:
    work = loop(A, after=(True, B))
    ended = {"0.it1": True, "0.it1.post": True, "0.it2": False}
    assert find_culprits(work, ended) == ("0.it2",)


def test_a_run_that_was_stopped_before_anything_failed_has_none() -> None:
    assert find_culprits(seq(A, B), {"0.0": True}) == ()
    assert find_culprits(par(A, B), {"0.0": True}) == ()


def test_a_branch_that_had_failed_when_the_run_was_stopped_is_a_culprit() -> None:
    assert find_culprits(par(A, B), {"0.0": False}) == ("0.0",)
    work = par(seq(A, B), C, seq(A, par(A, B)))
    ended = {"0.0.0": False, "0.2.0": True, "0.2.1.1": False}
    assert find_culprits(work, ended) == ("0.0.0", "0.2.1.1")
    assert find_culprits(alt(par(A, B), true=C), {"0.cond.0": False}) == ()
    within = par(A, alt(par(A, B), true=C))
    assert find_culprits(within, {"0.0": False, "0.1.cond.0": False}) == ("0.0",)


def test_a_condition_that_could_not_be_asked_is_a_culprit() -> None:
    work = seq(A, alt(B, true=C, false=C))
    ended = {"0.0": True, "0.1.cond": False}
    assert find_culprits(work, ended) == ()
    assert find_culprits(work, ended, ["0.1.cond"]) == ("0.1.cond",)
    beside = par(A, alt(par(A, B), true=C))
    ended = {"0.0": False, "0.1.cond.0": False, "0.1.cond.1": False}
    assert find_culprits(beside, ended, ["0.1.cond.1"]) == ("0.0", "0.1.cond.1")
    # No condition: it failed, and the tree with it.
    assert find_culprits(seq(A, B), {"0.0": False}, ["0.0"]) == ("0.0",)


def test_a_run_that_succeeded_has_none() -> None:
    assert find_culprits(seq(A, B), {"0.0": True, "0.1": True}) == ()
