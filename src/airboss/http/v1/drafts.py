"""An entry that somebody is writing, over v1: its mistakes as they are made, and its charts."""

from dataclasses import asdict
from typing import Any, Literal

from fastapi import Request, Response
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use
from airboss.http.v1.entries import Mistake
from airboss.http.v1.large_bodies import as_json, body_of, read_by_hand
from airboss.http.v1.streams import RequestBody

router = Router(prefix="/api/v1/entry", tags=["entry"])


class CheckDraft(RequestBody):
    """The text as it is at this moment."""

    text: str
    format: Literal["json", "yaml"] = "yaml"


class MistakeRepair(BaseModel):
    """A change of the text that repairs the mistake. Lines and columns count from 1, columns in
    characters; the end is behind the last character that `text` replaces."""

    title: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class DraftMistake(Mistake):
    """A violation, with what repairs it by one click, where anything does."""

    repairs: list[MistakeRepair] = Field(default_factory=list[MistakeRepair])


class DraftedJob(BaseModel):
    """A job that can be drawn. A node whose task does not exist has `broken: "no such task"`."""

    name: str
    work: dict[str, Any]
    chart: dict[str, Any]
    requireUserInput: bool


class CheckedDraft(BaseModel):
    """Everything that is wrong, and what there is although something is wrong. `tasks` are the
    names of all tasks; `jobs` are those that can be drawn."""

    valid: bool
    violations: list[DraftMistake]
    mistakes: int
    ungranted: list[str]
    tasks: list[str]
    jobs: list[DraftedJob]


@router.post(
    "/draft",
    response_model=CheckedDraft,
    responses={413: refused("The text is larger than an entry may be.")},
    openapi_extra=read_by_hand(CheckDraft),
)
async def check_draft(request: Request, use: Use) -> Response:
    """Checks a text while it is written, and draws its jobs. Nothing of it is kept, and no program
    in it runs."""
    asked = await body_of(request, CheckDraft)
    draft, ungranted = await use.entry_checks.check_draft(asked.text, asked.format)
    return await as_json(
        lambda: CheckedDraft(
            valid=not draft.violations,
            violations=[
                DraftMistake(
                    **said.to_wire(),
                    repairs=[MistakeRepair(**asdict(repair)) for repair in said.repairs],
                )
                for said in draft.violations
            ],
            mistakes=draft.mistakes,
            ungranted=list(ungranted),
            tasks=list(draft.tasks),
            jobs=[
                DraftedJob(
                    name=job.name,
                    work=job.work,
                    chart=job.chart,
                    requireUserInput=job.require_user_input,
                )
                for job in draft.jobs
            ],
        )
    )
