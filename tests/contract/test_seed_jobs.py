"""Seed 001's calls about jobs: every kind of work, in each position, on the real runtime."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from tests.contract.guest import Told
from tests.contract.job_guest import (
    JobGuest,
    alt,
    entry_of,
    job_portal_in,
    loop,
    par,
    ref,
    seq,
    story,
    task,
)
from tests.portal import Portal
from tests.trials import sampled

YES, NO = ref("yes"), ref("no")
DONE, FAILED = "jobSucceeded", "jobFailed"


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with job_portal_in(tmp_path_factory.mktemp("jobs")).serving() as portal:
        yield portal


@pytest.fixture
async def guest(job_portal: Portal) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


@pytest.mark.parametrize(
    ("work", "told"),
    [
        pytest.param(YES, f"0+ 0:yes {DONE}", id="a ref that succeeds"),
        pytest.param(NO, f"0+ 0:no {FAILED}", id="a ref that fails"),
        pytest.param(seq(YES, YES), f"0+ 0:yes 1+ 1:yes {DONE}", id="a seq in order"),
        pytest.param(seq(NO, YES), f"0+ 0:no {FAILED}", id="a seq fails at its first"),
        pytest.param(seq(YES, NO, YES), f"0+ 0:yes 1+ 1:no {FAILED}", id="in its middle"),
        pytest.param(alt(YES, true=YES), f"0+ 0:yes 1+ 1:yes {DONE}", id="alt true"),
        pytest.param(alt(YES, true=NO), f"0+ 0:yes 1+ 1:no {FAILED}", id="alt true fails"),
        pytest.param(alt(NO, YES, YES), f"0+ 0:no 2+ 2:yes {DONE}", id="alt false"),
        pytest.param(alt(NO, YES, NO), f"0+ 0:no 2+ 2:no {FAILED}", id="alt false fails"),
        pytest.param(alt(NO, true=YES), f"0+ 0:no {DONE}", id="alt without the other branch"),
        pytest.param(loop(YES), f"0+ 0:yes {DONE}", id="a loop without conditions"),
        pytest.param(loop(NO), f"0+ 0:no {FAILED}", id="a loop whose body fails"),
        pytest.param(loop(YES, pre=[True, YES]), f"0+ 0:yes 1+ 1:yes {DONE}", id="begun, for true"),
        pytest.param(loop(YES, pre=[False, NO]), f"0+ 0:no 1+ 1:yes {DONE}", id="begun, for false"),
        pytest.param(loop(NO, pre=[True, NO]), f"0+ 0:no {DONE}", id="not begun, for true"),
        pytest.param(loop(NO, pre=[False, YES]), f"0+ 0:yes {DONE}", id="not begun, for false"),
        pytest.param(
            loop(YES, post=[True, NO]), f"1+ 1:yes 0+ 0:no {DONE}", id="not again, for true"
        ),
        pytest.param(
            loop(YES, post=[False, YES]), f"1+ 1:yes 0+ 0:yes {DONE}", id="not again, for false"
        ),
        pytest.param(
            loop(NO, post=[True, YES]), f"1+ 1:no {FAILED}", id="a body that fails is not asked"
        ),
        pytest.param(
            seq(alt(YES, true=seq(YES, loop(YES))), YES),
            f"0+ 0:yes 1+ 1:yes 2+ 2:yes 3+ 3:yes {DONE}",
            id="nested",
        ),
        pytest.param(
            seq(YES, alt(NO, false=seq(YES, NO, YES)), YES),
            f"0+ 0:yes 1+ 1:no 2+ 2:yes 3+ 3:no {FAILED}",
            id="nested, failing inside",
        ),
    ],
)
async def test_a_work_is_told_from_its_start_to_its_outcome(
    guest: JobGuest, work: Any, told: str
) -> None:
    assert story(await guest.run_job(work)) == told


async def test_a_loop_goes_on_as_long_as_its_last_condition_holds(guest: JobGuest) -> None:
    work = loop(YES, pre=[True, YES], post=[True, ref("more")])
    told = story(await guest.run_job(work, more=task("True twice.")))
    rounds = ["0+ 0:yes 2+ 2:yes 1+ 1:yes"] * 2
    assert told == " ".join([*rounds, "0+ 0:yes 2+ 2:yes 1+ 1:no", DONE])


async def test_a_loop_that_waits_for_no_goes_on_while_the_answer_is_no(guest: JobGuest) -> None:
    fixed = {**task("Fix it.")}
    told = story(await guest.run_job(loop(YES, post=[False, ref("mend")]), mend=fixed))
    assert told == f"1+ 1:yes 0+ 0:no 1+ 1:yes 0+ 0:yes {DONE}"


@pytest.mark.parametrize(
    ("works", "outcome"),
    sampled(
        2,
        [
            ((YES, YES, YES), DONE),
            ((YES, NO, YES), FAILED),
            ((NO, YES, YES), FAILED),
            ((NO, NO), FAILED),
        ],
    ),
)
async def test_a_par_runs_all_whatever_becomes_of_one(
    guest: JobGuest, works: tuple[Any, ...], outcome: str
) -> None:
    heard = await guest.run_job(par(*works))
    assert story(heard[:-1]).split().count("0+") == 1
    stopped = sorted(word for word in story(heard).split() if ":" in word)
    expected = ["yes" if work is YES else "no" for work in works]
    assert stopped == [f"{number}:{word}" for number, word in enumerate(expected)]
    assert heard[-1] == {"callback": outcome}


async def test_branches_work_at_the_same_time(guest: JobGuest) -> None:
    """Each would wait for the other's end for ever, were they in order."""
    await guest.install(entry_of({"job": par(ref("slow"), seq(YES, YES))}))
    run = await guest.start_job("job")
    heard = await guest.hear_job(run, "workStopped")
    assert heard[-1] == {"callback": "workStopped", "workId": 1, "succeeded": True}
    assert await guest.seed(f"copilot/job/{run}/stop") == {"result": "Closed"}


