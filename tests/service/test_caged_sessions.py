"""Sessions in a cage, on the real runtime: opened, resumed, forked, and refused in words."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.cage_keys import CageKeys
from airboss.cage_settings import CageProfile
from airboss.engine.own_sessions import OwnSessions
from airboss.errors import CageRefused, Conflict, RuntimesBusy
from airboss.harness.setup import Said
from airboss.harness.switching import Switch
from airboss.model.cage_bounds import ServerCages
from airboss.model.cage_events import CageClosed, CageLimit, CageOpened
from airboss.model.events import MessageEnded, SessionInterrupted, SessionOpened, ToolEnded
from airboss.model.ids import TaskRunId, new_task_run_id
from airboss.model.inbox_events import ApprovalAsked
from airboss.model.task_events import MissionSent
from airboss.runtime.cage.ability import Ability, ability
from airboss.runtime.cage.folders import CageFolders
from airboss.runtime.cage.inside import landlock
from airboss.service.forked_sessions import ForkWish
from airboss.session_keys import SessionKeys
from tests.harness.desk import Slot
from tests.runtime.conftest import soon
from tests.service.errands import task, task_house_in
from tests.service.house import ME, House, house_in
from tests.trials import whole_only

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
        assert (cage.strength, cage.profile, cage.git) == ("strong", "default", False)
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
        assert view.cage.peak_memory_mb, "it ends as cages usually do, and tells it all the same"


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


# Where the kernel ends the program alone, the cage ends a moment later.
HUNGRY = "test -e fed || { touch fed; python3 -c 'print(len(bytes([1]) * (1 << 30)))'; sleep 60; }"
HUNGRY_SCRIPT = f"""
models: [{{id: driver}}, {{id: coder}}, {{id: reviewer}}]
rules:
  - when: "Fill the memory"
    steps:
      - call: {{tool: bash, arguments: {{command: "{HUNGRY}", description: x}}}}
      - say: "Done."
"""
TASK_BUSY_SCRIPT = """
models: [{id: driver}, {id: coder}, {id: reviewer}]
rules:
  - when: "work"
    steps: [{call: {tool: bash, arguments: {command: "sleep 60", description: "x"}}}]
"""
BUSY_SCRIPT = """
rules:
  - when: "work"
    steps: [{call: {tool: bash, arguments: {command: "sleep 60", description: "x"}}}]
