"""A condition that could not be asked is neither true nor false: on the real runtime, whatever
it is that keeps the model from being asked."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.guest import Told, kinds, only
from tests.contract.job_guest import (
    JobGuest,
    alt,
    entry_of,
    job_portal_in,
    loop,
    par,
    ref,
    seq,
    task,
)
from tests.portal import Portal
from tests.trials import sampled, share

# What keeps a question from being asked, and what the reason says of it.
TROUBLES = {
    "402": ("[{fail: {status: 402, message: Pay first}}]", "Pay first"),
    "drops": ("[{say: So far}, {drop: true}]", "1 crash, the last: "),
    "400": ("[{fail: {status: 400, message: I will not}}]", "I will not"),
    "401": ("[{fail: {status: 401, message: Who are you}}]", "HTTP 401"),
    "500": ("[{fail: {status: 500, message: Out of order}}]", "1 crash, the last: "),
}
RULES = "".join(
    f'  - {{when: "Meet {name}", steps: {steps}}}\n' for name, (steps, _) in TROUBLES.items()
)
_REFUSED = "times: 1, steps: [{fail: {status: 402, message: Pay first}}]"
_SAID = "steps: [{call: {tool: job_boolean_true, arguments: {argument: so}}}, {say: So it is.}]"
# Each of these can be asked from the second time on.
LATER = f"""
  - {{when: "Refused, then yes", {_REFUSED}}}
  - {{when: "Refused, then no", {_REFUSED}}}
  - {{when: "Refused, then yes", {_SAID}}}
  - {{when: "Is it done", {_REFUSED}}}
  - {{when: "Is it done", {_SAID}}}
  - {{when: "Be mute", steps: [{{sleep: 0}}]}}
"""
OTHER = {"category": "second"}
YES, SLOW = ref("yes"), ref("slow")
GO = ref("yes", modelOverride=OTHER)
PLACES = ("Alt", "Loop before", "Loop after", "availability", "criteria")
# One that is refused, and one that ends in the middle; the others in the trials.
FEW = 2
EACH = pytest.mark.parametrize("trouble", sampled(FEW, TROUBLES))


def asks(question: str) -> list[str]:
    return [f"{question} Answer with job_boolean_true or job_boolean_false."]


def work_with(question: Any, place: str) -> Any:
    """A job that goes on behind its condition, whichever way that goes."""
    work = {
        "Alt": alt(question, true=GO, false=GO),
        "Loop before": loop(GO, pre=[False, question]),
        "Loop after": loop(GO, post=[True, question]),
    }
    return seq(work[place], GO) if place in work else question


def checked(question: str, retries: int) -> dict[str, Any]:
    """Its prompt is always done; the question of its criteria goes to a driving session."""
    asked = {"condition": asks(question), "runConditionInSameSession": False}
    criteria = {**asked, "failureAction": {"retryTimes": retries}}
    return {"model": OTHER, "prompt": ["Do it."], "requireUserInput": False, "criteria": criteria}


def tasks_of(trouble: str) -> dict[str, Any]:
    """As a job's condition without any retry; and one each for the places in a task."""
    question = f"Meet {trouble}."
    kept = checked("Is it so?", 1) | {"availability": {"condition": asks(question)}}
    return {
        f"ask-{trouble}": checked(question, 0),
        f"availability-{trouble}": kept,
        f"criteria-{trouble}": checked(question, 1),
    }


def jobs_of(trouble: str) -> dict[str, Any]:
    names = {place: place if place in ("availability", "criteria") else "ask" for place in PLACES}
    return {
        f"{place} {trouble}": work_with({"kind": "Ref", "taskId": f"{name}-{trouble}"}, place)
        for place, name in names.items()
    }


def portal_in(folder: Path) -> Portal:
    return job_portal_in(folder, "--max-tasks", "16", rules=RULES + LATER)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with portal_in(tmp_path_factory.mktemp("unasked")).serving() as portal:
        yield portal


@pytest.fixture
async def guest(portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(portal) as guest:
        yield guest


async def begin_all(portal: Portal) -> dict[str, str]:
    """All at once: the runtime itself tries a 500 for 18 seconds before it gives up."""
    troubles = list(TROUBLES)[: share(FEW, len(TROUBLES))]
    jobs = {name: work for trouble in troubles for name, work in jobs_of(trouble).items()}
    tasks = {name: told for trouble in troubles for name, told in tasks_of(trouble).items()}
    entry = entry_of(jobs, **tasks) | {
        "drivingSessionRetries": [{"modelId": "driver", "retries": 1}]
    }
    async with JobGuest.of(portal) as guest:
        await guest.install(entry)
        return {name: (await guest.run(name))["id"] for name in jobs}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Portal, dict[str, str]]]:
    with portal_in(tmp_path_factory.mktemp("troubles")).serving() as portal:
        yield portal, asyncio.run(begin_all(portal))