async def test_each_task_of_a_job_can_be_followed(guest: JobGuest) -> None:
    heard = await guest.run_job(seq(YES, NO))
    first, second = (told["taskId"] for told in heard if told.get("callback") == "workStarted")
    told = [await guest.seed(f"copilot/task/{first}/live") for _ in range(7)]
    session = told[0]["sessionId"]
    assert told == [
        {"callback": "taskSessionStarted", "sessionId": session, "isDriving": True},
        {
            "callback": "taskDecision",
            "reason": f"[SESSION STARTED] Driving session {session} on driver.",
        },
        {"callback": "taskDecision", "reason": "[OPERATION] Sends the prompt."},
        {
            "callback": "taskDecision",
            "reason": "[CRITERIA] criteria.toolExecuted holds: All were called.",
        },
        {"callback": "taskSessionStopped", "sessionId": session, "succeeded": True},
        {"callback": "taskDecision", "reason": "[TASK SUCCEEDED] The criteria hold."},
        {"callback": "taskSucceeded"},
    ]
    assert await guest.seed(f"copilot/task/{first}/live") == {"error": "TaskClosed"}
    left: list[Told] = [{}]
    while "error" not in left[-1]:
        left.append(await guest.seed(f"copilot/task/{second}/live"))
    assert left[-2:] == [{"callback": "taskFailed"}, {"error": "TaskClosed"}]


@pytest.mark.parametrize(
    ("work", "outcome"),
    sampled(
        4,
        [
            (ref("after-yes"), FAILED),
            (alt(NO, false=ref("after-no")), DONE),
            (seq(par(YES, alt(NO, true=YES)), ref("after-no")), DONE),
            (seq(YES, loop(ref("after-yes"))), DONE),
            (seq(YES, ref("after-yes")), DONE),
            (seq(YES, YES, ref("after-no")), FAILED),
            (seq(YES, par(ref("after-yes"), ref("after-yes"))), DONE),
        ],
    ),
)
async def test_what_ended_before_counts_on_every_way(
    guest: JobGuest, work: Any, outcome: str
) -> None:
    assert (await guest.run_job(work))[-1] == {"callback": outcome}


async def test_input_and_the_model_reach_the_task(guest: JobGuest) -> None:
    work = ref("input", modelOverride={"category": "second"})
    await guest.install(entry_of({"job": work}))
    run = await guest.start_job("job", "two\nlines")
    assert (await guest.hear_job(run))[-2] == {"callback": "jobSucceeded"}
    [told] = (await guest.show_run(run))["works"]
    shown = (await guest.http.get(f"/api/v1/task-runs/{told['task_run']}")).json()
    assert (shown["model"], shown["attempts"][0]["text"]) == (
        "other",
        "Say yes to two\nlines on other.",
    )


async def test_the_first_line_is_checked_like_a_sessions_folder(guest: JobGuest) -> None:
    await guest.install(entry_of({"job": YES}))
    start = "copilot/job/start/job"
    assert await guest.seed("copilot/job/start/nope", "/") == {"error": "JobNotFound"}
    assert await guest.seed(start, "work") == {"error": "WorkingDirectoryNotAbsolutePath"}
    assert await guest.seed(start, "/no/such/folder") == {"error": "WorkingDirectoryNotExists"}
    refused = await guest.seed(start, "/etc\ninput")
    assert refused["error"] == "WorkingDirectoryNotAllowed"


async def test_what_is_not_there_cannot_be_stopped_or_followed(guest: JobGuest) -> None:
    for run in ("run_nobody", "job", "ses_1"):
        assert await guest.seed(f"copilot/job/{run}/stop") == {"error": "JobNotFound"}
        assert await guest.job_live(run) == {"error": "JobNotFound"}


async def test_a_job_that_ended_is_gone_once_it_was_read(guest: JobGuest) -> None:
    await guest.install(entry_of({"job": YES}))
    run = await guest.start_job("job")
    assert re.fullmatch(r"run_[0-9a-z]{26}", run)
    await guest.hear_job(run)
    assert await guest.job_live(run) == {"error": "JobNotFound"}
    assert await guest.seed(f"copilot/job/{run}/stop") == {"error": "JobNotFound"}


async def test_no_other_entry_is_installed_while_a_job_runs(guest: JobGuest) -> None:
    await guest.install(entry_of({"job": ref("slow")}))
    run = await guest.start_job("job")
    path = str(guest.portal.folder / "fixtures" / "jobs.json")
    told = await guest.seed("copilot/test/installJobsEntry", path)
    assert told["result"] == "Rejected"
    await guest.seed(f"copilot/job/{run}/stop")
    assert (await guest.seed("copilot/test/installJobsEntry", path))["result"] == "OK"


async def test_a_stopped_job_says_nothing_more(guest: JobGuest) -> None:
    await guest.install(entry_of({"job": par(ref("slow"), ref("shell"))}))
    run = await guest.start_job("job")
    heard = [await guest.job_live(run), await guest.job_live(run)]
    assert [told["callback"] for told in heard] == ["workStarted", "workStarted"]
    await asyncio.sleep(1)
    assert await guest.seed(f"copilot/job/{run}/stop") == {"result": "Closed"}
    assert await guest.job_live(run) == {"error": "JobsClosed"}
    assert await guest.open_sessions() == []
    assert (await guest.show_run(run))["state"] == "canceled"
    for told in heard:
        shown = (await guest.http.get(f"/api/v1/task-runs/{told['taskId']}")).json()
        assert shown["state"] == "canceled"