"""


@strong
@whole_only
@pytest.mark.skipif(landlock.version() < landlock.NARROW_NEEDS, reason="there is no Landlock 6")
async def test_a_narrow_cage_takes_turns_without_any_network(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    options = {"rehearsal": tmp_path / "script.yaml", "cage_narrow": True}
    async with house_in(tmp_path, permissions="ask", **options) as house:
        narrow = Ability("narrow", "There is no bwrap.", "Install it.")
        house.sessions.cages = replace(house.sessions.cages, ability=lambda: narrow)
        session = await start(house, policy="caged")
        for turns in (1, 2):
            await house.sessions.prompt(session, "work", ME)
            await house.until(session, "idle", turns=turns, seconds=40)
        assert (house.work / "made").exists()
        assert not (tmp_path / "outside").exists()
        [cage] = [one for one in await house.story(session) if isinstance(one, CageOpened)]
        assert cage.strength == "narrow"
        assert not (await house.sessions.show(session)).egress


@strong
async def test_there_are_no_more_cages_than_the_settings_allow(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(BUSY_SCRIPT, encoding="utf-8")
    settings: dict[str, Any] = {"max_cages": 1, "rehearsal": tmp_path / "script.yaml"}
    async with house_in(tmp_path, permissions="ask", **settings) as house:
        first = await start(house, policy="caged")
        second = await start(house, policy="caged")
        view = await house.sessions.show(first)
        assert (view.state, view.cage and view.cage.is_open) == ("idle", False), "it rests"
        await house.sessions.prompt(second, "work", ME)
        await house.until(second, "working")
        with pytest.raises(RuntimesBusy, match="raise max_cages in the settings"):
            await start(house, policy="caged")
        await house.sessions.abort(second)


@strong
async def test_a_task_waits_for_a_free_cage_and_says_so(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"max_cages": 1}
    async with task_house_in(tmp_path, BUSY_SCRIPT, permissions="ask", **settings) as house:
        chat = await start(house, policy="caged")
        await house.sessions.prompt(chat, "work", ME)
        await house.until(chat, "working")
        run, folder, slot = new_task_run_id(), str(house.work), Slot()
        agents = OwnSessions(house.sessions, run, folder, "caged", pause=slot)
        opening = asyncio.ensure_future(agents.open("rehearsal", stopped=asyncio.Event()))
        assert await soon(lambda: bool(slot.said))
        assert {*slot.said} == {"a free cage: all 1 are in use (max_cages)"}
        await house.sessions.close(chat, ME)
        await agents.close(await asyncio.wait_for(opening, 40))


async def test_a_task_that_cannot_be_caged_is_refused_in_words(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, TASK_SCRIPT, permissions="ask") as house:
        without_cages(house)
        story = await house.perform(task("Touch the file.", permissions="caged"))
        assert story.view.state == "failed"
        assert "It is to work in a cage, and none holds here" in (story.view.reason or "")
        assert not (house.work / "made").exists()


def cage_folders(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("data/cages/*")}


def put_links(folder: Path, target: Path) -> None:
    target.mkdir()
    for home in folder.glob("data/cages/*/home"):
        (home / target.name).symlink_to(target)


def only_talk(house: House) -> Any:
    sessions: Any = house.sessions
    [talk] = sessions._open.values()
    return talk


def cages_open(house: House) -> int:
    return sum(state.key.cage is not None for state in house.services.status.pool.states)


@strong
async def test_what_a_cage_keeps_is_deleted_with_its_session_and_at_the_next_start(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "kept"
    async with house_in(tmp_path, permissions="ask") as house:
        first, _ = [await start(house, policy="caged") for _ in range(2)]
        assert len(cage_folders(tmp_path)) == 2
        put_links(tmp_path, kept)
        await house.sessions.close(first, ME)
        await house.services.history.delete_session(first)
        [left] = cage_folders(tmp_path)
    # As after a server that was killed while it deleted something.
    CageFolders.of(tmp_path / "data", "dead").make("ses_that_was_deleted")
    put_links(tmp_path, tmp_path / "more")
    async with house_in(tmp_path, permissions="ask"):
        assert cage_folders(tmp_path) == {left}, "it can be resumed"
    assert kept.is_dir()
    assert (tmp_path / "more").is_dir()


@strong
async def test_a_task_whose_cage_ended_for_its_memory_succeeds_in_a_new_one(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"cages": {"default": {"memory_mb": 400}}}
    async with task_house_in(tmp_path, HUNGRY_SCRIPT, permissions="ask", **settings) as house:
        await house.install({"it": task("Fill the memory once.", permissions="caged")})
        story = await house.ended((await house.begin("it")).id, seconds=60)
        assert story.view.state == "succeeded", story.view.reason
        first, second = [await house.story(one.id) for one in story.sessions]
    [limit] = [one for one in first if isinstance(one, CageLimit)]
    assert limit.what == "memory"
    [ended] = [one for one in first if isinstance(one, CageClosed)]
    assert ended.how == "Its limit of memory was reached."
    [lost] = [one for one in first if isinstance(one, SessionInterrupted)]
    assert lost.reason == "The cage was ended: it used more than 400 MB of memory."
    assert [one.profile for one in second if isinstance(one, CageOpened)] == ["default"]
    assert not [one for one in second if isinstance(one, CageLimit)]


@strong
async def test_the_sessions_of_a_task_run_share_a_cage_also_where_its_profile_was_changed(
    tmp_path: Path,
) -> None:
    async with task_house_in(tmp_path, TASK_BUSY_SCRIPT, permissions="ask") as house:
        await house.install({"it": task("work", permissions="caged")})
        run = TaskRunId((await house.begin("it")).id)
        first = (await house.hears(run, MissionSent)).session
        cages = house.sessions.cages
        changed = ServerCages(profiles={"default": CageProfile(processes=100)})
        house.sessions.cages = replace(cages, said=changed)
        second, chat = [
            (await house.sessions.start("coder", str(house.work), ME, "caged", task=one)).id
            for one in (run, None)
        ]
        terms = [await terms_of(house, one) for one in (first, second)]
        assert terms[0] == terms[1]
        assert terms[0].processes != 100
        assert cages_open(house) == 2, "that of the task run, and the chat's"
        assert (await terms_of(house, chat)).processes == 100
        await house.sessions.close(second, ME)
        await house.tasks.stop(run, ME)


async def terms_of(house: House, session: str) -> CageProfile:
    setup = (await house.sessions.setup(session)).setup
    assert setup.cage is not None
    return setup.cage.terms


@strong
async def test_a_caged_task_is_deleted_with_its_cage(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, TASK_SCRIPT, permissions="ask") as house:
        await house.install({"it": task("Touch the file.", permissions="caged")})
        run = (await house.begin("it")).id
        await house.ended(run, seconds=60)
        assert len(cage_folders(tmp_path)) == 1
        await house.services.tasks.delete(run)
        assert cage_folders(tmp_path) == set()


@strong
async def test_a_cage_that_speaks_for_another_session_is_ended_in_words(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        session = await start(house, policy="caged")
        talk = only_talk(house)
        wire = talk.agent._process.wire
        said: dict[str, Any] = {
            "sessionId": "ses_of_somebody",
            "event": {"type": "session.idle", "data": {}},
        }
        message = {"jsonrpc": "2.0", "method": "session.event", "params": said}
        await asyncio.to_thread(wire._hear, wire._connection, message)
        await house.until(session, "interrupted")
        [lost] = [one for one in await house.story(session) if isinstance(one, SessionInterrupted)]
        assert lost.reason == (
            "The cage was ended: the agent runtime in it spoke for a session that it does not have."
        )
        assert await soon(lambda: cages_open(house) == 0)


REPLACE = """
rules:
  - when: "work"
    steps:
      - call:
          tool: bash
          arguments: {command: "touch {cwd}/ready; sleep 60", description: "work"}
      - say: "Done."
