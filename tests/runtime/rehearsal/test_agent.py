"""The real agent runtime in front of a script."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from copilot import CopilotClient, PermissionHandler, RuntimeConnection, SessionEvent
from copilot.rpc import UIEphemeralQueryRequest
from copilot.session import ProviderConfig

from airboss.runtime.rehearsal import RehearsalServer, builtin_script, parse_script
from tests.trials import sampled

pytestmark = pytest.mark.anyio

SCRIPT = parse_script(
    """
    models: [{id: gpt-5.2}]
    rules:
      - when: "write the greeting"
        model: "gpt-5.*"
        times: 1
        steps:
          - reasoning: "Let me think about it."
          - say: "I will write it."
          - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "{last}"}}
          - say: "Done."
      - when: "unlucky"
        times: 1
        steps: [{fail: {status: 401}}]
      - when: "cut me off"
        times: 1
        steps: [{say: partial}, {drop: true}]
      - when: "in the background"
        steps:
          - call:
              tool: bash
              arguments: {command: "sleep 0.3; echo hi", description: d, mode: async}
          - say: "Started."
      - when: "^once$"
        times: 3
        steps: [{call: {tool: glob, arguments: {pattern: "*"}}}, {say: "counted"}]
      - when: "^long work"
        steps:
          - call: {tool: bash, arguments: {command: "seq 300", description: a}}
          - call: {tool: bash, arguments: {command: "seq 300; sleep 0.5", description: b}}
          - call: {tool: bash, arguments: {command: "seq 300; sleep 0.5", description: c}}
          - say: "All done."
      - when: "^picture$"
        steps: [{say: "I see [{last}]"}]
    """,
    "play.yaml",
)


class Agent:
    """A session, and what it told."""

    def __init__(self, client: CopilotClient, server: RehearsalServer, folder: Path) -> None:
        self._client = client
        self._server = server
        self.folder = folder
        self.told: list[dict[str, Any]] = []

    async def open(self, prompt_tokens: int = 128_000, **provider: Any) -> "Agent":
        usual: dict[str, Any] = {
            "type": "openai",
            "base_url": self._server.base_url,
            "api_key": self._server.api_key,
            "max_prompt_tokens": prompt_tokens,
        }
        self.session = await self._client.create_session(
            model="gpt-5.2",
            provider=cast("ProviderConfig", {**usual, **provider}),
            infinite_sessions={"enabled": True, "background_compaction_threshold": 0.6},
            streaming=True,
            working_directory=str(self.folder),
            on_permission_request=PermissionHandler.approve_all,
            on_event=self._hear,
        )
        return self

    def _hear(self, event: SessionEvent) -> None:
        self.told.append(cast("dict[str, Any]", event.to_dict()))  # pyright: ignore[reportUnknownMemberType]

    async def ask(self, prompt: str, **more: Any) -> list[str]:
        """What the agent said, in its own words or the error's."""
        self.told.clear()
        try:
            await self.session.send_and_wait(prompt, timeout=40, **more)
        except Exception as error:  # noqa: BLE001 -- the SDK raises nothing narrower
            return [str(error)]
        return [said["content"] for said in self.all("assistant.message") if said["content"]]

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.told if event["type"] == kind]


@pytest.fixture
async def server() -> AsyncIterator[RehearsalServer]:
    async with RehearsalServer(SCRIPT) as server:
        yield server


@pytest.fixture
async def client(runtime_path: Path, tmp_path: Path) -> AsyncIterator[CopilotClient]:
    client = CopilotClient(
        connection=RuntimeConnection.for_stdio(path=str(runtime_path)),
        base_directory=str(tmp_path / "home"),
        use_logged_in_user=False,
    )
    await client.start()
    process: subprocess.Popen[bytes] = vars(client)["_cli_process"]
    yield client
    await client.stop()
    for pipe in (process.stdout, process.stderr):  # the SDK leaves them open
        if pipe:
            pipe.close()


@pytest.fixture
async def agent(client: CopilotClient, server: RehearsalServer, tmp_path: Path) -> Agent:
    folder = tmp_path / "my work"
    folder.mkdir()
    return await Agent(client, server, folder).open()


async def test_a_rule_is_played_through_the_real_agent(agent: Agent) -> None:
    assert await agent.ask("Please write the greeting!") == ["I will write it.", "Done."]
    assert (agent.folder / "hello.txt").read_text("utf-8") == "Please write the greeting!"
    thought = "".join(delta["deltaContent"] for delta in agent.all("assistant.reasoning_delta"))
    assert thought == "Let me think about it."
    assert [d["deltaContent"] for d in agent.all("assistant.message_delta")] == [
        "I will write",
        " it.",
        "Done.",
    ]
    usage = agent.all("assistant.usage")
    assert [entry["model"] for entry in usage] == ["gpt-5.2", "gpt-5.2"]
    assert all(entry["inputTokens"] > 1000 and entry["outputTokens"] > 1 for entry in usage)


