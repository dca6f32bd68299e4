"""Hooks on the real runtime: asked, changing, blocking, hanging, crashing, in a sub-agent too."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import Conflict, Invalid, PromptBlocked
from airboss.harness.prompts import Extras
from airboss.model.events import Event, MessageEnded, PromptAccepted, ToolEnded, TurnEnded
from airboss.model.gate_events import ToolVetoed
from airboss.model.hook_events import HookRan
from airboss.session_keys import HOOKS, SessionSettings
from tests.service.house import ME
from tests.service.test_session_setup import Watched, system, watched_in
from tests.trials import whole_only

SERVER = {
    "files": {
        "command": [
            sys.executable,
            str(Path(__file__).parents[1] / "servers" / "tricks.py"),
            "serve",
        ]
    }
}
# Notes what it is told, then does what the test has written down for this hook.
SCRIPT = """#!/bin/sh
cat > "$1/told-$2-$$"
[ -f "$1/act-$2" ] && . "$1/act-$2"
exit 0
"""


@dataclass
class Hooked:
    """A house with a script that every hook of a session may be."""

    watched: Watched
    folder: Path

    def keys(self, *names: str, **more: Any) -> dict[str, Any]:
        script = self.folder / "hook.sh"
        script.write_text(SCRIPT, "utf-8")
        script.chmod(0o755)
        return {
            name: [{"command": [str(script), str(self.folder), name], "seconds": 10, **more}]
            for name in names
        }

    def act(self, name: str, act: str | dict[str, Any]) -> None:
        """What the hook does from now on: it writes this, or runs this."""
        words = act if isinstance(act, str) else f"cat <<'END'\n{json.dumps(act)}\nEND"
        (self.folder / f"act-{name}").write_text(f"{words}\n", "utf-8")

    def told(self, name: str) -> list[dict[str, Any]]:
        files = sorted(self.folder.glob(f"told-{name}-*"), key=lambda file: file.stat().st_mtime_ns)
        return [json.loads(file.read_text("utf-8")) for file in files]

    async def until_told(self, name: str, times: int = 1) -> None:
        async with asyncio.timeout(20):
            while len(self.told(name)) < times:  # noqa: ASYNC110 - it is another process that writes
                await asyncio.sleep(0.05)

    async def opened(self, *names: str, **more: Any) -> str:
        return await self.watched.opened(hooks=self.keys(*names, **more), mcpServers=SERVER)

    async def every_moment(self, session: str) -> None:
        """All that hooks are asked about, but for the end of the session."""
        await self.watched.asked(session, self.view())
        await self.watched.asked(session, self.view("missing.txt"))
        await self.watched.asked(session, "call files-meta {}")
        await self.watched.asked(session, "agent say sub")
        await self.watched.asked(session, "fail 400")
        await self.watched.house.sessions.compact(session, "Keep names.", ME)

    async def ran(self, session: str, name: str) -> list[HookRan]:
        story = await self.watched.house.story(session)
        return [said for said in story if isinstance(said, HookRan) and said.hook == name]

    async def last(self, session: str, kind: type[Event]) -> Any:
        story = await self.watched.house.story(session)
        return [said for said in story if isinstance(said, kind)][-1]

    def view(self, name: str = "a.txt") -> str:
        (self.watched.house.work / "a.txt").write_text("alpha", "utf-8")
        return f"call view {json.dumps({'path': str(self.watched.house.work / name)})}"


@pytest.fixture
async def hooked(tmp_path: Path) -> AsyncGenerator[Hooked]:
    folder = tmp_path / "hooks"
    folder.mkdir()
    async with watched_in(tmp_path, permissions="approve-all") as watched:
        yield Hooked(watched, folder)


async def test_every_hook_is_asked_at_its_moment_and_told_who_asks(hooked: Hooked) -> None:
    house = hooked.watched.house
    session = await hooked.opened(*HOOKS)
    await hooked.every_moment(session)
    await house.sessions.close(session, ME)
    assert [name for name in HOOKS if not hooked.told(name)] == []
    [call] = hooked.told("preMcpToolCall")
    assert (call["serverName"], call["toolName"]) == ("files", "meta")
    [first, *_] = hooked.told("preToolUse")
    assert (first["hook"], first["toolName"]) == ("preToolUse", "view")
    facts = first["airboss"]
    assert (facts["session"], facts["who"], facts["model"]["id"]) == (
        *(session, ME),
        "house/stand-in",
    )
    assert hooked.told("sessionStart")[0]["source"] == "new"
    assert hooked.told("modelInput")[0]["prompt"].endswith(hooked.view())
    assert "view" in hooked.told("modelInput")[0]["tools"]
    assert {told["text"] for told in hooked.told("modelOutput")} >= {"done"}
    assert hooked.told("agentEnd")[-1]["outcome"] == "failed"
    assert hooked.told("beforeCompaction")[0]["instructions"] == "Keep names."
    # Prompts and stops of a sub-agent are not asked about unless somebody says so.
    assert all("agentId" not in told for told in hooked.told("userPromptSubmitted"))
    assert all("agentId" not in told for told in hooked.told("agentStop"))
    ran = {said.hook for said in await house.story(session) if isinstance(said, HookRan)}
    assert ran == set(HOOKS)
    assert (await house.kinds(session))[-1] == "session.closed"


async def test_what_hooks_change_is_what_the_model_and_the_log_get(hooked: Hooked) -> None:
    names = ("preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted")
    more = ("userPromptTransformed", "beforePromptBuild", "sessionStart", "beforeMessageWrite")
    session = await hooked.opened(*names, *more, "preMcpToolCall")
    path = hooked.watched.house.work / "b.txt"
    path.write_text("beta", "utf-8")
    hooked.act("sessionStart", {"additionalContext": "The owl is green."})
    hooked.act("preToolUse", {"modifiedArgs": {"path": str(path)}, "additionalContext": "Note A."})
    request = await hooked.watched.asked(session, hooked.view())
    assert "The owl is green." in str(request["messages"])
    assert "beta" in str(request["messages"])
    assert "Note A." in str(request["messages"])
    hooked.act("preToolUse", {"permissionDecision": "allow"})
    hooked.act("preMcpToolCall", {"metaToUse": {"ticket": "T-7"}})
    request = await hooked.watched.asked(session, "call files-meta {}")
    assert "T-7" in str(request["messages"][-1])
    hooked.act("postToolUse", {"modifiedResult": "CHANGED"})
    request = await hooked.watched.asked(session, hooked.view())
    assert "CHANGED" in str(request["messages"][-1])
    assert (await hooked.last(session, ToolEnded)).text.startswith("CHANGED")
    hooked.act("postToolUseFailure", {"additionalContext": "Look elsewhere."})
    request = await hooked.watched.asked(session, hooked.view("missing.txt"))
    assert "Look elsewhere." in str(request["messages"])
    hooked.act("beforePromptBuild", {"modifiedPrompt": "say one", "additionalContext": "Built."})
    request = await hooked.watched.asked(session, "say nothing")
    assert "say one\n\nBuilt." in str(request["messages"][-1]["content"])
    hooked.act("userPromptSubmitted", {"modifiedPrompt": "say two"})
    request = await hooked.watched.asked(session, "say nothing")
    assert "say two" in str(request["messages"][-1]["content"])
    hooked.act("userPromptTransformed", {"modifiedTransformedPrompt": "say three"})
    hooked.act("beforeMessageWrite", {"modifiedText": "say four"})
    request = await hooked.watched.asked(session, "say nothing")
    assert request["messages"][-1]["content"] == "say three"
    assert (await hooked.last(session, MessageEnded)).text == "say four"
    assert (await hooked.last(session, PromptAccepted)).text == "say four"
    assert {said.decided for said in await hooked.ran(session, "beforeMessageWrite")} == {
        *("nothing", "changed"),
    }


async def test_what_hooks_say_no_to_does_not_happen(hooked: Hooked) -> None:
    sessions = hooked.watched.house.sessions
    names = ("preToolUse", "postToolUseFailure", "userPromptSubmitted", "beforePromptBuild")
    session = await hooked.opened(*names, "agentStop", "beforeCompaction", "beforeMessageWrite")
    hooked.act("preToolUse", "echo 'Not today.' >&2; exit 2")
    request = await hooked.watched.asked(session, hooked.view())
    assert "Not today." in str(request["messages"][-1])
    assert (await hooked.last(session, ToolVetoed)).denied == "hook"
    assert hooked.told("postToolUseFailure")[0]["blocked"] is True
    hooked.act("preToolUse", {"permissionDecision": "allow"})
    hooked.act(
        "agentStop",
        'case "$(cat $1/told-$2-$$)" in *\'Active": true\'*) exit 0;; esac\n'
        "echo 'say again' >&2; exit 2",
    )
    request = await hooked.watched.asked(session, "say once")
    assert "say again" in str(request["messages"][-1]["content"])
    hooked.act("agentStop", "exit 0")
    for name in ("userPromptSubmitted", "beforePromptBuild"):
        hooked.act(name, {"decision": "block", "reason": "No such words."})
        seen = len(hooked.watched.stage.requests)
        await hooked.watched.asked(session, "say hello")
        assert len(hooked.watched.stage.requests) == seen, "the model was not asked"
        assert (await hooked.last(session, TurnEnded)).outcome == "failed"
        view = await sessions.show(session)
        assert view.error == "A hook refused the request: No such words."
        hooked.act(name, "exit 0")
    hooked.act("beforeCompaction", "echo 'Keep all.' >&2; exit 2")
    with pytest.raises(Conflict, match=r"A hook refused to compact the history: Keep all\."):
        await sessions.compact(session, None, ME)
    hooked.act("beforeMessageWrite", "echo 'Hush.' >&2; exit 2")
    with pytest.raises(PromptBlocked, match=r"Hush\."):
        await sessions.prompt(session, "say hello", ME)


async def test_one_that_hangs_or_crashes_blocks_a_call_and_else_is_passed_over(
    hooked: Hooked,
) -> None:
    names = ("preToolUse", "postToolUse", "userPromptSubmitted", "beforeMessageWrite", "agentEnd")
    keys = hooked.keys(*names, seconds=1)
    session = await hooked.watched.opened(hooks=keys)
    for act, error in (
        ("sleep 60", "It did not answer within 1 s."),
        ("echo oh >&2; exit 3", "It ended with exit code 3: oh"),
        ("echo '[1]'", "It did not write a JSON object."),
    ):
        for name in names:
            hooked.act(name, act)
        request = await hooked.watched.asked(session, hooked.view())
        refused = str(request["messages"][-1])
        assert "The hook hook.sh failed, so the call is refused." in refused
        assert (await hooked.last(session, MessageEnded)).text == "done"
        hooked.act("preToolUse", "exit 0")
        request = await hooked.watched.asked(session, hooked.view())
        assert "alpha" in str(request["messages"][-1])
        async with asyncio.timeout(10):
            while len(await hooked.ran(session, "agentEnd")) < 2:  # noqa: ASYNC110 - told beside
                await asyncio.sleep(0.05)
        for name in names:
            assert error in {said.error for said in await hooked.ran(session, name)}


@pytest.mark.parametrize(
    ("act", "error"),
    [
        ("exit 3", "It ended with exit code 3."),
        pytest.param(
            "sleep 60",
            "It did not answer within 1 s.",
            marks=[whole_only, pytest.mark.timeout(180)],  # a second for each moment
        ),
    ],
)
async def test_whatever_fails_at_every_moment_the_session_goes_on(
    hooked: Hooked, act: str, error: str
) -> None:
    session = await hooked.opened(*HOOKS, seconds=1)
    for name in HOOKS:
        hooked.act(name, act if name != "preToolUse" else "exit 0")
    await hooked.every_moment(session)
    hooked.act("preToolUse", act)
    request = await hooked.watched.asked(session, hooked.view())
    assert "so the call is refused" in str(request["messages"][-1])
    await hooked.watched.house.sessions.close(session, ME)
    story = await hooked.watched.house.story(session)
    failed = {said.hook for said in story if isinstance(said, HookRan) and said.error == error}
    assert set(HOOKS) - failed == set()


async def test_in_a_sub_agent_too_where_somebody_says_so(hooked: Hooked) -> None:
    names = ("userPromptSubmitted", "agentStop", "subagentStart", "subagentStop", "preToolUse")
    session = await hooked.opened(*names, subAgents=True)
    hooked.act("subagentStart", {"additionalContext": "You are small."})
    hooked.act("subagentStop", {"modifiedResponse": "It said this."})
    request = await hooked.watched.asked(session, "agent say sub")
    assert "It said this." in str(request["messages"][-1])
    for name in ("userPromptSubmitted", "agentStop"):
        assert any(told.get("agentId") for told in hooked.told(name))
    assert "You are small." in str(hooked.watched.stage.requests)
    is_view = """grep -q '"toolName": "view"' "$1/told-$2-$$" """
    hooked.act("preToolUse", f"{is_view} && echo 'Not there.' >&2 && exit 2")
    hooked.act("subagentStart", "exit 0")
    await hooked.watched.asked(session, f"agent {hooked.view()}")
    vetoed = [said for said in await hooked.ran(session, "preToolUse") if said.agent]
    assert [said.decided for said in vetoed] == ["blocked"]


async def test_hooks_are_there_again_behind_a_resume_and_those_of_the_settings_come_first(
    hooked: Hooked,
) -> None:
    file = hooked.folder / "own.py"
    file.write_text("def more(given):\n    return {'modifiedPrompt': given['prompt'] + ' two'}\n")
    own = {"userPromptSubmitted": [{"python": f"{file}:more"}]}
    first = {"userPromptSubmitted": hooked.keys("userPromptSubmitted")["userPromptSubmitted"]}
    hooked.act("userPromptSubmitted", {"modifiedPrompt": "say one"})
    settings = SessionSettings.model_validate(
        {"hooks": {"user_prompt_submitted": first.popitem()[1]}}
    )
    hooked.watched.house.sessions.session_keys = settings
    session = await hooked.watched.opened(hooks=own)
    for _ in range(2):
        request = await hooked.watched.asked(session, "say nothing")
        assert "say one two" in str(request["messages"][-1]["content"])
        assert "# Working in Airboss" in system(request)
        await hooked.watched.resumed(session)
    setup = (await hooked.watched.house.sessions.setup(session)).setup
    assert [hook.place for hook in setup.hooks] == [
        "settings: session.hooks.userPromptSubmitted[0]",
        "hooks.userPromptSubmitted[0]",
    ]
    file.write_text("def more(given):\n    return {'modifiedPrompt': 'say evil'}\n")
    request = await hooked.watched.asked(session, "say nothing")
    assert "say evil" not in str(request["messages"][-1]["content"])
    [*_, last] = await hooked.ran(session, "userPromptSubmitted")
    assert last.error == f"It was not run: {file} has changed since the session was opened."


async def test_a_request_that_is_stopped_while_a_hook_is_asked_is_never_sent(
    hooked: Hooked,
) -> None:
    sessions, name = hooked.watched.house.sessions, "beforePromptBuild"
    session = await hooked.opened(name, seconds=7)
    hooked.act(name, "sleep 60")
    await sessions.prompt(session, "say stopped", ME, more=Extras(mode="plan"))
    await hooked.until_told(name)
    await sessions.abort(session)
    assert (await hooked.last(session, TurnEnded)).outcome == "aborted"
    hooked.act(name, "exit 0")
    await hooked.watched.asked(session, "say more")
    asked = [str(request["messages"]) for request in hooked.watched.stage.requests]
    assert ["say stopped" in messages for messages in asked] == [False]
    assert (await sessions.show(session)).turns == 2
    [ran] = await hooked.ran(session, name)  # the other one was ended with its turn
    assert ran.error is None


async def test_what_is_put_into_a_turn_that_ends_while_a_hook_is_asked_waits_for_its_own(
    hooked: Hooked,
) -> None:
    sessions, name = hooked.watched.house.sessions, "beforePromptBuild"
    session = await hooked.opened(name, seconds=7)
    busy = json.dumps({"command": "sleep 60", "description": "Wait"})
    await sessions.prompt(session, f"call bash {busy}", ME)
    await hooked.watched.house.until_event(session, "tool.started")
    hooked.act(name, "sleep 60")
    steering = asyncio.create_task(sessions.prompt(session, "say steered", ME, "steer"))
    await hooked.until_told(name, 2)
    hooked.act(name, "exit 0")
    await sessions.abort(session)
    await steering
    await hooked.watched.house.until(session, "idle", turns=2)
    assert (await hooked.last(session, TurnEnded)).outcome == "done"
    assert (await hooked.last(session, MessageEnded)).text.strip() == "steered"
    assert [ran.error for ran in await hooked.ran(session, name)] == [None, None]


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        ({"command": ["./nowhere.sh"]}, r"\.command\[0\]: There is no program .*nowhere\.sh"),
        ({"command": ["no-such-thing"]}, r'\.command\[0\]: There is no program "no-such-thing"'),
        ({"command": ["./plain.txt"]}, r"\.command\[0\]: .*plain\.txt is not executable"),
        ({"python": "none.py:f"}, r"\.python: There is no file .*none\.py"),
        ({"python": "some.py:g"}, r'\.python: .*some\.py has no function "g"'),
        ({"python": "bad.py:g"}, r"\.python: .*bad\.py is not Python"),
        ({"command": ["cat"], "tool": "wiew"}, r'\.tool: "wiew" is not a tool'),
    ],
)
async def test_a_program_that_is_missing_opens_no_session(
    hooked: Hooked, hook: dict[str, Any], why: str
) -> None:
    work = hooked.watched.house.work
    (work / "plain.txt").write_text("x", "utf-8")
    (work / "some.py").write_text("def f(x): ...\n", "utf-8")
    (work / "bad.py").write_text("def (", "utf-8")
    with pytest.raises(Invalid, match=rf"^hooks\.preToolUse\[0\]{why}"):
        await hooked.watched.opened(hooks={"preToolUse": [hook]})


async def test_hooks_of_an_entry_count_only_while_its_scripts_are_what_was_trusted(
    hooked: Hooked,
) -> None:
    watched = hooked.watched
    script = watched.entry.parent / "check.sh"
    script.write_text('#!/bin/sh\necho \'{"modifiedPrompt": "say trusted"}\'\n', "utf-8")
    script.chmod(0o755)
    said: dict[str, Any] = {"hooks": {"beforePromptBuild": [{"command": ["./check.sh"]}]}}
    assert "say trusted" not in str(await watched.run(**said))
    entries = watched.house.services.entries
    installed = await entries.to_run()
    assert installed is not None
    assert installed.ungranted == (
        f"entry.hooks.beforePromptBuild: It asks to run {script} as a hook, which is not granted "
        "until a person trusts this file.",
    )
    request = await watched.run(trusted=True, **said)
    assert "say trusted" in str(request["messages"][-1])
    rows = await entries.files.trust.all()
    assert {Path(row.row.path).name for row in rows} == {"airboss.json", "check.sh"}
    script.write_text("#!/bin/sh\ntouch evil\n", "utf-8")
    assert "say trusted" not in str((await watched.run(**said))["messages"][-1])
    assert not (watched.house.work / "evil").exists()
    installed = await entries.to_run()
    assert installed is not None
    assert len(installed.ungranted) == 1
