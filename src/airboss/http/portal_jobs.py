"""Seed 001's API for runs of jobs, to the letter."""

from typing import Any

from fastapi import Request

from airboss.errors import NotFound
from airboss.http.portal import BOTH, FORESEEN, body_text, in_the_seeds_words, live_response
from airboss.http.roles import Router
from airboss.http.services import Use, UseRuns, Who
from airboss.service.run_request import NewRun

router = Router(prefix="/api/copilot/job", include_in_schema=False)


@router.api_route("/start/{job_name:path}", methods=BOTH)
async def start_job(job_name: str, request: Request, runs: UseRuns, who: Who) -> dict[str, str]:
    """The first line of the body is the folder, the rest the input."""
    folder, _, user_input = (await body_text(request)).partition("\n")
    requested = NewRun(job_name, user_input, folder.strip(), who, is_exact=False)
    try:
        view = await runs.start(requested)
    except NotFound:
        return {"error": "JobNotFound"}
    except FORESEEN as error:
        return in_the_seeds_words(error)
    return {"jobId": view.id}


@router.api_route("/{job_id}/stop", methods=BOTH)
async def stop_job(job_id: str, runs: UseRuns, who: Who) -> dict[str, str]:
    """One that has ended is not there."""
    try:
        view = await runs.show(job_id)
    except NotFound:
        return {"error": "JobNotFound"}
    if not view.is_open:
        return {"error": "JobNotFound"}
    await runs.stop(job_id, who)
    return {"result": "Closed"}


@router.api_route("/{job_id}/live", methods=BOTH)
async def live_job(job_id: str, request: Request, use: Use) -> dict[str, Any]:
    return await live_response(use.live, job_id, "Job", request)