@pytest.mark.parametrize(
    ("path", "provider"),
    sampled(
        2,
        [
            ("/v1", {"type": "openai", "wire_api": "completions"}),
            ("/v1", {"type": "openai", "wire_api": "responses"}),
            ("", {"type": "anthropic"}),
            ("", {"type": "azure", "wire_api": "completions"}),
            ("", {"type": "azure", "wire_api": "responses"}),
            ("", {"type": "azure", "azure": {"api_version": "2024-10-21"}}),
        ],
    ),
)
async def test_every_kind_of_provider_can_be_rehearsed(
    client: CopilotClient,
    server: RehearsalServer,
    tmp_path: Path,
    path: str,
    provider: dict[str, Any],
) -> None:
    root = server.base_url.removesuffix("/v1")
    agent = await Agent(client, server, tmp_path).open(**provider, base_url=root + path)
    assert await agent.ask("Please write the greeting!") == ["I will write it.", "Done."]
    assert (tmp_path / "hello.txt").read_text("utf-8") == "Please write the greeting!"
    thought = "".join(delta["deltaContent"] for delta in agent.all("assistant.reasoning_delta"))
    assert thought == "Let me think about it."
    said = "".join(delta["deltaContent"] for delta in agent.all("assistant.message_delta"))
    assert said == "I will write it.Done."
    usage = agent.all("assistant.usage")
    assert all(entry["inputTokens"] > 1000 and entry["outputTokens"] > 1 for entry in usage)
    assert await agent.ask("write the greeting") == ["Rehearsed: “write the greeting”"]
    (error,) = await agent.ask("unlucky")
    assert "401" in error


async def test_a_spent_rule_gives_way(agent: Agent) -> None:
    await agent.ask("write the greeting")
    assert await agent.ask("write the greeting") == ["Rehearsed: “write the greeting”"]


async def test_retries_of_the_runtime_use_up_one_playing(agent: Agent) -> None:
    (error,) = await agent.ask("unlucky")
    assert "401" in error
    assert len(agent.all("assistant.turn_retry")) == 2
    assert await agent.ask("unlucky") == ["Rehearsed: “unlucky”"]


async def test_a_dropped_reply_stays_dropped_in_the_retries(agent: Agent) -> None:
    (error,) = await agent.ask("cut me off")
    assert "retried 5 times" in error
    assert [d["deltaContent"] for d in agent.all("assistant.message_delta")] == ["partial"] * 6
    assert await agent.ask("cut me off") == ["Rehearsed: “cut me off”"]


async def test_a_notice_of_the_runtime_does_not_begin_the_script_again(agent: Agent) -> None:
    assert (await agent.ask("in the background"))[0] == "Started."
    for _ in range(100):
        if len(agent.all("session.idle")) and len(agent.all("assistant.message")) >= 4:
            break
        await asyncio.sleep(0.05)
    said = [m["content"] for m in agent.all("assistant.message") if m["content"]]
    assert said == ["Started.", "Rehearsed: “in the background”"]
    called = [call["name"] for m in agent.all("assistant.message") for call in m["toolRequests"]]
    assert called == ["bash", "read_bash"]


async def test_conversations_that_play_at_once_count_each(
    client: CopilotClient, server: RehearsalServer, tmp_path: Path
) -> None:
    agents = [await Agent(client, server, tmp_path).open() for _ in range(5)]
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(agent.ask("once")) for agent in agents]
    heard = sorted(task.result()[0] for task in asked)
    assert heard == ["Rehearsed: “once”"] * 2 + ["counted"] * 3


async def test_an_image_and_a_file_do_not_disturb(agent: Agent) -> None:
    (agent.folder / "a.txt").write_text("x", encoding="utf-8")
    pixel = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
        "rkJggg=="
    )
    attached = [
        {"type": "file", "path": str(agent.folder / "a.txt"), "displayName": "a.txt"},
        {"type": "blob", "data": pixel, "mimeType": "image/png", "displayName": "x.png"},
    ]
    assert await agent.ask("picture", attachments=attached) == ["I see [picture]"]


async def test_a_side_question_and_a_summary_are_answered(agent: Agent) -> None:
    await agent.ask("write the greeting")
    answer = await agent.session.rpc.ui.ephemeral_query(UIEphemeralQueryRequest(question="why?"))
    assert answer.answer == "Rehearsed: “why?”"
    compacted = await agent.session.rpc.history.compact()
    assert compacted.success
    assert "The last request was: write the greeting" in (compacted.summary_content or "")
    assert await agent.ask("picture") == ["I see [picture]"]


async def test_the_place_in_a_script_outlives_a_compaction(
    client: CopilotClient, server: RehearsalServer, tmp_path: Path
) -> None:
    agent = await Agent(client, server, tmp_path).open(prompt_tokens=14_000)
    assert await agent.ask("long work " + "word " * 1500) == ["All done."]
    assert agent.all("session.compaction_complete")
    calls = [call for m in agent.all("assistant.message") for call in m["toolRequests"]]
    assert [call["arguments"]["description"] for call in calls] == ["a", "b", "c"]


async def test_the_built_in_script_looks_around(client: CopilotClient, tmp_path: Path) -> None:
    (tmp_path / "findme.txt").write_text("x", encoding="utf-8")
    async with RehearsalServer(builtin_script()) as server:
        agent = await Agent(client, server, tmp_path).open()
        said = await agent.ask("Look around, please")
    assert said[0] == f"I will look around in `{tmp_path}`."
    (done,) = agent.all("tool.execution_complete")
    assert done["success"]
    assert "findme.txt" in str(done["result"])
