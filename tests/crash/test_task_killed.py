"""Tasks whose agent runtime gets `kill -9`, in any mission: they go on, or say why they cannot."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.turn import AcceptedPrompt, Pause
from airboss.model.ids import PromptId, SessionId, TaskRunId
from airboss.model.task_events import MissionEnded, MissionSent
from tests.service.errands import (
    AGAIN,
    DOCUMENT,
    SAY_SO,
    Story,
    TaskHouse,
    asks,
    criteria,
    task,
    task_house_in,
)
from tests.trials import sampled

SCRIPT = Path(__file__).with_name("tasks.yaml").read_text(encoding="utf-8")
DEAD = "The agent runtime"
SEVERAL: dict[str, Any] = {"runConditionInSameSession": False}
BOTH = pytest.mark.parametrize(
    "several", sampled(1, [True, False]), ids=["several models", "one model"]
)
MISSIONS = ("availability", "prompt", "criteria")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[TaskHouse]:
    """One for all: a runtime that was killed is replaced."""
    async with task_house_in(tmp_path_factory.mktemp("killed"), SCRIPT) as house:
        yield house


def whole_task(held: str, mark: str = "HOLD", *, several: bool, retries: int = 0) -> dict[str, Any]:
    """A task with all three missions, of which one waits to be killed."""
    marks = {kind: f"{mark}. " if kind == held else "" for kind in MISSIONS}
    condition = asks(f"{marks['criteria']}Is it so?")
    return task(
        f"{marks['prompt']}Work.",
        model={"category": "coding"},
        availability={"condition": asks(f"{marks['availability']}Is it so?")},
        criteria=criteria(
            DOCUMENT, condition=condition, retries=retries, **(SEVERAL if several else {})
        ),
    )


async def begin(house: TaskHouse, given: dict[str, Any]) -> str:
    await house.install({"it": given})
    return (await house.begin()).id


async def kill_in(house: TaskHouse, run: str, mission: int) -> MissionSent:
    """The runtime gets `kill -9` while it works on the n-th mission."""
    sent = await house.under_way(run, mission)
    house.kill_runtime()
    return sent


def crashes(story: Story) -> list[str]:
    return [told for told in story.said if told.startswith("[SESSION CRASHED]")]


@BOTH
@pytest.mark.parametrize("held", MISSIONS)
async def test_a_crash_in_any_mission_sends_that_mission_again(
    house: TaskHouse, held: str, several: bool
) -> None:
    place = MISSIONS.index(held)
    run = await begin(house, whole_task(held, several=several))
    sent = await kill_in(house, run, place + 1)
    story = await house.ended(run)
    assert (story.view.state, story.view.reason) == ("succeeded", "The criteria hold.")
    models = ["driver", "coder", "driver"] if several else ["coder"] * 3
    told = [f"{kind} 0.1 {model}" for kind, model in zip(MISSIONS, models, strict=True)]
    told.insert(place + 1, told[place].replace("0.1", "0.2"))
    assert story.missions == told
    assert story.texts[place + 1] == AGAIN + story.texts[place] == AGAIN + sent.text
    assert [ended.outcome for ended in story.only(MissionEnded)].count("crashed") == 1
    assert (story.view.crashes, story.view.retries) == (1, 0)
    [crash] = crashes(story)
    number = (place if several else 0) + 1
    kind = "Task" if several and held == "prompt" else "Driving"
    assert crash.startswith(f"[SESSION CRASHED] {kind} session S{number}: {DEAD}")
    assert story.places.count(f"{models[place]} {kind.lower()} closed badly") == 1
    assert len(story.sessions) == (4 if several else 2)


@BOTH
async def test_five_crashes_in_a_row_exhaust_the_prompt(house: TaskHouse, several: bool) -> None:
    run = await begin(house, whole_task("prompt", "HOLD ALWAYS", several=several, retries=3))
    for number in range(5):
        await kill_in(house, run, number + 2)
    story = await house.ended(run)
    assert story.view.state == "failed"
    exhausted = f"The prompt is exhausted after 5 crashes in a row, the last: {DEAD}"
    assert (story.view.reason or "").startswith(exhausted)
    assert (story.view.crashes, story.view.retries) == (5, 0)
    assert story.prompts == ["HOLD ALWAYS. Work.", *[f"{AGAIN}HOLD ALWAYS. Work."] * 4]
    assert len(crashes(story)) == 5


async def test_five_crashes_in_a_row_exhaust_a_condition(house: TaskHouse) -> None:
    run = await begin(house, whole_task("availability", "HOLD ALWAYS", several=False))
    for number in range(5):
        await kill_in(house, run, number + 1)
    story = await house.ended(run)
    exhausted = "availability.condition could not be checked: 5 crashes in a row, the last: "
    assert (story.view.reason or "").startswith(exhausted + DEAD)
    assert story.prompts == []


async def test_a_crash_during_a_retry_sends_the_retry_again(house: TaskHouse) -> None:
    given = task("Stumble once in a retry.", criteria=criteria(DOCUMENT, retries=1, more="Go on."))
    run = await begin(house, given)
    await kill_in(house, run, 2)
    story = await house.ended(run)
    again = (
        f"Stumble once in a retry.\n## Required Tool Not Called: {DOCUMENT}\n"
        "## You accidentally Stopped\nGo on."
    )
    assert story.prompts == ["Stumble once in a retry.", again, AGAIN + again]
    assert story.view.reason == "The criteria hold after 1 retry."
    assert (story.view.crashes, story.view.retries) == (1, 1)


async def test_a_prompt_exhausted_in_a_retry_costs_that_retry(house: TaskHouse) -> None:
    given = task("Stumble through a retry.", criteria=criteria(DOCUMENT, retries=2))
    run = await begin(house, given)
    for number in range(5):
        await kill_in(house, run, number + 2)
    story = await house.ended(run)
    assert [attempt.mission.round for attempt in story.attempts] == [0, *[1] * 5, 2]
    [spent] = [told for told in story.said if "is spent" in told]
    exhausted = "The prompt is exhausted after 5 crashes in a row, the last: "
    assert spent.startswith(f"[DECISION] Retry 1 of 2 is spent: {exhausted}{DEAD}")
    assert story.view.reason == "The criteria hold after 2 retries."


async def test_what_a_killed_session_reported_is_forgotten(house: TaskHouse) -> None:
    given = task("Report: $reported-document", criteria=criteria(DOCUMENT))
    run = await begin(house, given)
    await kill_in(house, run, 1)
    story = await house.ended(run)
    assert story.prompts == ["Report: <MISSING>", f"{AGAIN}Report: <MISSING>"]
    assert [attempt.calls for attempt in story.attempts] == [(), ()]
    assert story.view.state == "failed", "the tool was called in the session that crashed only"


async def test_a_runtime_that_hangs_is_a_crash_too(house: TaskHouse) -> None:
    run = await begin(house, whole_task("prompt", several=False))
    await house.under_way(run, 2)
    pid = house.services.status.pool.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    story = await house.ended(run)
    assert (story.view.state, story.view.crashes) == ("succeeded", 1)


async def test_many_tasks_survive_the_same_death(house: TaskHouse) -> None:
    await house.install({kind: whole_task(kind, several=True) for kind in MISSIONS})
    runs = [(await house.begin(kind)).id for kind in MISSIONS]
    for number, run in enumerate(runs, 1):
        await house.under_way(run, number)
    house.kill_runtime()
    for run in runs:
        story = await house.ended(run)
        assert (story.view.state, story.view.crashes) == ("succeeded", 1)


@BOTH
async def test_a_runtime_killed_between_missions_is_replaced(
    house: TaskHouse, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right before each mission but the first is put to its session."""
    ask, asked = house.sessions.ask, list[str]()

    async def late(
        session: SessionId,
        text: str,
        who: str,
        run: TaskRunId,
        prompt: PromptId,
        pause: Pause | None = None,
        *,
        plan: bool = False,
    ) -> AcceptedPrompt:
        asked.append(text)
        if len(asked) in (2, 4):
            house.kill_runtime()
            await house.until(session, "interrupted")
        return await ask(session, text, who, run, prompt, pause, plan=plan)

    monkeypatch.setattr(house.sessions, "ask", late)
    story = await house.ended(await begin(house, whole_task("none", several=several)))
    assert story.view.state == "succeeded"
    condition = f"Is it so?\n{SAY_SO}"
    assert asked == [condition, "Work.", f"{AGAIN}Work.", condition, AGAIN + condition]
    assert [told.partition(": ")[2][: len(DEAD)] for told in crashes(story)] == [DEAD] * 2
    assert [place for place in story.places if place.endswith("badly")] == (
        ["coder task closed badly", "driver driving closed badly"]
        if several
        else ["coder driving closed badly"] * 2
    )


async def test_a_runtime_that_dies_while_sessions_open_is_a_crash(house: TaskHouse) -> None:
    opened = house.lose_what_is_opened()
    try:
        story = await house.ended(await begin(house, whole_task("none", several=False)))
    finally:
        house.sessions.open_session = opened
    assert story.view.state == "failed"
    exhausted = "availability.condition could not be checked: 5 crashes in a row, the last: "
    assert (story.view.reason or "").startswith(exhausted + DEAD)
    assert story.places == []
    assert len(crashes(story)) == 5
    for told in crashes(story):
        assert told.startswith(
            f"[SESSION CRASHED] No driving session on coder could be opened: {DEAD}"
        )
    assert [session.state for session in story.sessions] == ["closed"] * 5


async def test_a_stop_in_the_middle_of_a_crash_is_a_stop(house: TaskHouse) -> None:
    for number in range(6):
        run = await begin(house, whole_task("prompt", several=False))
        await kill_in(house, run, 2)
        await asyncio.sleep(number * 0.12)
        async with asyncio.timeout(2):
            view = await house.tasks.stop(run, "me")
        assert view.state in ("canceled", "succeeded")
        await house.ended(run)
