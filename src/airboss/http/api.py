"""The whole surface: routes inside, the perimeter around them."""

from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp, Scope

from airboss.http import (
    metrics,
    portal,
    portal_entries,
    portal_jobs,
    portal_tasks,
    problems,
    signin,
    static,
)
from airboss.http.description import describe, operation_id
from airboss.http.heads import HeadAnswers
from airboss.http.lists import ListVersions
from airboss.http.perimeter import Perimeter
from airboss.http.refusals import RefusalExit
from airboss.http.roles import check_role
from airboss.http.services import Services
from airboss.http.v1 import (
    accounts,
    audit,
    digests,
    drafts,
    entries,
    entry_file,
    exports,
    extensions,
    feed,
    folder_files,
    history,
    inbox,
    providers,
    rehearsals,
    rules,
    run_reports,
    runs,
    secrets,
    server_sign_ins,
    session_changes,
    session_commands,
    session_extensions,
    session_prompts,
    session_setup,
    sessions,
    settings,
    status,
    task_runs,
    trust,
    workers,
)
from airboss.model.audit_events import Actor
from airboss.service.audit import acting
from airboss.settings import Settings


def build_routes(use: Services | None) -> FastAPI:
    """The routes alone. Without services they can still be listed and described."""
    app = FastAPI(
        title="Airboss",
        version=version("airboss"),
        summary="Run coding agents as dependable jobs.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
        dependencies=[Depends(check_role)],  # for whatever does not come from a `Router`
    )
    app.state.services = use
    said = [
        *(status, accounts, sessions, session_prompts, session_commands, session_changes),
        session_extensions,
        server_sign_ins,
        session_setup,
        *(folder_files, entries, entry_file, drafts, rehearsals),
        extensions,
        *(task_runs, run_reports, runs, trust, rules, settings, secrets, providers),
        inbox,
        workers,
    ]
    v1 = [*said, feed, history, digests, exports, audit]
    parts = [metrics, signin, *v1, portal, portal_entries, portal_tasks, portal_jobs]
    routers = [part.router for part in parts]
    if use is None or use.entries.settings.test:  # an unknown path to all other servers
        routers.append(portal_entries.test_router)
    for router in routers:
        app.router.routes.extend(router.routes)
    describe(app)
    problems.install(app)
    static.install(app)
    return app


def build_api(use: Services, settings: Settings, port: int) -> ASGIApp:
    def witness(scope: Scope, status: int, code: str) -> None:
        by = acting.get() or Actor(via="api")
        use.refusals.add(by, status, code, scope.get("method", scope["type"]), scope["path"])

    app, gate = ListVersions(HeadAnswers(build_routes(use)), use.log), RefusalExit(witness=witness)
    return Perimeter(app, use.access, use.sign_ins, use.background, settings, port, gate=gate)
