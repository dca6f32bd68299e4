"""What a person trusts, over v1."""

from typing import Annotated, Final, cast

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from airboss.http.description import Refusals, refused
from airboss.http.roles import Router
from airboss.http.services import UseEntries, Who
from airboss.http.v1.streams import ABSOLUTE, AbsolutePath
from airboss.service.trust import Look
from airboss.store.entries import TrustKind, TrustRow

router = Router(prefix="/api/v1/trust", tags=["trust"])

_NOT_USABLE: Final[Refusals] = {422: refused("There is nothing at this path that can be trusted.")}
PathAsked = Annotated[
    str, Query(min_length=1, max_length=4096, json_schema_extra={"pattern": ABSOLUTE})
]


class TrustPath(BaseModel):
    """A file, the folder of an extension, or a folder for all entries and extensions in it, as they
    were when somebody looked at them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[AbsolutePath, Field(min_length=1)]
    digest: str = Field(max_length=64, description="`digest` of `GET /api/v1/trust/look`.")

    @model_validator(mode="before")
    @classmethod
    def say_what_was_looked_at(cls, given: object) -> object:
        if isinstance(given, dict) and "path" in given and "digest" not in given:
            raise ValueError(
                "give the digest of what you looked at: GET /api/v1/trust/look?path=… has it"
            )
        return cast("object", given)


class FileToTrust(BaseModel):
    """A file as it is now; `text` is null where it is too long to be shown."""

    path: str
    digest: str
    bytes: int
    text: str | None


class ExtensionToTrust(BaseModel):
    """An extension as it is now. `reason` says why it cannot be trusted: then it is left out."""

    name: str
    path: str
    digest: str
    files: list[FileToTrust]
    reason: str


class TrustLook(BaseModel):
    """What would be trusted; `digest` stands for all of it, and is given back to trust it."""

    path: str
    kind: TrustKind
    digest: str
    files: list[FileToTrust]
    extensions: list[ExtensionToTrust]


class TrustedPath(BaseModel):
    """`current` is false for what changed since: it is not trusted as it is now. Of an extension
    the version that was trusted still runs."""

    path: str
    kind: TrustKind
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
    """List trusted files and folders, and whether each is unchanged."""
    found = await entries.files.trust.all()
    return TrustList(items=[_view(said.row, current=said.current) for said in found])


@router.get("/look", response_model=TrustLook, responses=_NOT_USABLE)
async def look_at_path(entries: UseEntries, path: PathAsked) -> Look:
    """Show an entry, an extension, or all of them in a folder, as they are now: what `POST` would
    trust."""
    return await entries.look(path)


@router.post("", responses=_NOT_USABLE)
async def trust_path(asked: TrustPath, entries: UseEntries, who: Who) -> TrustList:
    """Trust a file: a Python entry may run, and its policy applies, until the file changes. Trust
    an extension: a copy of it runs in sessions, with the rights of the server's user. Refused (409)
    if it has changed since you reviewed it."""
    rows = await entries.trust(asked.path, asked.digest, who)
    return TrustList(items=[_view(row, current=True) for row in rows])


@router.delete("", responses=_NOT_USABLE)
async def distrust_path(entries: UseEntries, who: Who, path: PathAsked) -> Distrusted:
    """Stop trusting a file immediately. What a Python entry gave is no longer used. A folder
    includes everything below it."""
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
