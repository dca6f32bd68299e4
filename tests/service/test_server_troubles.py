"""MCP servers that misbehave in a task run: the run ends, and says in words what went wrong, in the
task's reason or in the session. On the real runtime."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss.model.events import ToolEnded
from airboss.model.notes import note_of
from airboss.model.task_events import TaskSessionStarted
from airboss.model.task_runs import TaskRunView
from airboss.service.tasks import NewTaskRun
from tests.service.house import ME
from tests.service.test_mcp_servers import TRICKS, calling
from tests.service.test_session_setup import ENTRY, Watched, watched_in

UNMET = "criteria.toolExecuted does not hold: Not called: job_prepare_document."


async def ran(watched: Watched, text: str) -> tuple[TaskRunView, str]:
    """A task that does not do what it should; and what its session's page says."""
    services = watched.house.services
    criteria = {"toolExecuted": ["job_prepare_document"], "failureAction": {"retryTimes": 0}}
    task = {**ENTRY["tasks"]["greet"], "prompt": [text], "criteria": criteria}
    watched.entry.write_text(json.dumps({**ENTRY, "tasks": {"greet": task}}), "utf-8")
    await services.entry_checks.install_path(str(watched.entry))
    asked = NewTaskRun("greet", "", ME, cwd=str(watched.house.work))
    view = await services.tasks.start(asked)
    async with services.log.follow(view.id, 0) as follower:
        while (view := await services.tasks.show(view.id)).is_open:
            await follower.next(1)
    told = [one.event for one in await services.log.after(view.id, 0)]
    [*_, session] = [one.session for one in told if isinstance(one, TaskSessionStarted)]
    story = await watched.house.story(session)
    shown = [str(note_of(event)) for event in story]
    shown += [f"{one.text} {one.error}" for one in story if isinstance(one, ToolEnded)]
    return view, "\n".join(shown)


@pytest.mark.parametrize(
    ("trick", "text", "reason"),
    [
        ("die", "say hello", r"MCP server 'files': .*exit code 3.*out of coffee"),
        ("hang", "say hello", r"MCP server 'files': It has not answered in time"),
        ("serve", calling("files-crashes"), r"MCP server 'files': .*closed before the tool resp"),
        ("serve", calling("files-sleeps"), r"MCP server 'files': .*[Tt]imed? ?out"),
    ],
)
async def test_a_task_that_failed_says_which_server_did_not_work(
    tmp_path: Path, trick: str, text: str, reason: str
) -> None:
    files = {"command": [sys.executable, str(TRICKS), trick], "seconds": 2}
    session: dict[str, Any] = {"mcp_servers": {"files": files}}
    async with watched_in(tmp_path, session=session, permissions="approve-all") as watched:
        view, page = await ran(watched, text)
    assert view.state == "failed"
    assert view.reason is not None
    assert view.reason.startswith(f"{UNMET} Not all MCP servers worked: ")
    assert re.search(reason, view.reason, re.DOTALL), view.reason
    assert re.search(reason.removeprefix("MCP server 'files': "), page, re.DOTALL), page


@pytest.mark.parametrize(
    ("tool", "said"),
    [("floods", "Output too large to read at once"), ("lies", '{"number":"none"}')],
)
async def test_a_server_that_answers_too_much_or_otherwise_than_it_said_is_shown_so(
    tmp_path: Path, tool: str, said: str
) -> None:
    """The runtime hands on what does not fit the server's own schema; the agent judges it."""
    files = {"command": [sys.executable, str(TRICKS), "serve"]}
    session: dict[str, Any] = {"mcp_servers": {"files": files}}
    async with watched_in(tmp_path, session=session, permissions="approve-all") as watched:
        view, page = await ran(watched, calling(f"files-{tool}", number=1))
    assert (view.state, view.reason) == ("failed", UNMET)
    assert said in page


async def test_tools_that_fill_the_whole_context_are_the_reason_of_the_task(tmp_path: Path) -> None:
    files = {"command": [sys.executable, str(TRICKS), "huge"]}
    session: dict[str, Any] = {"mcp_servers": {"files": files}}
    async with watched_in(tmp_path, session=session, permissions="approve-all") as watched:
        view, page = await ran(watched, "say hello")
        assert watched.stage.requests == []
    assert view.state == "failed"
    said = "tool definitions exceed the model's usable context"
    assert said in str(view.reason), view.reason
    assert said in page
