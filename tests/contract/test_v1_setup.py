"""What a session is given, over the API: as it is asked for, shown and refused."""

import asyncio
from typing import Any

import pytest

from tests.contract.guest import Guest
from tests.portal import Portal

AGENT = {"description": "Finds mistakes.", "prompt": "You look for mistakes."}


async def started(guest: Guest, **keys: Any) -> Any:
    return await guest.http.post("/api/v1/sessions", json={"model": "rehearsal", **keys})


async def test_what_was_asked_for_is_shown_with_its_tools_also_when_it_is_closed(
    shared_portal: Portal,
) -> None:
    async with Guest.of(shared_portal) as guest:
        keys = {
            "reasoningEffort": "high",
            "systemMessage": {"append": "Use tabs."},
            "tools": {"allow": ["@read"], "deny": ["grep"]},
            "context": {"compactAt": 0.5},
        }
        answer = await started(guest, **keys)
        assert answer.status_code == 201, answer.text
        session = answer.json()["id"]
        await guest.http.post(f"/api/v1/sessions/{session}/close")
        said = (await guest.http.get(f"/api/v1/sessions/{session}/setup")).json()
        assert said["setup"]["reasoning_effort"] == "high"
        assert said["setup"]["system_message"]["append"] == "Use tabs."
        assert said["setup"]["context"]["compact_at"] == 0.5
        assert said["live"] is False
        assert {"view", "glob"} <= set(said["tools"]["built_in"])
        assert not {"grep", "bash"} & set(said["tools"]["built_in"])
        assert "job_boolean_true" in said["tools"]["ours"]
        assert said["tools"]["servers"] == {}


async def test_of_an_open_session_the_runtime_says_which_tools_there_are(
    shared_portal: Portal,
) -> None:
    async with Guest.of(shared_portal) as guest:
        session = (await started(guest, tools={"deny": ["bash"]})).json()["id"]
        await guest.turn(session, "greet")
        said = (await guest.http.get(f"/api/v1/sessions/{session}/setup")).json()
        assert said["live"] is True
        assert "bash" not in said["tools"]["built_in"]
        assert {"view", "edit", "task"} <= set(said["tools"]["built_in"])


async def test_of_one_about_which_nothing_was_said_all_is_as_usual(shared_portal: Portal) -> None:
    async with Guest.of(shared_portal) as guest:
        session = (await started(guest)).json()["id"]
        said = (await guest.http.get(f"/api/v1/sessions/{session}/setup")).json()
        assert (said["setup"]["instructions"], said["setup"]["tools"]["lists"]) == ("auto", [])
        assert {"view", "bash", "edit"} <= set(said["tools"]["built_in"])
        assert (await guest.http.get("/api/v1/sessions/ses_none/setup")).status_code == 404


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"reasoningEffort": "huge"}, "reasoningEffort"),
        ({"systemMessage": {"append": "a", "replace": "b"}}, "exactly one of"),
        ({"systemMessage": {"sections": {"ton": "remove"}}}, '\\"ton\\" is not a section'),
        ({"systemMessage": {"sections": {"tone": 5}}}, "systemMessage.sections.tone: Input"),
        ({"directories": "a"}, "directories: Input should be a list."),
        ({"tools": []}, "tools: Input should be an object, with names and values."),
        ({"tools": {"allow": ["wiew"]}}, 'tools.allow[0]: \\"wiew\\" is not a tool.'),
        ({"tools": {"deny": ["@reed"]}}, 'tools.deny[0]: \\"@reed\\" is not a group of tools.'),
        ({"directories": ["/usr"]}, "directories[0]: The folder /usr is outside"),
        ({"context": {"compactAt": 2}}, "compactAt"),
        ({"instruction": "off"}, "instruction"),
        ({"agent": "nobody"}, 'agent: There is no agent \\"nobody\\".'),
        ({"agents": {"task": AGENT}}, 'agents.task: \\"task\\" is the name of an agent'),
        ({"agents": {"a": {**AGENT, "tools": ["wiew"]}}}, "agents.a.tools[0]"),
        ({"agents": {"a": {**AGENT, "model": "none"}}}, "agents.a.model: The model none is not"),
        ({"agents": {"a": {"prompt": "x"}}}, "description"),
        ({"account": "nobody"}, 'account: There is no account \\"nobody\\". There are: cli.'),
        ({"identity": "../etc"}, "identity"),
        ({"skills": ["/nowhere"]}, "skills[0]: The folder /nowhere does not exist"),
        ({"hooks": {"preTool": []}}, "hooks"),
        ({"hooks": {"agentStop": [{"seconds": 5}]}}, "exactly one of command and python"),
        ({"hooks": {"agentStop": [{"command": ["cat"], "seconds": 0}]}}, "seconds"),
        ({"hooks": {"agentStop": [{"command": ["cat"], "seconds": "5"}]}}, "seconds"),
        ({"hooks": {"agentStop": [{"python": "a.py"}]}}, "python"),
        ({"mcpServers": {"a": {"command": ["x\0"]}}}, "command[0]: Should have no NUL"),
        ({"mcpServers": {"a": {"url": "https://[::1/mcp"}}}, "url: Should be an addr"),
        ({"mcpServers": {"a": {"url": "https://h:99999/"}}}, "url: Should be an addr"),
        ({"hooks": {"agentStop": [{"command": ["cat"], "tool": "bash"}]}}, "agentStop[0].tool"),
        (
            {"hooks": {"agentStop": [{"command": ["/nowhere/x"]}]}},
            "hooks.agentStop[0].command[0]: There is no program /nowhere/x.",
        ),
    ],
)
async def test_what_nobody_can_have_is_refused_by_its_name(
    shared_portal: Portal, keys: dict[str, Any], words: str
) -> None:
    async with Guest.of(shared_portal) as guest:
        answer = await started(guest, **keys)
        assert answer.status_code == 422
        assert words in answer.text


