"""Which processes of the agent runtime there are, and who is signed in to Copilot."""

from typing import Final, Literal

from airboss.harness.models import Catalog
from airboss.runtime.agent_runtime import RuntimeSignIn, RuntimeStatus
from airboss.runtime.connection import shared_in
from airboss.runtime.locate import CLI_VERSION, Located
from airboss.runtime.pool import Pool
from airboss.runtime_settings import RUNTIME_TOKEN
from airboss.service.account_checks import StatusPart
from airboss.service.doctor_checks import Check

_LATER: Final = "It starts with the first session."


class RuntimeProcessState(StatusPart):
    """One process of the agent runtime: whose it is, and how many sessions are open on it."""

    pid: int | None
    identity: str
    # `cli`: for whoever the CLI is signed in as; `token`: for an account; `byok`: for providers.
    mode: Literal["cli", "token", "byok"]
    account: str | None = None
    sessions: int


class RuntimeState(StatusPart):
    """The agent runtime's processes, or why there is none. `pid` is that of the one with most
    sessions."""

    state: Literal["stopped", "running", "missing"]
    path: str | None = None
    source: str | None = None
    native: bool | None = None
    version: str = CLI_VERSION
    pid: int | None = None
    restarts: int = 0
    detail: str = ""
    # The address of one that somebody else started, where that is used.
    url: str | None = None
    # Whether other programs may join sessions on it.
    shared: bool = False
    processes: tuple[RuntimeProcessState, ...] = ()


class CopilotState(StatusPart):
    """Who is signed in to Copilot, and how. `signed_in` is null until the runtime was asked."""

    signed_in: bool | None
    how: str
    login: str | None
    detail: str


_SHARED: Final = (
    "Other programs of this user may join its sessions: with tools and hooks of their own, and by "
    "deciding requests for permission."
)


def runtime_state(located: Located | None, pool: Pool) -> RuntimeState:
    """Not located: one of somebody else."""
    pid, running = pool.pid, bool(pool.states)
    processes = tuple(
        RuntimeProcessState(
            pid=one.pid,
            identity=one.key.identity,
            mode=one.key.mode,
            account=one.key.profile,
            sessions=one.sessions,
        )
        for one in pool.states
    )
    return RuntimeState(
        state="running" if running else "stopped",
        path=located and str(located.path),
        source=located and located.source,
        native=located and located.native,
        pid=pid,
        restarts=pool.restarts,
        detail=_detail(pool, running=running),
        url=pool.outside,
        shared=pool.plan.is_shared,
        processes=processes,
    )


def _detail(pool: Pool, *, running: bool) -> str:
    if pool.outside:
        joined = "" if running else " It is called with the first session."
        return f"Somebody else started it, at {pool.outside}.{joined}"
    said = (_SHARED if pool.plan.is_shared else "", "" if running else _LATER)
    return " ".join(part for part in said if part)


async def check_runtime(pool: Pool) -> Check:
    found = await pool.status()
    said = next((one for one in found if one.version != CLI_VERSION), found[0])
    if pool.outside:
        return _check_outside(said, pool)
    located = said.located
    kind = "native" if located and located.native else "single-file"
    pids = ", ".join(str(one.pid) for one in found)
    count = f"process {pids}" if len(found) == 1 else f"{len(found)} processes: {pids}"
    summary = f"{said.version}, protocol {said.protocol}, {kind}, {count}"
    if located and said.version != CLI_VERSION:
        detail = f"{located.path} is not the version that Airboss is tested with."
        remedy = f"Run `airboss setup` to install {CLI_VERSION}."
        return Check(id="runtime", state="warn", summary=summary, detail=detail, remedy=remedy)
    if pool.plan.is_shared:
        where = ", ".join(str(path) for path in shared_in(pool.plan.notes))
        detail = f"{_SHARED} Addresses and tokens: {where}."
        remedy = "If you do not need this, set shared_runtime = false."
        return Check(id="runtime", state="warn", summary=summary, detail=detail, remedy=remedy)
    return Check(id="runtime", state="ok", summary=summary)


def _check_outside(said: RuntimeStatus, pool: Pool) -> Check:
    summary = f"{said.version}, protocol {said.protocol}, somebody else's at {pool.outside}"
    if said.version != CLI_VERSION:
        detail = "It is not the version that Airboss is tested with."
        remedy = f"Start {CLI_VERSION} there."
        return Check(id="runtime", state="warn", summary=summary, detail=detail, remedy=remedy)
    if pool.plan.outside and pool.plan.outside.token is None:
        detail = "It lets every program of this machine in."
        remedy = f"Start it with COPILOT_CONNECTION_TOKEN, and give us the same in {RUNTIME_TOKEN}."
        return Check(id="runtime", state="warn", summary=summary, detail=detail, remedy=remedy)
    detail = "Its environment is not cleaned by Airboss: agents see what it was started with."
    return Check(id="runtime", state="ok", summary=summary, detail=detail)


def copilot_state(catalog: Catalog, said: RuntimeSignIn | None) -> CopilotState:
    """`said` is what the runtime told of the CLI's sign-in."""
    accounts = catalog.accounts
    if accounts.has_token:
        first, names = accounts.logins()[0], ", ".join(accounts.names)
        detail = f"Each session uses the token in {first.variable}."
        if names:
            detail = f"Sessions use the first of these accounts that can be used: {names}."
        return CopilotState(
            signed_in=catalog.problem is None or catalog.has_copilot,
            how="accounts" if names else first.variable or first.name,
            login=None,
            detail=catalog.problem or detail,
        )
    if said is None:
        detail = "Not known until the runtime has started."
        return CopilotState(signed_in=None, how="cli", login=None, detail=detail)
    how = "cli" if said.signed_in else "none"
    detail = said.message or "No token is set, and nobody is signed in."
    return CopilotState(signed_in=said.signed_in, how=how, login=said.login, detail=detail)
