"""What is said about a session is in the requests that its model gets: when it is opened, when it
is resumed, and in a task. On the real runtime, with a stand-in for the model's service."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Invalid
from airboss.harness.setup import Said
from airboss.model.events import SessionOpened
from airboss.model.tool_table import EXTENSIONS_MANAGE, EXTENSIONS_RELOAD, OURS
from airboss.provider_settings import Provider, ProviderModel
from airboss.runtime.cage.ability import ability
from airboss.runtime.hooks import Pass, ToolUse, Veto
from airboss.service.tasks import NewTaskRun
from airboss.session_keys import SessionKeys, SessionSettings, ToolKeys
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, House, house_in

OURS_IN_TASKS = {*OURS} - {EXTENSIONS_MANAGE, EXTENSIONS_RELOAD}

MODEL = "house/stand-in"
ENTRY: dict[str, Any] = {
    "models": {"driving": MODEL, "deep": {"id": MODEL, "reasoningEffort": "high"}},
    "promptVariables": {"rule": ["Use tabs."]},
    "tasks": {
        "greet": {
            "model": {"category": "deep"},
            "prompt": ["say hello"],
            "requireUserInput": False,
        }
    },
    "jobs": {},
    "grid": [],
}


@dataclass
class Watched:
    """A house whose model remembers what it was asked."""

    house: House
    stage: Stage
    entry: Path

    async def opened(self, **keys: Any) -> str:
        said = Said(SessionKeys.model_validate(keys), may_widen=True)
        view = await self.house.sessions.start(MODEL, str(self.house.work), ME, said=(said,))
        return view.id

    async def asked(self, session: str, text: str = "say hello") -> dict[str, Any]:
        """Ask it once more; the request that the model got."""
        turns = (await self.house.sessions.show(session)).turns
        await self.house.sessions.prompt(session, text, ME)
        await self.house.until(session, "idle", turns=turns + 1)
        return self.stage.requests[-1]

    async def resumed(self, session: str) -> None:
        self.house.kill_runtime()
        await self.house.until(session, "interrupted")
        await self.house.sessions.resume(session, ME)

    async def run(self, *, trusted: bool = False, **of_task: Any) -> dict[str, Any]:
        """Run the entry's task; the request that its model got."""
        entries = self.house.services.entries
        task = {**ENTRY["tasks"]["greet"], **of_task.pop("task", {})}
        self.entry.write_text(json.dumps({**ENTRY, **of_task, "tasks": {"greet": task}}), "utf-8")
        if trusted:
            seen = await entries.look(str(self.entry))
            await entries.trust(str(self.entry), seen.digest, ME)
        await self.house.services.entry_checks.install_path(str(self.entry))
        view = await self.house.services.tasks.start(
            NewTaskRun("greet", "", ME, cwd=str(self.house.work))
        )
        async with self.house.services.log.follow(view.id, 0) as follower:
            while (await self.house.services.tasks.show(view.id)).is_open:
                await follower.next(1)
        return self.stage.requests[-1]


def system(request: dict[str, Any]) -> str:
    return "".join(
        str(message["content"]) for message in request["messages"] if message["role"] == "system"
    )


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncGenerator[Watched]:
    async with watched_in(tmp_path) as watched:
        yield watched


@asynccontextmanager
async def watched_in(tmp_path: Path, **settings: Any) -> AsyncGenerator[Watched]:
    async with on_stage(Stage()) as stage:
        provider = Provider(
            name="house", base_url=f"{stage.address}/v1", models=(ProviderModel(id="stand-in"),)
        )
        work = tmp_path / "work"
        work.mkdir()
        (work / "AGENTS.md").write_text("The owl is blue.", "utf-8")
        async with house_in(tmp_path, providers=(provider,), roots=(tmp_path,), **settings) as h:
            yield Watched(h, stage, work / "airboss.json")


async def test_effort_and_system_message_and_instructions_outlive_the_runtime(
    watched: Watched,
) -> None:
    session = await watched.opened(
        reasoningEffort="high", systemMessage={"append": "Use tabs."}, instructions="off"
    )
    first = await watched.asked(session)
    await watched.resumed(session)
    second = await watched.asked(session)
    for request in (first, second):
        assert request["reasoning_effort"] == "high"
        assert "Use tabs." in system(request)
        assert "The owl is blue." not in str(request["messages"])
    [opened, *_] = await watched.house.story(session)
    assert isinstance(opened, SessionOpened)
    assert opened.setup is not None
    assert opened.setup.reasoning_effort == "high"