@pytest.mark.parametrize(
    "keys",
    [
        {"systemMessage": {"replace": "Only this."}},
        {"systemMessage": {"sections": {"safety": "remove"}}},
        {"tools": {"github": True}},
        {"directories": ["/usr"]},
        {"skills": ["skills"]},
        {"hooks": {"preToolUse": [{"command": ["cat"]}]}},
        {"account": "cli"},
        {"identity": "builder"},
    ],
)
async def test_what_widens_needs_the_role_own(shared_portal: Portal, keys: dict[str, Any]) -> None:
    made = shared_portal.run("token", "add", f"operator{abs(hash(str(keys)))}", "--role", "operate")
    token = made.stdout.strip().splitlines()[-1].split()[-1]
    async with Guest.of(shared_portal) as guest:
        headers = {"Authorization": f"Bearer {token}"}
        answer = await guest.http.post("/api/v1/sessions", json=keys, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "role_needed"), answer.text
        narrow = {"tools": {"allow": ["view"]}, "model": "rehearsal"}
        answer = await guest.http.post("/api/v1/sessions", json=narrow, headers=headers)
        assert answer.status_code == 201, answer.text


@pytest.mark.timeout(60)
async def test_what_a_session_is_missing_when_it_is_resumed_is_said_with_what_to_do(
    own_portal: Portal,
) -> None:
    folder, script = own_portal.work / "beside", own_portal.work / "look.sh"
    folder.mkdir()
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    async with Guest.of(own_portal) as guest:
        where = {"cwd": str(own_portal.work)}
        beside = (await started(guest, **where, directories=["beside"])).json()["id"]
        hooks = {"agentEnd": [{"command": ["./look.sh"]}]}
        hooked = (await started(guest, **where, hooks=hooks)).json()["id"]
    own_portal.kill()
    folder.rmdir()
    script.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    await asyncio.to_thread(own_portal.start)
    words = {
        beside: "directories: The folder /",
        hooked: "look.sh is not what it was when the session was opened.",
    }
    async with Guest.of(own_portal) as guest:
        for session, why in words.items():
            answer = await guest.http.post(f"/api/v1/sessions/{session}/resume")
            assert answer.status_code == 422
            assert why in answer.json()["detail"]
            assert answer.json()["detail"].endswith("Put it back, or start a new session.")
            assert (await guest.show(session))["state"] == "interrupted"
        folder.mkdir()
        script.write_text("#!/bin/sh\n", "utf-8")
        for session in words:
            assert (await guest.do(session, "resume"))["state"] == "idle"