async def ended(guest: JobGuest, run: str) -> Told:
    return await guest.until_run(run, lambda view: view["ended_at"] is not None)


async def one_run(guest: JobGuest, work: Any, **tasks: Any) -> Told:
    await guest.install(entry_of({"job": work}, ask=task("Meet 402."), **tasks))
    return await ended(guest, (await guest.run("job"))["id"])


# As a condition of a job.


@EACH
@pytest.mark.parametrize("place", PLACES[:3])
async def test_a_job_ends_where_its_condition_could_not_be_asked(
    runs: tuple[Portal, dict[str, str]], trouble: str, place: str
) -> None:
    portal, begun = runs
    async with JobGuest.of(portal) as guest:
        view = await ended(guest, begun[f"{place} {trouble}"])
        await ends_unasked(guest, view, f"ask-{trouble}", TROUBLES[trouble][1])
        paths = {"Alt": ["cond"], "Loop before": ["it1.pre"], "Loop after": ["it1", "it1.post"]}
        assert [one["path"] for one in view["works"]] == [f"0.0.{one}" for one in paths[place]]


async def ends_unasked(guest: JobGuest, view: Told, name: str, why: str) -> None:
    assert view["state"] == "failed"
    work = view["works"][-1]
    assert (work["task"], work["state"], work["unasked"]) == (name, "failed", True)
    assert view["reason"].startswith(f"The condition {name} could not be checked: ")
    assert why in view["reason"]
    told = await guest.run_events(view["id"])
    assert kinds(told)[-4:] == ["run.work.stopped", "run.error", "run.ending", "run.ended"]
    [error] = only("run.error", told)
    assert (error["name"], error["message"]) == ("ConditionUnasked", view["reason"])
    heard = await guest.hear_job(view["id"])
    [said] = [json.loads(one["jobError"]) for one in heard if "jobError" in one]
    assert said["message"] == view["reason"]
    assert heard[-2] == {"callback": "jobFailed"}
    shown = await guest.task_run(work["task_run"])
    assert (shown["state"], shown["unasked"], shown["sessions"]) == ("failed", True, [])


@pytest.mark.parametrize("place", sampled(1, PLACES[:3]))
async def test_a_model_that_is_not_offered_ends_the_job(guest: JobGuest, place: str) -> None:
    work = work_with({"kind": "Ref", "taskId": "lost"}, place)
    view = await one_run(guest, work, lost=task("Say yes.", model={"id": "nobody"}))
    await ends_unasked(guest, view, "lost", "nobody")


async def test_five_crashes_of_the_question_itself_end_the_job(guest: JobGuest) -> None:
    view = await one_run(guest, alt(ref("mute"), false=YES), mute=task("Be mute."))
    await ends_unasked(guest, view, "mute", "The prompt is exhausted after 5 crashes in a row")


async def test_what_works_beside_it_is_stopped(guest: JobGuest) -> None:
    view = await one_run(guest, par(SLOW, seq(YES, alt(ref("ask"), false=YES))))
    states = {one["path"]: (one["state"], one["unasked"]) for one in view["works"]}
    assert states == {
        "0.0": ("canceled", False),
        "0.1.0": ("succeeded", False),
        "0.1.1.cond": ("failed", True),
    }
    assert view["state"] == "failed"
    assert await guest.open_sessions() == []


async def test_a_part_of_a_condition_counts_like_the_whole(guest: JobGuest) -> None:
    condition = par(SLOW, seq(YES, ref("ask")))
    view = await one_run(guest, alt(condition, true=YES, false=YES))
    assert view["state"] == "failed"
    assert {one["path"] for one in view["works"]} == {"0.cond.0", "0.cond.1.0", "0.cond.1.1"}


async def test_a_task_that_is_no_condition_fails_as_before(guest: JobGuest) -> None:
    view = await one_run(guest, par(ref("ask"), YES))
    assert (view["state"], view["reason"]) == ("failed", "A task failed.")
    assert only("run.error", await guest.run_events(view["id"])) == []
    assert {one["path"]: one["unasked"] for one in view["works"]} == {"0.0": True, "0.1": False}


async def test_an_answer_of_no_still_chooses(guest: JobGuest) -> None:
    view = await one_run(guest, alt(ref("no"), false=YES))
    assert (view["state"], view["works"][0]["unasked"]) == ("succeeded", False)