async def test_without_a_word_all_is_as_it_was(watched: Watched) -> None:
    session = await watched.opened()
    request = await watched.asked(session)
    assert "reasoning_effort" not in request
    assert "The owl is blue." in str(request["messages"])
    [opened, *_] = await watched.house.story(session)
    assert isinstance(opened, SessionOpened)
    assert opened.setup is None


async def test_every_session_is_told_about_our_tools_when_it_is_opened_and_resumed(
    watched: Watched,
) -> None:
    session = await watched.opened(systemMessage={"append": "Use tabs."}, tools={"deny": ["task"]})
    for _ in range(2):
        told = system(await watched.asked(session))
        assert "# Working in Airboss" in told
        assert "`ask_user` asks a person" in told
        assert "hand work to" not in told
        assert told.index("# Working in Airboss") < told.index("Use tabs.")
        await watched.resumed(session)
    assert "# Working in Airboss" in system(await watched.asked(await watched.opened()))


async def test_a_text_in_the_place_of_the_usual_one_is_all_that_the_model_is_told(
    watched: Watched,
) -> None:
    session = await watched.opened(systemMessage={"replace": "Only this."})
    assert system(await watched.asked(session)) == "Only this."
    await watched.resumed(session)
    assert system(await watched.asked(session)) == "Only this."


async def test_sections_are_changed_one_by_one(watched: Watched) -> None:
    usual = system(await watched.asked(await watched.opened()))
    sections = {"tone": {"replace": "Be terse."}, "safety": "remove"}
    session = await watched.opened(systemMessage={"sections": sections})
    first = system(await watched.asked(session))
    await watched.resumed(session)
    for told in (first, system(await watched.asked(session))):
        assert "Be terse." in told
        assert len(told) < len(usual) - 500


async def test_a_task_has_what_its_entry_its_model_and_itself_say(watched: Watched) -> None:
    request = await watched.run(systemMessage={"append": ["$rule"]}, instructions="off")
    assert request["reasoning_effort"] == "high"
    assert "Use tabs." in system(request)
    assert "The owl is blue." not in str(request["messages"])
    own = {"reasoningEffort": "low", "systemMessage": {"append": ["Be terse."]}}
    request = await watched.run(task=own, systemMessage={"append": ["$rule"]})
    assert request["reasoning_effort"] == "low"
    assert "Use tabs.\n\nBe terse." in system(request)


async def test_what_widens_counts_only_where_the_file_is_trusted(watched: Watched) -> None:
    wish: dict[str, Any] = {"systemMessage": {"replace": ["Only this."]}}
    assert system(await watched.run(**wish)) != "Only this."
    installed = await watched.house.services.entries.to_run()
    assert installed is not None
    assert installed.ungranted == (
        "entry.systemMessage.replace: It asks to replace the system message, which is not granted "
        "until a person trusts this file.",
    )
    assert system(await watched.run(trusted=True, **wish)) == "Only this."


def offered(request: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in request.get("tools", [])}


async def test_a_session_has_its_tools_and_no_more_of_them_when_it_is_resumed(
    watched: Watched,
) -> None:
    session = await watched.opened(tools={"allow": ["@read", "ed*"], "deny": ["grep"]})
    first = offered(await watched.asked(session))
    assert first == {"view", "glob", "edit", *OURS}
    await watched.resumed(session)
    assert offered(await watched.asked(session)) == first


async def test_without_any_tool_those_of_jobs_stay_unless_somebody_names_them(
    watched: Watched,
) -> None:
    assert offered(await watched.asked(await watched.opened(tools={"allow": []}))) == {*OURS}
    tools = {"allow": [], "deny": ["ask_user", "*"]}
    request = await watched.asked(await watched.opened(tools=tools))
    assert offered(request) == {*OURS} - {"ask_user"}


async def test_where_some_are_denied_all_others_are_there(watched: Watched) -> None:
    usual = offered(await watched.asked(await watched.opened()))
    session = await watched.opened(tools={"deny": ["@run", "web_fetch"]})
    denied = {"bash", "stop_bash", "read_bash", "list_bash", "web_fetch"}
    assert usual - offered(await watched.asked(session)) == denied


