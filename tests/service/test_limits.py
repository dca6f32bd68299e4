"""Limits and what is used, on the real runtime: a limit asks, and a person says yes or no."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Conflict
from airboss.model.events import PermissionDecided, SessionError, TurnEnded, TurnUsage
from airboss.model.inbox_events import InboxItem, ItemSettled, LimitReached
from airboss.model.limits import UsageLimits
from airboss.model.runs import RunView
from airboss.model.task_runs import TaskRunView
from airboss.service.run_request import NewRun
from airboss.service.tasks import NewTaskRun
from tests.service.house import ME, House, house_in
from tests.service.test_inbox import waiting

SCRIPT = """
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 2}
  - {id: other, name: Other, multiplier: 0.5}
rules:
  - when: "hand over"
    steps:
      - call:
          tool: task
          arguments:
            {agent_type: task, description: d, name: helper, mode: sync, prompt: "sub work"}
      - call: {tool: bash, arguments: {command: "echo one", description: "x"}}
      - say: "Done."
  - when: "sub work"
    steps:
      - call: {tool: bash, arguments: {command: "echo sub", description: "x"}}
      - say: "Sub done."
  - when: "touch"
    steps:
      - call: {tool: bash, arguments: {command: "echo x >> {cwd}/one.txt", description: "x"}}
      - call: {tool: bash, arguments: {command: "echo x >> {cwd}/two.txt", description: "x"}}
      - say: "Touched."
  - when: "slow"
    steps:
      - sleep: 0.4
      - call: {tool: bash, arguments: {command: "touch {cwd}/slow.txt", description: "x"}}
      - say: "Slow."
  - when: "silent"
    steps: [{sleep: 2.5}, {say: "Still there."}]
  - when: "dropped"
    times: 1
    steps: [{say: "I be"}, {drop: true}]
  - when: "."
    steps: [{say: "Yes."}]
