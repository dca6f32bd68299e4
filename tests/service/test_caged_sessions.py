"""Sessions in a cage, on the real runtime: opened, resumed, forked, and refused in words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.cage_keys import CageKeys
from airboss.errors import CageRefused, Conflict, RuntimesBusy
from airboss.harness.setup import Said
from airboss.harness.switching import Switch
from airboss.model.cage_events import CageOpened
from airboss.model.events import MessageEnded, SessionOpened, ToolEnded
from airboss.model.inbox_events import ApprovalAsked
from airboss.runtime.cage.ability import Ability, ability
from airboss.service.forked_sessions import ForkWish
from airboss.session_keys import SessionKeys
from tests.service.errands import task, task_house_in
from tests.service.house import ME, House, house_in

SCRIPT = """
rules:
  - when: "work"
    steps:
      - call:
          tool: bash
          arguments:
            command: "touch {cwd}/made; touch {cwd}/../outside; curl -s http://other.example/; true"
            description: "work"
      - say: "Done."
"""
NOTHING_HOLDS = Ability("none", "This is a test.", "Use Linux.")

strong = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")


def without_cages(house: House) -> None:
    house.sessions.cages = replace(house.sessions.cages, ability=lambda: NOTHING_HOLDS)


def in_cage(profile: str) -> tuple[Said, ...]:
    return (Said(SessionKeys(cage=CageKeys(profile=profile)), may_widen=True),)


async def start(house: House, **asked: Any) -> str:
    return (await house.sessions.start("rehearsal", str(house.work), ME, **asked)).id


async def opened(house: House, session: str) -> SessionOpened:
    said = (await house.story(session))[0]
    assert isinstance(said, SessionOpened)
    return said


async def turn(house: House, session: str, turns: int) -> str:
    await house.sessions.prompt(session, "Say hello.", ME)
    await house.until(session, "idle", turns=turns, seconds=40)
    said = [one.text for one in await house.story(session) if isinstance(one, MessageEnded)]
    return said[-1]


def caged_states(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("data/cages/*/state/session-state/*")}


async def test_without_a_cage_a_chat_asks_and_says_so(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        without_cages(house)
        session = await start(house, policy="caged")
        said = await opened(house, session)
        assert (said.policy, said.setup) == ("ask", None)
        assert said.uncaged == "It is not caged, and asks instead: This is a test."
        with pytest.raises(CageRefused, match=r"none holds here: This is a test\. Use Linux\."):
            await start(house, said=in_cage("default"))


async def test_a_session_enters_a_cage_only_as_a_copy(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        session = await start(house)
        with pytest.raises(Conflict, match="only as a copy of itself"):
            await house.sessions.switch(session, Switch(permissions="caged"), ME)
        without_cages(house)
        await turn(house, session, 1)
        with pytest.raises(CageRefused, match="This is a test"):
            await house.sessions.fork(session, ForkWish(policy="caged"), ME)


async def test_where_cages_are_always_used_nothing_goes_on_without(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        session = await start(house)
        await turn(house, session, 1)
    async with house_in(tmp_path, permissions="ask", cage="always") as house:
        with pytest.raises(CageRefused, match="Fork it"):
            await house.sessions.resume(session, ME)
        without_cages(house)
        with pytest.raises(CageRefused, match="Every session has to work in a cage here"):
            await start(house)


@strong
async def test_a_caged_chat_works_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        session = await start(house, policy="caged")
        view = await house.sessions.show(session)
        assert (view.policy, view.cage_profile) == ("caged", "default")
        assert await turn(house, session, 1)
        assert session in caged_states(tmp_path)
        with pytest.raises(Conflict, match="leaves a cage only as"):
            await house.sessions.switch(session, Switch(permissions="approve-all"), ME)
    async with house_in(tmp_path, permissions="ask") as house:
        view = await house.sessions.resume(session, ME)
        assert (view.policy, view.cage_profile, view.restart_number) == ("caged", "default", 0)
        assert await turn(house, session, 2)


@strong
async def test_a_fork_enters_a_cage_and_leaves_it_with_its_history(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        source = await start(house)
        await turn(house, source, 1)
        inside = await house.sessions.fork(source, ForkWish(policy="caged"), ME)
        assert (inside.policy, inside.cage_profile, inside.restart_number) == (
            "caged",
            "default",
            0,
        )
        await turn(house, inside.id, 2)
        outside = await house.sessions.fork(inside.id, ForkWish(policy="ask"), ME)
        assert (outside.policy, outside.cage_profile, outside.restart_number) == ("ask", None, 0)
        await turn(house, outside.id, 3)


@strong
async def test_what_a_caged_agent_does_stays_in_its_folder_and_its_calls_are_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    async with house_in(tmp_path, permissions="ask", rehearsal=tmp_path / "script.yaml") as house:
        session = await start(house, policy="caged")
        await house.sessions.prompt(session, "work", ME)
        await house.until(session, "idle", turns=1, seconds=40)
        assert (house.work / "made").exists()
        assert not (tmp_path / "outside").exists()
        story = await house.story(session)
        assert not [one for one in story if isinstance(one, ApprovalAsked)]
        [cage] = [one for one in story if isinstance(one, CageOpened)]
        assert (cage.strength, cage.profile) == ("strong", "default")
        [ended] = [one for one in story if isinstance(one, ToolEnded)]
        assert "It is not among the hosts of this cage." in str(ended)
        view = await house.sessions.show(session)
        assert view.cage is not None
        assert view.cage.is_open
        assert view.egress is not None
        assert [(one.host, one.refused) for one in view.egress] == [("other.example", 1)]
        await house.sessions.close(session, ME)
        view = await house.sessions.show(session)
        assert view.cage is not None
        assert not view.cage.is_open


TASK_SCRIPT = """
models: [{id: driver}, {id: coder}, {id: reviewer}]
rules:
  - when: "Touch the file"
    steps:
      - call: {tool: bash, arguments: {command: "touch made; ls /root /home; true", description: x}}
      - say: "Done."
"""


@strong
async def test_a_caged_task_asks_nobody_on_a_server_that_asks(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, TASK_SCRIPT, permissions="ask") as house:
        await house.install({"it": task("Touch the file.", permissions="caged")})
        story = await house.ended((await house.begin("it")).id, seconds=60)
        assert story.view.state == "succeeded", story.view.reason
        assert (house.work / "made").exists()
        assert {(one.policy, one.cage_profile) for one in story.sessions} == {("caged", "default")}


@strong
async def test_there_are_no_more_cages_than_the_settings_allow(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask", max_cages=1) as house:
        await start(house, policy="caged")
        with pytest.raises(RuntimesBusy, match="raise max_cages in the settings"):
            await start(house, policy="caged")


async def test_a_task_that_cannot_be_caged_is_refused_in_words(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, TASK_SCRIPT, permissions="ask") as house:
        without_cages(house)
        story = await house.perform(task("Touch the file.", permissions="caged"))
        assert story.view.state == "failed"
        assert "It is to work in a cage, and none holds here" in (story.view.reason or "")
        assert not (house.work / "made").exists()
