"""What the routes may ask for. It hangs on the application; nothing is fetched from the air."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from airboss.background import Background
from airboss.harness.models import Catalog
from airboss.http.callers import caller
from airboss.log.log import EventLog
from airboss.service.access import Access
from airboss.service.audit import Audit
from airboss.service.copilot_accounts import CopilotAccounts
from airboss.service.decisions import Decisions
from airboss.service.digests import Digests
from airboss.service.entries import Entries
from airboss.service.entry_checks import EntryChecks
from airboss.service.entry_editor import EntryEditor
from airboss.service.extensions import Extensions
from airboss.service.folders import Folders
from airboss.service.history import History
from airboss.service.inbox import Inbox
from airboss.service.live import Live
from airboss.service.providers import Providers
from airboss.service.refused import Refusals
from airboss.service.rehearsals import Rehearsals
from airboss.service.rules import Rules
from airboss.service.run_moves import RunMoves
from airboss.service.run_report import RunReports
from airboss.service.runs import Runs
from airboss.service.secrets import Secrets
from airboss.service.server_sign_ins import ServerSignIns
from airboss.service.sessions import Sessions
from airboss.service.setting_changes import SettingChanges
from airboss.service.sign_ins import SignIns
from airboss.service.status import ServerStatus
from airboss.service.tasks import TaskRuns
from airboss.service.workers import Workers


@dataclass(frozen=True)
class Services:
    """Everything behind the door."""

    sessions: Sessions
    tasks: TaskRuns
    runs: Runs
    workers: Workers
    reports: RunReports
    inbox: Inbox
    decisions: Decisions
    rules: Rules
    live: Live
    catalog: Catalog
    folders: Folders
    entries: Entries
    extensions: Extensions
    entry_checks: EntryChecks
    entry_editor: EntryEditor
    rehearsals: Rehearsals
    history: History
    status: ServerStatus
    settings: SettingChanges
    secrets: Secrets
    providers: Providers
    copilot_accounts: CopilotAccounts
    access: Access
    sign_ins: SignIns
    server_sign_ins: ServerSignIns
    audit: Audit
    refusals: Refusals
    log: EventLog
    digests: Digests
    # What goes on beside the requests, until the server has ended.
    background: Background
    stop: Callable[[], None]
    # What people say about who works; none where there is no other machine.
    moves: RunMoves | None = None


# Coroutines, all of them: FastAPI would call a function in a thread.


async def services(request: Request) -> Services:
    return request.app.state.services


async def _sessions(request: Request) -> Sessions:
    return request.app.state.services.sessions


async def _tasks(request: Request) -> TaskRuns:
    return request.app.state.services.tasks


async def _entries(request: Request) -> Entries:
    return request.app.state.services.entries


async def _runs(request: Request) -> Runs:
    return request.app.state.services.runs


async def _inbox(request: Request) -> Inbox:
    return request.app.state.services.inbox


async def _decisions(request: Request) -> Decisions:
    return request.app.state.services.decisions


async def _rules(request: Request) -> Rules:
    return request.app.state.services.rules


async def end_server(use: Services) -> None:
    """For behind an answer. It is a coroutine, so that it runs on the loop and not in a thread."""
    await use.audit.stopped()
    use.stop()


Use = Annotated[Services, Depends(services)]
UseEntries = Annotated[Entries, Depends(_entries)]
UseSessions = Annotated[Sessions, Depends(_sessions)]
UseTasks = Annotated[TaskRuns, Depends(_tasks)]
UseRules = Annotated[Rules, Depends(_rules)]
UseRuns = Annotated[Runs, Depends(_runs)]
UseInbox = Annotated[Inbox, Depends(_inbox)]
UseDecisions = Annotated[Decisions, Depends(_decisions)]
Who = Annotated[str, Depends(caller)]
