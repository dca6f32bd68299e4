"""Tasks of a job that share a name are told apart, in the same way everywhere."""

from airboss.entry.build import alt, loop, par, ref, seq
from airboss.entry.document import Work
from airboss.entry.work_places import Decider, names_of, places_of
from airboss.entry.works import number


def names(work: Work) -> list[str]:
    return list(names_of(number(work)).values())


def test_a_task_that_is_there_once_keeps_its_name() -> None:
    assert names(seq(ref("a"), par(ref("b"), ref("c")))) == ["a", "b", "c"]


def test_in_branches_the_first_task_of_the_branch_tells_them_apart() -> None:
    branches = par(seq(ref("server"), ref("lint")), seq(ref("web"), ref("lint")))
    assert names(branches) == ["server", "lint · server", "web", "lint · web"]


def test_where_no_branch_helps_they_are_counted() -> None:
    assert names(seq(ref("a"), ref("b"), ref("a"))) == ["a · 1", "b", "a · 2"]
    assert names(par(ref("a"), ref("a"), ref("a"))) == ["a · 1", "a · 2", "a · 3"]
    twice = seq(ref("server"), ref("lint"), ref("lint"))
    assert names(par(twice, seq(ref("web"), ref("lint"))))[1:3] == [
        "lint · server · 1",
        "lint · server · 2",
    ]


def test_another_model_tells_them_apart_as_the_chart_does() -> None:
    assert names(seq(ref("a"), ref("a", model="gpt"))) == ["a", "a (gpt)"]


def test_a_place_knows_which_conditions_lead_to_it() -> None:
    work = alt(ref("ask"), true=ref("yes"), false=loop(ref("no"), after=(True, ref("more"))))
    places = {place.task: place for place in places_of(number(work))}
    asked = places["ask"].work
    assert places["ask"].is_condition
    assert places["yes"].deciders == (Decider((asked,), says=True),)
    assert places["no"].deciders == (Decider((asked,), says=False),)
    assert places["no"].in_loop
    assert places["more"].is_condition
    assert [place.task for place in places_of(number(work))] == ["ask", "yes", "no", "more"]
