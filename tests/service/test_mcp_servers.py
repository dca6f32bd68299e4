"""MCP servers of a session: their tools are there when it is opened, resumed, and in a task. On the
real runtime, with servers built on the protocol's own package."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airboss.errors import Invalid
from airboss.model.events import SessionOpened, ToolEnded
from tests.runtime import mcp_server
from tests.service.test_session_setup import Watched, offered, watched_in

TOOLS = Path(__file__).parents[1] / "servers" / "tools.py"
TRICKS = TOOLS.with_name("tricks.py")
SECRET = "wiki-secret-of-this-test"
# On a busy machine a server starts more slowly than people want to wait.
PATIENT = 60.0


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    """A server over HTTP that lets in who has the secret."""
    words = [sys.executable, str(TOOLS), "0"]
    environ = {**os.environ, "TOKEN": SECRET}
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield f"http://127.0.0.1:{int(program.stdout.readline())}/mcp"
        program.kill()


@pytest.fixture
async def watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> AsyncGenerator[Watched]:
    monkeypatch.setenv("WIKI_SECRET", SECRET)
    monkeypatch.setenv("GREETING", "hello from outside")
    session: dict[str, Any] = {
        "variables": ["GREETING"],
        "mcp_servers": {
            "wiki": {"url": address, "token_variable": "WIKI_SECRET"},
            "closed": {"url": address},
        },
    }
    settings: dict[str, Any] = {"permissions": "approve-all", "mcp_wait_seconds": PATIENT}
    async with watched_in(tmp_path, session=session, **settings) as watched:
        yield watched


async def ends(watched: Watched, session: str) -> list[ToolEnded]:
    return [event for event in await watched.house.story(session) if isinstance(event, ToolEnded)]


def calling(tool: str, **arguments: Any) -> str:
    return f"call {tool} {json.dumps(arguments)}"


async def test_a_program_and_an_address_bring_their_tools_also_behind_a_resume(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = {"command": [sys.executable, str(TRICKS), "serve"], "env": {"WORD": "$GREETING!"}}
    session = await watched.opened(
        mcpServers={"files": {**program, "tools": ["variable", "li*"]}, "wiki": {}}
    )
    for _ in range(2):
        request = await watched.asked(session, calling("files-variable", name="WORD"))
        said = [event for event in await watched.house.story(session) if "mcp" in event.kind]
        assert offered(request) >= {"files-variable", "files-lies", "wiki-variable"}, said
        assert "files-crashes" not in offered(request)
        await watched.asked(session, calling("files-variable", name="WIKI_SECRET"))
        await watched.asked(session, calling("wiki-variable", name="HOME"))
        told = [end.text.splitlines()[0] for end in (await ends(watched, session))[-3:]]
        # The value itself is a secret to whoever reads.
        assert told == ["[secret removed]!", "not set", os.environ["HOME"]]
        assert no_process_of_the_runtime_has(watched, SECRET)
        found = await watched.house.sessions.setup(session)
        assert [(one.name, one.state, tuple(sorted(one.tools))) for one in found.servers] == [
            ("files", "connected", ("lies", "variable")),
            ("wiki", "connected", ("crash", "picture", "variable")),
        ]
        await watched.resumed(session)
    view = await watched.house.sessions.show(session)
    assert [(one.name, one.error) for one in view.mcp_servers] == [("files", None), ("wiki", None)]
    [opened, *_] = story = await watched.house.story(session)
    assert isinstance(opened, SessionOpened)
    assert opened.setup is not None
    assert opened.setup.mcp_servers["wiki"].token_variable == "WIKI_SECRET"
    assert SECRET not in str(story)
    assert "hello from outside" not in str(story)


async def test_a_picture_of_a_tool_reaches_the_model_and_a_server_that_crashes_costs_one_call(
    watched: Watched,
) -> None:
    files = {"command": [sys.executable, str(TRICKS), "serve"]}
    session = await watched.opened(mcpServers={"files": files, "wiki": {}})
    request = await watched.asked(session, calling("wiki-picture"))
    assert "image_url" in str(request["messages"][-2:]) or "image" in str(request["messages"])
    await watched.asked(session, calling("files-crashes"))
    assert (await ends(watched, session))[-1].error is not None
    await watched.asked(session)
    assert (await watched.house.sessions.show(session)).state == "idle"


async def test_a_server_that_does_not_let_us_in_says_what_to_do(watched: Watched) -> None:
    session = await watched.opened(mcpServers={"closed": {}})
    await watched.asked(session)
    [server] = (await watched.house.sessions.show(session)).mcp_servers
    assert server.state == "needs-sign-in"
    assert server.error == (
        "The MCP server closed wants a sign-in, which is not possible. 127.0.0.1 does not say how "
        "to sign in. If the server takes a token, put that into an environment variable, and name "
        "it as token_variable in settings.toml."
    )


async def test_an_entry_brings_its_server_with_a_script_that_was_trusted(watched: Watched) -> None:
    script = watched.entry.parent / "serve.py"
    script.write_text(inspect.getsource(mcp_server), "utf-8")
    notes = watched.house.work / "notes"
    said: dict[str, Any] = {
        "mcpServers": {"docs": {"command": [sys.executable, "serve.py", str(notes)]}},
        "task": {"prompt": [calling("docs-peek", what="it")]},
    }
    await watched.run(**said)
    assert not notes.exists(), "nobody trusts it"
    request = await watched.run(trusted=True, **said)
    assert offered(request) >= {"docs-peek", "docs-poke"}
    assert notes.read_text("utf-8") == "peek it\n"
    rows = await watched.house.services.entries.files.trust.all()
    assert {Path(row.row.path).name for row in rows} == {"airboss.json", "serve.py"}

    script.write_text(f"{script.read_text('utf-8')}\n# changed\n", "utf-8")
    assert "docs-peek" not in offered(await watched.run(**said)), "it is no longer trusted"


async def test_a_request_names_only_servers_and_variables_that_it_may(
    watched: Watched,
) -> None:
    with pytest.raises(Invalid, match=r"mcpServers\.files\.env\.A: The variable HOME may not be n"):
        await watched.opened(mcpServers={"files": {"command": ["x"], "env": {"A": "$HOME"}}})
    with pytest.raises(Invalid, match=r'mcpServers\.docs: The MCP server "docs" is not described'):
        await watched.opened(mcpServers={"docs": {}})


def no_process_of_the_runtime_has(watched: Watched, secret: str) -> bool:
    runtime = psutil.Process(watched.house.services.status.pool.pid)
    below = [runtime, *runtime.children(recursive=True)]
    assert len(below) > 1, "the program runs"
    return not any(secret in str(process.environ()) for process in below)
