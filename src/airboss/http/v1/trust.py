"""What a person trusts, over v1."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from airboss.http.services import UseEntries, Who
from airboss.store.entries import TrustRow

router = APIRouter(prefix="/api/v1/trust", tags=["trust"])


class TrustPath(BaseModel):
    """A file, or a folder for all entries in it, as they are now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, max_length=4096)


class TrustedPath(BaseModel):
    """`current` is false for a file that changed since: it is not trusted as it is now."""

    path: str
    kind: Literal["file", "folder"]
    digest: str | None
    who: str
    at: int
    current: bool


class TrustList(BaseModel):
    """Everything that is trusted, by path."""

    items: list[TrustedPath]


class Distrusted(BaseModel):
    """What is no longer trusted."""

    paths: list[str]


@router.get("")
async def list_trusted(entries: UseEntries) -> TrustList:
    """Every file and folder that somebody trusts, and whether it is still as it was."""
    found = await entries.files.trust.all()
    return TrustList(items=[_view(told.row, current=told.current) for told in found])


@router.post("")
async def trust_path(asked: TrustPath, entries: UseEntries, who: Who) -> TrustList:
    """A Python entry may then run and any entry's wishes count, until the file changes."""
    rows = await entries.trust(asked.path, who)
    return TrustList(items=[_view(row, current=True) for row in rows])


@router.delete("")
async def distrust_path(
    entries: UseEntries, who: Who, path: Annotated[str, Query(min_length=1, max_length=4096)]
) -> Distrusted:
    """At once: what a Python entry gave is not used any more either. A folder takes what is below
    it along."""
    return Distrusted(paths=await entries.distrust(path, who))


def _view(row: TrustRow, *, current: bool) -> TrustedPath:
    return TrustedPath(
        path=row.path,
        kind=row.kind,
        digest=row.digest,
        who=row.who,
        at=row.at,
        current=current,
    )
