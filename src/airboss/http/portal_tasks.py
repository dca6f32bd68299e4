"""Seed 001's API for task runs, to the letter."""

from typing import Any

from fastapi import Request

from airboss.errors import NotFound
from airboss.http.portal import BOTH, body_text, live_response
from airboss.http.roles import Router
from airboss.http.services import Use, UseTasks, Who
from airboss.service.tasks import NewTaskRun

router = Router(prefix="/api/copilot/task", include_in_schema=False)


@router.api_route("/start/{task_name:path}/session/{session_id}", methods=BOTH)
async def start_task(
    task_name: str, session_id: str, request: Request, tasks: UseTasks, who: Who
) -> dict[str, str]:
    """On a session that is open, which is kept; what must hold before is not asked."""
    requested = NewTaskRun(
        task=task_name,
        user_input=await body_text(request),
        who=who,
        session=session_id,
        skips_availability=True,
        is_exact=False,
    )
    try:
        view = await tasks.start(requested)
    except NotFound as error:
        return {"error": "TaskNotFound" if error.kind == "task" else "SessionNotFound"}
    return {"taskId": view.id}


@router.api_route("/{task_id}/stop", methods=BOTH)
async def stop_task(task_id: str, tasks: UseTasks, who: Who) -> dict[str, str]:
    """One that works in somebody's session is left alone; one that has ended is not there."""
    try:
        view = await tasks.show(task_id)
    except NotFound:
        return {"error": "TaskNotFound"}
    if not view.is_open:
        return {"error": "TaskNotFound"}
    if view.session is not None:
        return {"error": "TaskCannotClose"}
    await tasks.stop(task_id, who)
    return {"result": "Closed"}


@router.api_route("/{task_id}/live", methods=BOTH)
async def live_task(task_id: str, request: Request, use: Use) -> dict[str, Any]:
    return await live_response(use.live, task_id, "Task", request)
