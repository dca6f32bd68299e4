"""What was said, over v1: looked for by words."""

from typing import Annotated, Literal, TypeAlias

from fastapi import Query

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.v1.streams import ForPerson, Time
from airboss.model.runs import RunState
from airboss.model.task_runs import TaskRunState
from airboss.model.views import SessionStateName
from airboss.service.history import HIT_CURSOR, HitPage
from airboss.service.job_stats import RunFilters
from airboss.store.search import LookIn

router = Router(prefix="/api/v1", tags=["history"])

AnyState: TypeAlias = RunState | TaskRunState | SessionStateName


@router.get("/search", responses={422: refused("The text has no word and no number.")})
async def search(
    use: Use,
    text: Annotated[str, Query(min_length=1, max_length=400)],
    of: Annotated[
        Literal["run", "task", "session"] | None,
        Query(description="Only in runs of jobs, tasks by themselves, or people's sessions."),
    ] = None,
    state: Annotated[list[AnyState], Query()] = [],  # noqa: B006 - FastAPI reads it, nobody writes
    for_person: ForPerson = False,
    job: Annotated[str | None, Query(max_length=400)] = None,
    tag: Annotated[str | None, Query(max_length=40)] = None,
    model: Annotated[str | None, Query(max_length=400)] = None,
    since: Time = None,
    cursor: Annotated[
        str | None, Query(pattern=HIT_CURSOR, description="A page's `next_cursor`.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> HitPage:
    """In the transcripts of all sessions, task runs and runs: prompts, messages, reasoning, tools'
    arguments and outputs, decisions. All words must be in one text, or words that begin so, in
    whatever case. Newest first; a cursor stays true while more is said. The filters are those of
    the lists: `state`, `for_person`, `job` and `tag` are of the hit's `owner`, `model` is whose
    session or task said it, and `since` when."""
    where = LookIn(of, tuple(state), for_person, job, tag, model, since)
    return await use.history.search(text, cursor, limit, where)


@router.get("/run-filters")
async def list_run_filters(use: Use) -> RunFilters:
    """List the filters for runs: every job that has stored runs, whether an entry still has it
    or not, and every tag."""
    return await use.runs.filters()
