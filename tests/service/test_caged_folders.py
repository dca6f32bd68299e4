"""Folders beside the working directory in a cage, on the real runtime: skills, `directories`, and
what people attach."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.prompts import Extras
from airboss.harness.setup import Said
from airboss.model.events import ToolEnded
from airboss.model.prompt_events import PromptSelection
from airboss.runtime.cage.ability import ability
from airboss.service.forked_sessions import ForkWish
from airboss.session_keys import SessionKeys
from tests.service.house import ME
from tests.service.test_session_agents import skills_in, told_of
from tests.service.test_session_setup import MODEL, Watched, system, watched_in

pytestmark = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncGenerator[Watched]:
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual/page.txt").write_text("Owls are quiet.", "utf-8")
    skills_in(tmp_path / "skills")
    async with watched_in(tmp_path, permissions="caged") as watched:
        yield watched


async def shell(watched: Watched, session: str, command: str) -> str:
    await watched.asked(session, f"shell {command}")
    ends = [one for one in await watched.house.story(session) if isinstance(one, ToolEnded)]
    return ends[-1].text


async def test_skills_and_directories_are_read_in_the_cage_and_not_written(
    watched: Watched, tmp_path: Path
) -> None:
    session = await watched.opened(skills=["../skills"], directories=["../manual"])
    eyes, page = tmp_path / "skills/owl/eyes.txt", tmp_path / "manual/page.txt"
    for _ in range(2):
        request = await watched.asked(session)
        assert "All about owls" in told_of(request)
        assert "One, two, three." in await shell(watched, session, f"cat {eyes}")
        assert "Owls are quiet." in await shell(watched, session, f"cat {page}")
        await shell(watched, session, f"echo mine > {page}; echo mine > {eyes}; true")
        await watched.resumed(session)
    read = f"call view {json.dumps({'path': str(page)})}"
    assert "Owls are quiet." in told_of(await watched.asked(session, read))
    assert (page.read_text("utf-8"), eyes.read_text("utf-8")) == (
        "Owls are quiet.",
        "One, two, three.",
    )


async def test_what_nobody_trusted_opens_no_folder(watched: Watched, tmp_path: Path) -> None:
    keys = SessionKeys.model_validate({"directories": ["../manual"], "skills": ["../skills"]})
    view = await watched.house.sessions.start(
        MODEL, str(watched.house.work), ME, said=(Said(keys, "entry."),)
    )
    folders = f"{tmp_path}/manual {tmp_path}/skills"
    assert "No such file" in await shell(watched, view.id, f"ls {folders} 2>&1; true")


async def test_a_folder_that_no_cage_may_have_is_refused_by_name(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = skills_in(tmp_path / "people") / "owl"
    monkeypatch.setattr(Path, "home", lambda: home)
    words = "cannot be read in a cage: the home folder is in it. Name a folder below it"
    with pytest.raises(Invalid, match=f"^skills: {home.parent} {words}"):
        await watched.opened(skills=["../people"])
    with pytest.raises(Invalid, match=f"^directories: {home} cannot be read in a cage: it is the"):
        await watched.opened(directories=[str(home)])


async def test_a_fork_into_a_cage_has_them_too(watched: Watched, tmp_path: Path) -> None:
    said = Said(SessionKeys.model_validate({"directories": ["../manual"]}), may_widen=True)
    sessions = watched.house.sessions
    source = await sessions.start(
        MODEL, str(watched.house.work), ME, policy="approve-all", said=(said,)
    )
    await watched.asked(source.id)
    copy = await sessions.fork(source.id, ForkWish(policy="caged"), ME)
    assert "Owls are quiet." in await shell(watched, copy.id, f"cat {tmp_path}/manual/page.txt")


@pytest.mark.parametrize(
    ("attached", "place"),
    [
        (Extras(files=("../other.txt",)), r"files\[0\]: \.\./other\.txt"),
        (Extras(files=("..",)), r"files\[0\]: \.\."),
        (
            Extras(selection=PromptSelection(path="../other.txt", text="x")),
            r"selection\.path: \.\./other\.txt",
        ),
    ],
)
async def test_an_attached_file_that_the_cage_does_not_have_is_refused(
    watched: Watched, tmp_path: Path, attached: Extras, place: str
) -> None:
    (tmp_path / "other.txt").write_text("x", "utf-8")
    (watched.house.work / "a.txt").write_text("x", "utf-8")
    session = await watched.opened(directories=["../manual"])
    words = "is not there in the session's cage. Copy it into the working directory"
    with pytest.raises(Invalid, match=f"^{place} {words}"):
        await watched.house.sessions.prompt(session, "look", ME, more=attached)
    seen = Extras(files=("a.txt", "../manual/page.txt"))
    await watched.house.sessions.prompt(session, "say hello", ME, more=seen)
    await watched.house.until(session, "idle", turns=1)


async def test_the_sessions_of_a_task_share_a_cage_that_has_its_folders(
    watched: Watched, tmp_path: Path
) -> None:
    """The one that works, and the one that judges."""
    look = f"shell cat {tmp_path}/manual/page.txt > $0; readlink /proc/self/ns/pid >> $0"
    task: dict[str, Any] = {
        "directories": ["../manual"],
        "prompt": [look.replace("$0", "worked")],
        "criteria": {
            "condition": [look.replace("$0", "judged") + "; true job_boolean_true"],
            "runConditionInSameSession": False,
            "failureAction": {"retryTimes": 0},
        },
    }
    await watched.run(trusted=True, permissions="caged", task=task)
    worked = (watched.house.work / "worked").read_text("utf-8")
    assert worked.startswith("Owls are quiet.")
    assert (watched.house.work / "judged").read_text("utf-8") == worked


async def test_the_agent_is_told_where_its_repository_is_not_in_the_cage(
    watched: Watched, tmp_path: Path
) -> None:
    words = "git does not work here"
    (tmp_path / ".git").mkdir()
    session = await watched.opened()
    for _ in range(2):
        assert words in system(await watched.asked(session))
        await watched.resumed(session)
    (tmp_path / ".git").rmdir()
    assert words not in system(await watched.asked(await watched.opened()))
