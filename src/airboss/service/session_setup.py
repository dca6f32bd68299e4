"""What a session was opened with, as its first event says, what was changed since, and the tools
that come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from airboss.errors import RuntimeUnavailable
from airboss.harness.conversation import Conversation
from airboss.harness.server_grants import ServerGrants, may_sign_in
from airboss.log.log import EventLog
from airboss.model.events import SessionOpened
from airboss.model.ids import TaskRunId
from airboss.model.mcp_events import McpServer, McpState
from airboss.model.setup import USUAL, CageSetup, ServerSetup, Setup
from airboss.model.task_runs import TaskRunView
from airboss.model.tool_lists import known_and_allowed
from airboss.model.tool_table import OURS
from airboss.model.views import SessionView
from airboss.runtime.tool_names import ToolsBySource


@dataclass(frozen=True)
class ServerNow:
    """An MCP server of the session: the program or the host, how it is, and its tools."""

    name: str
    what: str
    state: McpState
    error: str | None
    tools: tuple[str, ...]
    # Whether a person can sign in there; and who did, as this server knows them.
    can_sign_in: bool = False
    signed_in: str | None = None


@dataclass(frozen=True)
class EffectiveSetup:
    """`live`: the runtime itself said which tools there are; otherwise our table does."""

    setup: Setup
    tools: ToolsBySource
    live: bool
    binding: "EffectiveBinding"
    servers: tuple[ServerNow, ...] = ()


@dataclass(frozen=True)
class EffectiveBinding:
    """Which of the runtime's sessions it is, and what that one is bound to; nothing where that is
    not known. `fits`: it can be resumed as things are, and None where its model is not there."""

    number: int
    runtime: str
    parts: Mapping[str, str]
    fits: bool | None


async def setup_of(log: EventLog, view: SessionView) -> Setup:
    """The same for every resume, whatever the settings and entries say by then."""
    recorded = await log.after(view.id, 0, 1)
    opened = recorded[0].event if recorded else None
    setup = (isinstance(opened, SessionOpened) and opened.setup) or USUAL
    effort = view.reasoning_effort or setup.reasoning_effort
    # What it is by now; a view that an earlier version kept does not say.
    agent = view.agent or (None if view.own_agent else setup.agent)
    return setup.model_copy(update={"reasoning_effort": effort, "agent": agent})


async def caged_setup(
    log: EventLog, task: TaskRunId | None, cwd: Path, setup: Setup, cage: CageSetup
) -> Setup:
    """With its cage as the other sessions of its task run have it, who share that: the settings may
    say something else of the profile by now."""
    shared = await _cage_of_run(log, task, cwd, setup, cage.profile)
    return setup.model_copy(update={"cage": shared or cage})


async def _cage_of_run(
    log: EventLog, task: TaskRunId | None, cwd: Path, setup: Setup, profile: str
) -> CageSetup | None:
    run = await log.view(task) if task else None
    for session in run.sessions if isinstance(run, TaskRunView) else ():
        view = await log.view(session)
        if not isinstance(view, SessionView) or view.cwd != str(cwd):
            continue
        other = await setup_of(log, view)
        if other.identity == setup.identity and other.cage and other.cage.profile == profile:
            return other.cage
    return None


async def effective_setup(
    log: EventLog,
    view: SessionView,
    talk: Conversation | None,
    binding: EffectiveBinding,
    grants: ServerGrants | None = None,
) -> EffectiveSetup:
    setup = await setup_of(log, view)
    try:
        agent = talk.agent if talk else None
        found = await agent.tools() if agent else None
        known = await agent.servers.tools() if agent and setup.mcp_servers else {}
    except RuntimeUnavailable:  # it ends just now
        found, known = None, {}
    tools = found or _by_table(setup)
    servers = {**known, **tools.servers}
    return EffectiveSetup(
        setup,
        replace(tools, servers=servers),
        found is not None,
        binding,
        tuple(
            _now(server, setup, servers.get(server.name, ()), grants) for server in view.mcp_servers
        ),
    )


def _now(
    server: McpServer, setup: Setup, tools: tuple[str, ...], grants: ServerGrants | None
) -> ServerNow:
    described = setup.mcp_servers.get(server.name, ServerSetup())
    what = " ".join(described.command or ()) or urlsplit(described.url or "").netloc
    can = may_sign_in(described.url, described.headers, described.token_variable)
    grant = grants.of(described.url) if grants and can and described.url else None
    who = grant and grant.who
    return ServerNow(server.name, what, server.state, server.error, tools, can, who)


def _by_table(setup: Setup) -> ToolsBySource:
    names = known_and_allowed(setup.tools.lists)
    built_in = tuple(sorted(name for name in names if name not in OURS))
    return ToolsBySource(built_in, tuple(name for name in OURS if name in names))