"""


def task(prompt: str, **more: Any) -> dict[str, Any]:
    model = {"category": "driving"}
    return {"model": model, "prompt": [prompt], "requireUserInput": False, **more}


def ref(name: str) -> dict[str, Any]:
    return {"kind": "Ref", "taskId": name}


def seq(*names: str) -> dict[str, Any]:
    return {"kind": "Seq", "works": [ref(name) for name in names]}


def par(*names: str) -> dict[str, Any]:
    return {"kind": "Par", "works": [ref(name) for name in names]}


ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "plain": task("Say yes."),
        "touch": task("touch it"),
        "bounded": task("touch it", limits={"tokens": 100}),
        "once": task(
            "Say yes.",
            limits={"turns": 1},
            criteria={"toolExecuted": ["job_boolean_true"], "failureAction": {"retryTimes": 1}},
        ),
        "slow": task("slow work"),
    },
    "jobs": {
        "one": {"work": ref("plain")},
        "two": {"work": seq("plain", "touch"), "limits": {"turns": 1}},
        "both": {"work": par("touch", "touch"), "limits": {"tokens": 100}},
        "bounded": {"work": ref("bounded")},
        "slow": {"work": seq("slow", "plain"), "limits": {"minutes": 0.005}},
        "cut": {"work": ref("slow")},
    },
    "grid": [],
}


class LimitHouse(House):
    """With a few more words."""

    async def session(self, **limits: float) -> str:
        given = UsageLimits(**limits)
        view = await self.sessions.start("rehearsal", str(self.work), ME, limits=given)
        return view.id

    async def say(self, session: str, text: str) -> None:
        await self.sessions.prompt(session, text, ME)

    async def item(self) -> tuple[InboxItem, LimitReached]:
        item = (await waiting(self))[0]
        assert isinstance(item.asked, LimitReached)
        return item, item.asked

    async def go_on(self, item: InboxItem) -> None:
        settled = await self.services.decisions.decide(item.id, "allow-once", "ada")
        assert settled.outcome == "go-on"

    async def refuse(self, item: InboxItem) -> None:
        await self.services.decisions.decide(item.id, "deny", "ada")

    async def install(self, **more: Any) -> None:
        body = json.dumps({"entry": {**ENTRY, **more}}).encode()
        await self.services.entry_checks.install_request(body)

    async def job(self, name: str) -> str:
        return (await self.services.runs.start(NewRun(name, "", str(self.work), ME))).id

    async def run_until(self, run: str, *states: str) -> RunView:
        async with asyncio.timeout(20), self.services.log.follow(run, 0) as follower:
            while (view := await self.services.runs.show(run)).state not in states:
                await follower.next(1)
        return view

    async def task(self, name: str, **more: Any) -> TaskRunView:
        request = NewTaskRun(name, "", ME, cwd=None if more else str(self.work), **more)
        return await self.services.tasks.start(request)

    async def task_until_over(self, run: str) -> TaskRunView:
        async with asyncio.timeout(20), self.services.log.follow(run, 0) as follower:
            while not (view := await self.services.tasks.show(run)).is_over:
                await follower.next(1)
        return view

    def lines(self, name: str) -> int:
        file = self.work / name
        return len(file.read_text("utf-8").splitlines()) if file.exists() else 0


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[LimitHouse]:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    async with house_in(
        tmp_path, permissions="approve-all", rehearsal=script, max_tasks=1
    ) as house:
        yield LimitHouse(house.services, house.work)


async def test_every_call_is_counted_once_and_those_of_sub_agents_apart(house: LimitHouse) -> None:
    """USE-4: a turn with several calls is the sum of them, and child agents stand apart."""
    session = await house.session()
    await house.say(session, "hand over")
    view = await house.until(session, "idle", turns=1)
    story = await house.story(session)
    told = [one.usage for one in story if isinstance(one, TurnUsage)]
    assert [(one.requests, one.sub_agents.requests) for one in told] == [
        (1, 0),
        (0, 1),
        (0, 1),
        (1, 0),
        (1, 0),
    ]
    [ended] = [one for one in story if isinstance(one, TurnEnded)]
    assert view.usage == ended.usage
    for name in ("requests", "input_tokens", "output_tokens"):
        assert getattr(ended.usage, name) == sum(getattr(one, name) for one in told)
    assert ended.usage.tokens == sum(one.tokens for one in told)
    assert (ended.usage.turns, ended.usage.multiplier) == (1, 2)
    assert ended.usage.milliseconds > 0
    assert view.spending.requests == 0


async def test_a_call_that_broke_off_and_was_made_again_is_counted_as_it_was_told(
    house: LimitHouse,
) -> None:
    session = await house.session()
    await house.say(session, "dropped")
    view = await house.until(session, "idle", turns=1)
    story = await house.story(session)
    assert "turn.retrying" in [one.kind for one in story]
    told = [one.usage for one in story if isinstance(one, TurnUsage)]
    assert view.usage.requests == len(told)
    assert view.usage.tokens == sum(one.tokens for one in told)


async def test_a_turn_that_loses_its_runtime_says_what_it_had_used(house: LimitHouse) -> None:
    session = await house.session()
    await house.say(session, "slow")
    async with asyncio.timeout(10), house.sessions.follow(session, 0) as follower:
        while not (await house.sessions.show(session)).spending.requests:
            await follower.next(1)
    house.kill_runtime()
    view = await house.until(session, "interrupted")
    assert (view.usage.requests, view.usage.turns) == (1, 1)
    assert view.spending.requests == 0


async def test_a_session_asks_before_the_turn_that_is_too_many(house: LimitHouse) -> None:
    session = await house.session(turns=1)
    await house.say(session, "hello")
    await house.until(session, "idle", turns=1)
    await house.say(session, "hello")
    item, asked = await house.item()
    assert (asked.scope, asked.limit, asked.allowed, asked.used) == ("session", "turns", 1, 1)
    assert asked.before_turn
    assert asked.expires_at is None
    assert (await house.sessions.show(session)).usage.turns == 1
    await house.go_on(item)
    view = await house.until(session, "idle", turns=2)
    assert view.usage.turns == 2
    await house.say(session, "hello")  # the same amount again was granted, and is used up
    item, asked = await house.item()
    assert (asked.allowed, asked.used) == (2, 2)
    await house.refuse(item)
    view = await house.until(session, "idle", turns=3)
    assert view.usage.turns == 2
    [error] = [one for one in await house.story(session) if isinstance(one, SessionError)]
    assert error.name == "LimitReached"
    assert error.message == "ada denied more work at the limit of 2 turns of the session (2 used)."


async def test_a_turn_over_its_tokens_is_held_at_its_next_tool(house: LimitHouse) -> None:
    session = await house.session(tokens=100)
    await house.say(session, "touch")
    item, asked = await house.item()
    assert (asked.limit, asked.before_turn, house.lines("one.txt")) == ("tokens", False, 0)
    view = await house.sessions.show(session)
    assert asked.used == view.spending.tokens > 100
    await house.go_on(item)
    item, asked = await house.item()  # its next call took more than the same amount again
    assert (house.lines("one.txt"), house.lines("two.txt")) == (1, 0)
    await house.refuse(item)
    await house.until(session, "idle", turns=1)
    assert house.lines("two.txt") == 0
    story = await house.story(session)
    assert [one.by for one in story if isinstance(one, PermissionDecided)][-1] == "limit"
    [ended] = [one for one in story if isinstance(one, TurnEnded)]
    assert (ended.outcome, ended.usage.requests) == ("failed", 2)


async def test_time_in_which_a_person_is_waited_for_is_no_time_at_work(house: LimitHouse) -> None:
    session = await house.session(minutes=0.005)
    await house.say(session, "slow")
    item, asked = await house.item()
    assert asked.limit == "minutes"
    assert 0.005 <= asked.used < 0.1
    await asyncio.sleep(1)
    assert not (house.work / "slow.txt").exists()
    await house.go_on(item)
    view = await house.until(session, "idle", turns=1)
    assert (house.work / "slow.txt").exists()
    told = (await house.sessions.events(session, 0, 100)).items
    at = {one.event.kind: one.at for one in told}
    assert at["turn.ended"] - at["limit.reached"] > 900
    assert view.usage.milliseconds < at["turn.ended"] - at["turn.started"] - 900


async def test_an_agent_that_is_silent_for_too_long_is_asked_about_until_it_speaks(
    house: LimitHouse,
) -> None:
    session = await house.session(idle_minutes=1 / 60)
    await house.say(session, "silent")
    item, asked = await house.item()
    assert (asked.limit, asked.before_turn) == ("idleMinutes", False)
    await house.go_on(item)
    item, _ = await house.item()  # as long again, and nobody has decided
    await house.until(session, "idle", turns=1)
    assert await waiting(house, 0) == []
    with pytest.raises(Conflict, match="no longer needed"):
        await house.go_on(item)


async def test_a_no_to_a_silent_agent_ends_its_turn(house: LimitHouse) -> None:
    session = await house.session(idle_minutes=0.5 / 60)
    await house.say(session, "silent")
    item, _ = await house.item()
    await house.refuse(item)
    await house.until(session, "idle", turns=1)
    [ended] = [one for one in await house.story(session) if isinstance(one, TurnEnded)]
    assert ended.outcome == "failed"


async def test_an_abort_ends_what_a_limit_held_back(house: LimitHouse) -> None:
    session = await house.session(turns=0)
    await house.say(session, "hello")
    await house.item()
    view = await house.sessions.abort(session)
    assert (view.state, view.usage.turns) == ("idle", 0)
    assert await waiting(house, 0) == []
    settled = [one for one in await house.story(session) if isinstance(one, ItemSettled)]
    assert [one.outcome for one in settled] == ["cancelled"]


async def test_a_task_parks_at_its_own_limit_and_fails_where_a_person_says_no(
    house: LimitHouse,
) -> None:
    await house.install()
    run = await house.task("once")
    item, asked = await house.item()  # its retry would be the second turn
    assert (asked.scope, asked.limit, item.task_run) == ("task once", "turns", run.id)
    await house.refuse(item)
    view = await house.task_until_over(run.id)
    assert view.state == "failed"
    assert "ada denied more work at the limit of 1 turns of the task once" in (view.reason or "")
    assert (view.usage.turns, view.usage.requests) == (1, 1)


async def test_the_entrys_limit_holds_for_a_task_in_a_borrowed_session_too(
    house: LimitHouse,
) -> None:
    await house.install(limits={"tokens": 100})
    session = await house.session()
    run = await house.task("touch", session=session)
    item, asked = await house.item()
    assert (asked.scope, item.session) == ("entry", session)
    await house.services.tasks.stop(run.id, ME)
    view = await house.task_until_over(run.id)
    assert (view.state, view.usage.requests) == ("canceled", 1)
    assert await waiting(house, 0) == []
    assert (await house.sessions.show(session)).state == "idle"


async def test_a_jobs_limit_counts_all_its_tasks_and_holds_no_place_while_it_asks(
    house: LimitHouse,
) -> None:
    await house.install()
    run = await house.job("two")
    item, asked = await house.item()
    assert (asked.scope, asked.limit, asked.used, item.run) == ("job two", "turns", 1, run)
    view = await house.run_until(run, "waiting-for-person")
    assert view.waits_for == "your decision: the limit of 1 turns of the job two is reached"
    assert view.works_succeeded == 1
    await house.run_until(await house.job("one"), "succeeded")  # in the only place there is
    await house.go_on(item)
    view = await house.run_until(run, "succeeded")
    assert (view.usage.turns, view.usage.requests) == (2, 4)
    assert (house.lines("one.txt"), house.lines("two.txt")) == (1, 1)


async def test_tasks_beside_each_other_ask_once_for_the_same_limit(house: LimitHouse) -> None:
    await house.install()
    run = await house.job("both")
    async with asyncio.timeout(20), house.services.log.follow(run, 0) as follower:
        while sum(one.for_person for one in (await house.services.runs.show(run)).running) < 2:
            await follower.next(1)
    item, asked = await house.item()
    assert (asked.scope, asked.limit) == ("job both", "tokens")
    seen = {item.id}
    async with asyncio.timeout(20), house.services.log.follow("inbox", 0) as follower:
        while (await house.services.runs.show(run)).is_open:
            items = (await house.services.inbox.show()).items
            assert len(items) <= 1
            for one in items:
                seen.add(one.id)
                await house.go_on(one)
            await follower.next(0.1)
    assert (await house.services.runs.show(run)).state == "succeeded"
    assert len(seen) > 1


async def test_a_limit_of_minutes_of_a_job_is_asked_before_its_next_task(house: LimitHouse) -> None:
    await house.install()
    run = await house.job("slow")
    item, asked = await house.item()
    assert (asked.scope, asked.limit) == ("job slow", "minutes")
    await house.refuse(item)
    view = await house.run_until(run, "failed")
    assert view.works_failed == 1
    assert not (house.work / "slow.txt").exists()


async def test_what_a_stopped_run_had_used_is_not_lost(house: LimitHouse) -> None:
    await house.install()
    run = await house.job("cut")
    async with asyncio.timeout(10), house.services.log.follow(run, 0) as follower:
        while not (house.work / "slow.txt").exists():
            await follower.next(0.02)
    await house.services.runs.stop(run, ME)
    view = await house.run_until(run, "canceled")
    assert view.usage.requests >= 1
    story = await house.services.runs.story(view)
    [work] = story.works
    assert work.usage == view.usage
    of_task = await house.services.tasks.show(work.task_run)
    assert (of_task.state, of_task.usage) == ("canceled", view.usage)