@pytest.mark.parametrize(("then", "branch"), [("yes", "true"), ("no", "false")])
async def test_a_retry_of_the_failed_part_asks_again(
    guest: JobGuest, then: str, branch: str
) -> None:
    work = seq(YES, alt(ref("later"), true=YES, false=YES))
    first = await one_run(guest, work, later=task(f"Refused, then {then}."))
    assert first["state"] == "failed"
    answer = await guest.do_run(first["id"], "retry")
    assert answer["redo"] == ["0.1.cond"]
    view = await ended(guest, first["id"])
    assert view["state"] == "succeeded"
    paths = [one["path"] for one in view["works"]]
    assert paths == ["0.0", "0.1.cond", "0.1.cond", f"0.1.{branch}"]


# Of a task.


@EACH
async def test_an_availability_that_could_not_be_asked_fails_its_task(
    runs: tuple[Portal, dict[str, str]], trouble: str
) -> None:
    portal, begun = runs
    async with JobGuest.of(portal) as guest:
        view = await ended(guest, begun[f"availability {trouble}"])
        assert (view["state"], view["reason"]) == ("failed", "A task failed.")
        shown = await guest.task_run(view["works"][0]["task_run"])
    is_unavailable(shown, TROUBLES[trouble][1])


def is_unavailable(shown: Told, why: str) -> None:
    assert shown["reason"].startswith("availability.condition could not be checked: ")
    assert why in shown["reason"]
    assert (shown["unasked"], shown["retries"]) == (True, 0)
    [check] = shown["checks"]
    assert (check["field"], check["holds"]) == ("availability.condition", False)
    assert check["unasked"]
    said = [one["text"] for one in shown["decisions"]]
    unasked = "[AVAILABILITY] availability.condition could not be checked.\n"
    assert [one.startswith(unasked) for one in said].count(True) == 1
    assert not any("does not hold" in one or "job_prerequisite" in one for one in said)
    assert not any(one["mission"]["kind"] == "prompt" for one in shown["attempts"])


@EACH
async def test_criteria_that_could_not_be_asked_cost_a_retry_then_the_task(
    runs: tuple[Portal, dict[str, str]], trouble: str
) -> None:
    portal, begun = runs
    async with JobGuest.of(portal) as guest:
        view = await ended(guest, begun[f"criteria {trouble}"])
        assert (view["state"], view["reason"]) == ("failed", "A task failed.")
        shown = await guest.task_run(view["works"][0]["task_run"])
    is_unjudged(shown, TROUBLES[trouble][1])


def is_unjudged(shown: Told, why: str) -> None:
    assert shown["reason"].startswith("After 1 retry: criteria.condition could not be checked: ")
    assert why in shown["reason"]
    assert (shown["unasked"], shown["retries"]) == (True, 1)
    checks = [(one["round"], one["holds"], one["unasked"]) for one in shown["checks"]]
    assert checks == [(0, False, True), (1, False, True)]
    said = [one["text"] for one in shown["decisions"]]
    assert "[DECISION] Retry 1 of 1, since the last round could not be completed." in said
    prompts = [one for one in shown["attempts"] if one["mission"]["kind"] == "prompt"]
    assert [one["mission"]["round"] for one in prompts] == [0, 1]


async def test_a_driving_model_that_is_not_offered_is_told_as_such(guest: JobGuest) -> None:
    judged = checked("Is it so?", 1)
    kept = judged | {"availability": {"condition": asks("Is it so?")}}
    jobs = {name: {"kind": "Ref", "taskId": name} for name in ("judged", "kept")}
    entry = entry_of(jobs, judged=judged, kept=kept)
    entry["models"] |= {"driving": "nobody"}
    await guest.install(entry)
    shown: dict[str, Told] = {}
    for name in jobs:
        view = await ended(guest, (await guest.run(name))["id"])
        shown[name] = await guest.task_run(view["works"][0]["task_run"])
    is_unjudged(shown["judged"], "nobody")
    is_unavailable(shown["kept"], "nobody")


async def test_criteria_that_can_be_asked_in_the_retry_are_answered(guest: JobGuest) -> None:
    asked = {"condition": asks("Is it done?"), "failureAction": {"retryTimes": 1}}
    tried = {"prompt": ["Do it."], "requireUserInput": False, "criteria": asked}
    view = await one_run(guest, ref("tried"), tried=tried)
    assert view["state"] == "succeeded"
    shown = await guest.task_run(view["works"][0]["task_run"])
    outcomes = [(one["holds"], one["unasked"]) for one in shown["checks"]]
    assert (outcomes, shown["unasked"]) == ([(False, True), (True, False)], False)
