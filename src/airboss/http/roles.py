"""Which role each route needs: one table, by the name of the route's function, and its one check.

A route that is not in it is refused to everybody, so that a new one is closed until it is named.
`docs/roles.md` is written from it.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Scope

from airboss.errors import RoleNeeded
from airboss.harness.hook_facts import ACTING_ROLE
from airboss.http.credentials import Caller
from airboss.http.description import REFUSALS, operation_id
from airboss.http.refusals import RefusalExit
from airboss.model.roles import ROLES, Role, includes

ROLE_NEEDED: Final = RoleNeeded.code
# Needs no role, and not even a token.
ANYBODY: Final = "anybody"

_Table = dict[str, tuple[str, ...]]

_V1: Final[_Table] = {
    ANYBODY: ("sign_in", "show_sign_in"),
    "view": (
        "openapi",
        # Of oneself: those of others only with the role own.
        *("sign_out", "list_sign_ins", "end_sign_in", "end_sign_ins", "make_link"),
        *("show_status", "examine", "list_models", "list_accounts"),
        *("list_sessions", "show_session", "show_image", "show_queue", "show_changes"),
        "show_setup",
        *("show_file", "find_files"),
        *("read_events", "follow_events", "session_digest", "export_session"),
        *("show_entry", "show_entry_mistakes", "list_tasks", "list_jobs", "list_trusted"),
        *("show_entry_file", "show_entry_schema", "list_entry_examples"),
        "show_rehearsal",
        *("list_extensions", "show_extension"),
        *("list_rules", "list_settings", "list_providers", "list_workers"),
        *("list_task_runs", "show_task_run", "read_task_events", "follow_task_events"),
        *("list_runs", "show_run", "show_job_of_run", "read_run_events", "follow_run_events"),
        *(
            "run_digest",
            "task_run_digest",
            "inbox_digest",
            "export_run",
            "export_task_run",
            "search",
        ),
        *("show_report", "show_changes_of_run", "compare_two_runs", "list_run_filters"),
        *("list_commands", "list_session_extensions"),
        *("list_inbox", "inbox_events", "follow_inbox", "follow_feed"),
    ),
    "operate": (
        *("start_session", "send_prompt", "ask_aside", "abort_turn", "close_session"),
        *("compact_session", "fork_session", "invoke_command"),
        "reload_session_extensions",
        *("resume_session", "change_session", "change_queued", "drop_queued", "clear_queue"),
        *(
            "start_task_run",
            "stop_task_run",
            "retry_task_run",
            "start_run",
            "stop_run",
            "retry_run",
            "run_again",
            "change_run",
        ),
        *("check_entry", "check_draft", "start_rehearsal", "cancel_rehearsal"),
    ),
    "decide": (
        *("decide", "answer", "decline"),
        *("begin_server_sign_in", "finish_server_sign_in", "end_server_sign_in"),
    ),
    "own": (
        *("add_rule", "arrange_rules", "remove_rule", "change_setting", "reset_setting"),
        # To look is to read any entry on the disk, which serves nothing but to trust it.
        *("look_at_path", "trust_path", "distrust_path", "install_entry"),
        "save_entry_file",
        # One may be a guard, and a new one is a file on the server's disk.
        *("create_extension", "switch_extension"),
        *("list_secrets", "keep_secret", "remove_secret"),
        *("add_account", "change_account", "remove_account", "test_account", "test_known_account"),
        *("add_provider", "change_provider", "remove_provider"),
        # They call addresses, and use keys.
        *("test_provider", "test_known_provider", "examine_deeply"),
        *("move_run", "drain_worker", "stop_draining_worker"),
        *("delete_session", "delete_run", "delete_task_run", "stop_server"),
        *("list_audit", "follow_audit", "export_audit"),
    ),
}
# Seed 001's calls, and those for whoever watches the server.
_BESIDE: Final[_Table] = {
    ANYBODY: ("is_alive",),
    "view": ("is_ready", "metrics", "test", "config", "models", "list_tasks", "list_jobs"),
    "operate": (
        *("start_session", "stop_session", "query_session"),
        *("start_task", "stop_task", "start_job", "stop_job"),
        # They move a position that all callers share.
        *("live_session", "live_task", "live_job"),
    ),
    "own": ("stop", "install_jobs_entry"),
}
# Where more is needed than the table says, and why.
MORE_NEEDED: Final[Mapping[str, str]] = {
    "start_session": "wider permissions need `own`",
    "start_run": "a wider cage needs `own`",
    "run_again": "a wider cage needs `own`",
    "start_task_run": "a wider cage needs `own`",
    "change_session": "wider permissions need `own`",
    "fork_session": "wider permissions need `own`",
    "decide": "`allow-always` and trust need `own`",
    "query_session": "answers need `decide`",
    "show_entry_file": "another file needs `own`",
    "list_sign_ins": "other people's only with `own`",
    "end_sign_in": "other people's only with `own`",
    "end_sign_ins": "other people's only with `own`",
}


def _by_function(table: _Table) -> dict[str, str]:
    return {name: needed for needed, names in table.items() for name in names}


NEEDED_V1: Final = _by_function(_V1)
NEEDED_BESIDE: Final = _by_function(_BESIDE)


def needed_by(path: str, function: Callable[..., Any]) -> Role | str | None:
    """The role for this route, or `anybody`; None where nobody has said."""
    table = NEEDED_V1 if path.startswith("/api/v1/") else NEEDED_BESIDE
    return table.get(function.__name__)


@dataclass(frozen=True)
class Asker:
    """Who asks, and what they may do at this moment."""

    name: str
    role: Role | None
    scope: Scope

    def must_have(self, needed: Role, why: str = "") -> None:
        if self.role is None or not includes(self.role, needed):
            gate: RefusalExit | None = self.scope.get("airboss.gate")
            if gate is not None:
                gate.note(self.scope, 403, ROLE_NEEDED)
            raise RoleNeeded(needed, self.role or "no role", self.name, why)


async def asker(request: Request) -> Asker:
    """Without a token at all, whoever got so far is at this machine and may do everything."""
    scope = request.scope
    found: Caller | None = scope.get("airboss.caller")
    return Asker(scope["airboss.who"], found.role() if found else "own", scope)


UseAsker = Annotated[Asker, Depends(asker)]


async def check_role(request: Request) -> None:
    """For every route, before it does anything."""
    needed = needed_by(request.scope["path"], request.scope["endpoint"])
    if needed == ANYBODY:
        return
    who = await asker(request)
    if needed not in ROLES:
        raise RoleNeeded("that nobody has yet", who.role or "no role", who.name)
    who.must_have(needed)
    ACTING_ROLE.set(who.role)


class _CheckedRoute(APIRoute):
    """Checks before a body is read: who may not ask is not told what is wrong with the question."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def check_and_handle(request: Request) -> Response:
            await check_role(request)
            return await handle(request)

        return check_and_handle


class Router(APIRouter):
    """What every part of the API declares its routes on. They are whole, so that an app takes them
    as they are: FastAPI would make each of them anew for the first request."""

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(
            prefix=prefix,
            route_class=_CheckedRoute,
            responses=REFUSALS,
            generate_unique_id_function=operation_id,
            **options,
        )


def may_call(role: Role, needed: str | None) -> bool:
    return needed == ANYBODY or (needed in ROLES and includes(role, needed))
