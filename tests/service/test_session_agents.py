"""Agents and skills of a session are in the requests that its model gets: when it is opened, when
it is resumed, and in a task. On the real runtime."""

import json
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.model.tool_table import OURS
from airboss.service.trust import digest_of
from airboss.session_keys import SessionKeys, SessionSettings
from tests.service.house import ME
from tests.service.test_session_setup import MODEL, Watched, offered, system
from tests.service.test_session_setup import watched as watched

OWL = "---\nname: owl\ndescription: All about owls\n---\nThe owl has three eyes.\n"
REVIEWER: dict[str, Any] = {
    "description": "Reviews what others did.",
    "prompt": "You look for mistakes.",
    "tools": ["view"],
    "reasoningEffort": "low",
    "skills": ["owl"],
}


def skills_in(folder: Path) -> Path:
    (folder / "owl").mkdir(parents=True)
    (folder / "owl" / "SKILL.md").write_text(OWL, "utf-8")
    (folder / "owl" / "eyes.txt").write_text("One, two, three.", "utf-8")
    return folder


def handing_over(agent: str, words: str) -> str:
    task = {"agent_type": agent, "name": "helper", "description": "help", "mode": "sync"}
    return f"call task {json.dumps({**task, 'prompt': words})}"


def told_of(request: dict[str, Any]) -> str:
    return json.dumps(request)


async def test_agents_and_skills_are_told_and_work_also_behind_a_resume(watched: Watched) -> None:
    skills = skills_in(watched.house.work / "skills")
    session = await watched.opened(agents={"reviewer": REVIEWER}, skills=["skills"])
    for _ in range(2):
        watched.stage.requests.clear()
        await watched.asked(session, handing_over("reviewer", "say hello"))
        own, of_agent, *_ = watched.stage.requests
        assert "Reviews what others did." in told_of(own)
        assert "All about owls" in told_of(own)
        assert "You look for mistakes." in system(of_agent)
        assert "The owl has three eyes." in told_of(of_agent)
        assert (offered(of_agent), of_agent["reasoning_effort"]) == ({"view"}, "low")
        await watched.resumed(session)
    read = f"call view {json.dumps({'path': str(skills / 'owl' / 'eyes.txt')})}"
    assert "One, two, three." in told_of(await watched.asked(session, read))


async def test_a_session_that_is_an_agent_has_its_prompt_its_tools_and_those_of_jobs(
    watched: Watched,
) -> None:
    agent = {**REVIEWER, "skills": None}
    session = await watched.opened(agents={"reviewer": agent}, agent="reviewer")
    for _ in range(2):
        request = await watched.asked(session)
        assert "You look for mistakes." in system(request)
        assert offered(request) >= {"view", *OURS}
        assert not offered(request) & {"bash", "edit", "create"}
        assert request["reasoning_effort"] == "low"
        await watched.resumed(session)


async def test_a_session_is_on_the_model_of_the_agent_that_it_is(watched: Watched) -> None:
    agents = {"reviewer": {"description": "d", "prompt": "p", "model": MODEL}}
    watched.house.sessions.session_keys = SessionSettings.model_validate({"agents": agents})
    view = await watched.house.sessions.start(
        None, str(watched.house.work), ME, said=(_said(agent="reviewer"),)
    )
    assert view.model == MODEL
    with pytest.raises(Invalid, match=r'^agent: There is no agent "writer"\. There are: reviewer'):
        await watched.opened(agent="writer")


def _said(**keys: Any) -> Any:
    from airboss.harness.setup import Said

    return Said(SessionKeys.model_validate(keys))


async def test_a_task_is_an_agent_of_its_entry_with_the_skills_that_were_trusted(
    watched: Watched,
) -> None:
    skills = skills_in(watched.entry.parent / "skills")
    said: dict[str, Any] = {
        "agents": {"reviewer": {**REVIEWER, "prompt": ["You look for mistakes."]}},
        "skills": ["skills"],
        "task": {"agent": "reviewer"},
    }
    request = await watched.run(trusted=True, **said)
    assert "You look for mistakes." in system(request)
    assert "The owl has three eyes." in told_of(request)
    entries = watched.house.services.entries
    assert (await entries.look(str(watched.entry))).files[-1].path.endswith("eyes.txt")
    rows = await entries.files.trust.all()
    assert {Path(row.row.path).name for row in rows} == {"airboss.json", "SKILL.md", "eyes.txt"}

    (skills / "owl" / "eyes.txt").write_text("Four.", "utf-8")
    digest = digest_of(watched.entry.read_bytes())
    installed = await entries.to_run()
    assert installed is not None
    assert installed.entry.skills == (str(skills),)
    assert not await entries.files.is_trusted(watched.entry, digest, installed.entry)
    watched.stage.requests.clear()
    with pytest.raises(IndexError):  # its session was refused: the model was not asked
        await watched.run(**said)


async def test_a_person_may_name_an_agent_of_the_entry_in_use(watched: Watched) -> None:
    from airboss.service.entry_agents import said_of_entry

    agents = {"reviewer": {"description": "d", "prompt": ["p"]}}
    await watched.run(agents=agents, skills=["skills"])
    entries, nothing = watched.house.services.entries, SessionKeys()
    [said] = await said_of_entry(entries, SessionKeys(agent="reviewer"), nothing)
    assert said.keys.agents is not None
    assert (said.keys.agents["reviewer"].prompt, said.may_widen) == ("p", False)
    assert await said_of_entry(entries, SessionKeys(agent="writer"), nothing) == ()
    assert await said_of_entry(entries, nothing, nothing) == ()


async def test_skills_that_nobody_trusts_are_a_wish(watched: Watched) -> None:
    skills = skills_in(watched.entry.parent / "skills")
    assert "All about owls" not in told_of(await watched.run(skills=["skills"]))
    installed = await watched.house.services.entries.to_run()
    assert installed is not None
    assert installed.ungranted == (
        f"entry.skills: It asks to have the skills in {skills}, which is not granted until a "
        "person trusts this file.",
    )


async def test_a_folder_that_the_runtime_would_pass_over_opens_no_session(
    watched: Watched,
) -> None:
    for folder, why in (
        ("nowhere", "does not exist"),
        ("/usr", "is outside the folders where"),
        (".", "has no skill"),
    ):
        with pytest.raises(Invalid, match=rf"^skills\[0\]: The folder .* {why}"):
            await watched.opened(skills=[folder])
