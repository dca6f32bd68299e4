"""Seed 001's calls about the entry: its tasks, its jobs, and how a test brings its own."""

import asyncio
from typing import Any

from fastapi import Request

from airboss.http.portal import BOTH, body_text
from airboss.http.roles import Router
from airboss.http.services import Use, UseEntries
from airboss.model.audit_events import EntryInstalled
from airboss.service.audit import actor

router = Router(prefix="/api", include_in_schema=False)
# Known in test mode only.
test_router = Router(prefix="/api", include_in_schema=False)


@test_router.api_route("/copilot/test/installJobsEntry", methods=BOTH)
async def install_jobs_entry(request: Request, use: Use) -> dict[str, str]:
    done = await use.entry_checks.install_for_test(await body_text(request))
    if done.error is None:
        await use.audit.write(EntryInstalled(by=actor(), source="test", digest=""))
    said = {"result": str(done.result)}
    return said if done.error is None else {**said, "error": done.error}


@router.api_route("/copilot/task", methods=BOTH)
async def list_tasks(entries: UseEntries) -> dict[str, Any]:
    used = await entries.current()
    tasks = used.entry.tasks if used else {}
    return {
        "tasks": [
            {"name": name, "requireUserInput": task.require_user_input}
            for name, task in tasks.items()
        ]
    }


@router.api_route("/copilot/job", methods=BOTH)
async def list_jobs(entries: UseEntries) -> dict[str, Any]:
    used = await entries.current()
    if used is None:
        return {"grid": [], "jobs": {}, "chart": {}}
    return await asyncio.to_thread(lambda: used.jobs_wire)