"""


@strong
async def test_a_cage_that_a_changed_configuration_opened_is_ended_and_another_one_is_closed(
    tmp_path: Path,
) -> None:
    (tmp_path / "script.yaml").write_text(REPLACE, encoding="utf-8")
    async with house_in(tmp_path, permissions="ask", rehearsal=tmp_path / "script.yaml") as house:
        await outside(house.work, "init", "-q")
        session = await start(house, policy="caged")
        await house.sessions.prompt(session, "work", ME)
        assert await soon((house.work / "ready").exists, 40)
        await outside(house.work, "config", "user.name", "Ann")
        await house.until(session, "interrupted")
        story = await house.story(session)
        [limit] = [one for one in story if isinstance(one, CageLimit)]
        assert limit.what == "replaced"
        [lost] = [one for one in story if isinstance(one, SessionInterrupted)]
        assert lost.reason == limit.text
        assert [one.git for one in story if isinstance(one, CageOpened)] == [True]
        # The new cage closes the new file.
        await house.sessions.resume(session, ME)
        view = await house.sessions.show(session)
        assert view.cage is not None
        assert (view.cage.is_open, view.cage.limit) == (True, None)


async def outside(folder: Path, *words: str) -> None:
    git = await asyncio.create_subprocess_exec("git", "-C", str(folder), *words)
    assert await git.wait() == 0
