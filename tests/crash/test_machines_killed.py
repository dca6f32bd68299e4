"""A share of the chaos trial with many machines (`make chaos ARGS=--machines`), and proof that it
finds what it looks for."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.crash.chaos_checks import Attempt, Evidence, Finding, Line
from tests.crash.chaos_errands import retries_in
from tests.crash.chaos_house import PORTALS, house_in
from tests.crash.chaos_machines import DEAF_ONES, LEASE, Round, entry_of, script_of, tree_of
from tests.crash.chaos_moves import Tellings, Told, former_owners
from tests.crash.chaos_page import rewritten
from tests.crash.chaos_tree import Tree
from tests.crash.chaos_watch import TASK, Followed
from tests.crash.faults import Line as FaultLine
from tests.crash.faults import page_of as faults_page
from tests.postgres import Postgres
from tests.trials import share, whole_only

Json = dict[str, Any]

pytestmark = [pytest.mark.timeout(600), pytest.mark.timed]


async def played(
    folder: Path, postgres: Postgres, seeds: list[int], most: int, *, fenced: bool = True
) -> list[Finding]:
    trees = [tree_of(seed) for seed in seeds]
    house = house_in(
        *(folder, postgres, entry_of(trees), script_of(trees), LEASE),
        fenced=fenced,
        deaf=() if fenced else DEAF_ONES,
        names=(*PORTALS, "worker-1"),
    )
    async with house as machines:
        one = Round(machines, seeds, most, [*machines.seats])
        await one.play()
    return [finding for trial in one.trials for finding in trial.findings]


async def test_runs_end_as_undisturbed_ones_while_machines_are_killed_and_cut_off(
    tmp_path: Path, postgres: Postgres
) -> None:
    assert await played(tmp_path, postgres, [1, 2], share(2, 8)) == []


@whole_only
async def test_without_the_fence_it_finds_something(tmp_path: Path, postgres: Postgres) -> None:
    found: list[Finding] = []
    for seed in range(1, 30, 3):
        seeds = [seed, seed + 1, seed + 2]
        found += await played(tmp_path / str(seed), postgres, seeds, 8, fenced=False)
        if found:
            break
    assert found


def sent(seq: int, round_: int) -> Json:
    event = {"kind": "task.mission.sent", "session": "ses"}
    return {"seq": seq, "event": {**event, "mission": {"kind": "prompt", "round": round_}}}


def test_whoever_tells_something_behind_a_move_is_found() -> None:
    rows = [
        Told("run", 1, "run.accepted", 10, "a.1"),
        Told("run", 2, "run.moved", 50, "b.1"),
        Told("ses", 1, "session.opened", 20, "a.1"),
        Told("ses", 2, "turn.ended", 60, "a.1"),
        Told("ses", 3, "session.closed", 70, "b.1"),
        Told("tsk", 1, "task.mission.sent", 30, "a.1"),
        Told("tsk", 2, "task.mission.sent", 65, "b.1"),
    ]
    # What the next owner asked in the same session is none of the former one's.
    lines = [Line("t", Attempt("ses", "prompt", n), "1", at) for n, at in ((0, 40.0), (0, 80.0))]
    lines.append(Line("t", Attempt("ses", "prompt", 1), "1", 90.0))
    stored = {"tsk": [sent(1, 0), sent(2, 1)]}
    followed = {"tsk": Followed(TASK, "tsk", [], is_over=True)}
    found = Evidence(Tree.of("plain"), "succeeded", stored, followed, [], lines)
    told = [one.words for one in former_owners(found, Tellings("run", rows))]
    assert len(told) == 2
    assert "turn.ended (2) 10 ms behind the move" in told[0]
    assert "an agent of a.1" in told[1]
    assert "30 ms late" in told[1]


def test_whoever_worked_on_a_run_that_another_one_had_accepted_is_found() -> None:
    rows = [
        Told("run", 1, "run.accepted", 10, "a.1"),
        Told("run", 2, "run.work.started", 20, "b.1"),
        Told("run", 3, "run.moved", 50, "c.1"),
        Told("ses", 1, "turn.ended", 60, "b.1"),
        Told("ses", 2, "session.closed", 70, "c.1"),
    ]
    found = Evidence(Tree.of("plain"), "succeeded", {}, {}, [], [])
    told = [one.words for one in former_owners(found, Tellings("run", rows))]
    assert told == ["ses: b.1 told turn.ended (1) 10 ms behind the move"]


def test_a_retry_that_was_answered_and_did_not_happen_is_found() -> None:
    ended: list[Json] = [{"kind": "run.ended"}]
    once = Counter({"sent": 2, "answered": 1})
    assert [one.kind for one in retries_in(ended, once)] == ["command"]
    assert list(retries_in([*ended, {"kind": "run.retried"}, *ended], once)) == []
    assert list(retries_in(ended, Counter())) == [], "of one that nobody retried"


def test_a_part_of_the_page_is_said_anew_and_the_others_stay() -> None:
    page = rewritten("", "free", "Free.")
    page = rewritten(page, "machines", "Many.")
    page = rewritten(page, "caged", "Caged.")
    assert page == (
        "# What kills cost\n\nFree.\n\n## In cages\n\nCaged.\n\n## On many machines\n\nMany.\n"
    )
    assert rewritten(page, "free", "Anew.") == page.replace("Free.", "Anew.")


def test_a_fault_that_is_measured_again_has_its_rows_anew_and_all_others_stay() -> None:
    def measured(fault: str, took: str) -> FaultLine:
        return FaultLine(fault, "it goes on", "≤ 5 s", took, holds=True)

    first = [measured("killed", "9 s"), measured("killed", "8 s"), measured("cut off", "7 s")]
    page = faults_page([*first, measured("restart", "broke off")])
    anew = [measured("killed", "1 s"), measured("away for 5 s", "2 s")]
    rows = faults_page(anew, page, ("killed", "restart")).splitlines()[6:]
    assert [row.split(" | ")[3] for row in rows] == ["1 s", "7 s", "2 s"]
