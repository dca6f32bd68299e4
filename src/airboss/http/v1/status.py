"""How the server is: its status, the doctor, the models, and how it is stopped."""

from dataclasses import asdict

from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.background import BackgroundTask

from airboss.http.roles import Router, UseAsker
from airboss.http.services import Use, end_server
from airboss.service.doctor_checks import Check
from airboss.service.status import Status

router = Router(prefix="/api/v1", tags=["server"])


class OfferedModel(BaseModel):
    """A model that a session can be started on."""

    id: str
    name: str
    multiplier: float
    source: str
    # How much fits into a conversation, where that is known.
    context_tokens: int | None
    # The reasoning efforts that it takes, whether it sees images, and how much it takes and writes
    # at once: null where nobody says.
    efforts: tuple[str, ...] | None = None
    vision: bool | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    # The settings' accounts of Copilot that offer it; none where the settings name none.
    accounts: tuple[str, ...] = ()


class ModelList(BaseModel):
    """All models, and why some may be missing."""

    items: list[OfferedModel]
    problems: list[str]


class DoctorReport(BaseModel):
    """Every check, with what it found and what to do."""

    checks: list[Check]
    # What was repaired before that, in a sentence each.
    repaired: list[str] = []


@router.get("/status")
async def show_status(use: Use, asker: UseAsker) -> Status:
    """Show what the server runs on and with, who the caller is, and what they may do."""
    return await use.status.show(asker.name, asker.role)


@router.get("/doctor")
async def examine(use: Use) -> DoctorReport:
    """Run all checks. Starts the agent runtime if it is not running."""
    return DoctorReport(checks=await use.status.examine())


@router.post("/doctor")
async def examine_deeply(use: Use, deep: bool = True, repair: bool = False) -> DoctorReport:
    """Run all checks. `deep` calls a model of each provider and each account of Copilot once,
    which may cost something, and asks the programs of hooks. `repair` first removes what Airboss
    kept for sessions that are deleted."""
    rows = use.status.rows
    repaired = await rows.repair() if repair and rows else []
    return DoctorReport(checks=await use.status.examine(deep=deep), repaired=repaired)


@router.get("/models")
async def list_models(use: Use) -> ModelList:
    """List every model that a session can use, and why some may be missing."""
    offers = await use.catalog.offers()
    items = [OfferedModel(**asdict(offer)) for offer in offers]
    return ModelList(items=items, problems=[use.catalog.problem] if use.catalog.problem else [])


@router.post("/stop", status_code=202)
async def stop_server(use: Use) -> Response:
    """Stop the server after answering. Open sessions can be resumed after the next start."""
    return JSONResponse({}, status_code=202, background=BackgroundTask(end_server, use))