async def test_a_sub_agent_has_no_other_tools_and_the_gate_holds_the_same_list(
    watched: Watched,
) -> None:
    session = await watched.opened(tools={"allow": ["task", "view"]})
    await watched.asked(session, "agent say hello")
    assert len(watched.stage.requests) == 3, "its own two, and the sub-agent's one"
    for request in watched.stage.requests:
        assert "view" in offered(request) <= {"view", "task", *OURS}
    talk = watched.house.sessions._open[session]  # pyright: ignore[reportPrivateUsage, reportArgumentType]
    said = await talk.gate.before(ToolUse("bash", {"command": "ls"}, agent="helper"))
    assert said == Veto("bash is not among the tools of this session.")
    assert isinstance(await talk.gate.before(ToolUse("view", {"path": "/"})), Pass)


async def test_an_entry_that_nobody_trusts_has_no_more_tools_than_the_server_gives(
    watched: Watched,
) -> None:
    watched.house.sessions.session_keys = SessionSettings(tools=ToolKeys(allow=("@read", "bash")))
    wish: dict[str, Any] = {"tools": {"allow": ["view", "edit"]}}
    assert offered(await watched.run(**wish)) == {"view", *OURS_IN_TASKS}
    assert offered(await watched.run(trusted=True, **wish)) == {"view", "edit", *OURS_IN_TASKS}
    assert offered(await watched.run(task={"tools": {"deny": ["grep"]}})) == {
        *("view", "glob", "bash"),
        *OURS_IN_TASKS,
    }


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("wiew", '"wiew" is not a tool.'),
        ("@reed", '"@reed" is not a group of tools.'),
        ("wiki/find", 'There is no MCP server "wiki".'),
        ("lsp", '"lsp" is not a tool.'),
    ],
)
async def test_a_word_that_means_no_tool_opens_no_session(
    watched: Watched, word: str, reason: str
) -> None:
    with pytest.raises(Invalid) as refused:
        await watched.opened(tools={"deny": ["view", word]})
    assert str(refused.value) == f"tools.deny[1]: {reason}"


async def test_folders_beside_the_working_directory_are_told_and_read_like_it(
    watched: Watched,
) -> None:
    beside = watched.house.work.parent / "beside"
    beside.mkdir()
    (beside / "notes.txt").write_text("All is well.", "utf-8")
    session = await watched.opened(directories=["../beside"])
    call = f"call view {json.dumps({'path': str(beside / 'notes.txt')})}"
    first = await watched.asked(session, call)
    assert "All is well." in str(first["messages"][-1])
    assert str(beside) in str(first["messages"])
    await watched.resumed(session)
    assert "All is well." in str((await watched.asked(session, call))["messages"][-1])
    other = await watched.asked(await watched.opened(), call)
    assert "All is well." not in str(other["messages"])


async def test_a_folder_that_agents_may_not_work_in_opens_no_session(watched: Watched) -> None:
    for folder, why in (("../nowhere", "does not exist"), ("/usr", "is outside the folders where")):
        with pytest.raises(Invalid, match=rf"^directories\[0\]: The folder .* {why}"):
            await watched.opened(directories=[folder])


async def test_folders_of_an_entry_that_nobody_trusts_are_not_read(watched: Watched) -> None:
    beside = watched.house.work.parent / "beside"
    beside.mkdir()
    wish: dict[str, Any] = {"directories": ["../beside"]}
    assert str(beside) not in str((await watched.run(**wish))["messages"])
    installed = await watched.house.services.entries.to_run()
    assert installed is not None
    assert installed.ungranted == (
        "entry.directories: It asks to read without asking in ../beside, which is not granted "
        "until a person trusts this file.",
    )
    assert str(beside) in str((await watched.run(trusted=True, **wish))["messages"])


async def test_an_effort_that_a_model_does_not_offer_opens_no_session(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("models: [{id: small, efforts: [low]}]\nrules: [{steps: [{say: Hi}]}]\n")
    async with house_in(tmp_path, rehearsal=script) as house:
        said = Said(SessionKeys(reasoning_effort="high"))
        with pytest.raises(Invalid, match=r"^reasoningEffort: The model small does not offer"):
            await house.sessions.start("small", str(house.work), ME, said=(said,))
        assert (await house.sessions.page((), None, 10)).items == []


@pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")
async def test_a_session_in_a_cage_is_told_how_a_tool_reaches_the_network(watched: Watched) -> None:
    caged = await watched.opened(cage={"profile": "default"})
    assert "which `HTTPS_PROXY` and `HTTP_PROXY` name" in system(await watched.asked(caged))
