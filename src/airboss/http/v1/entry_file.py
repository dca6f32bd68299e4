"""The entry's file over v1: its text for an editor, saving it, the schema to complete it by, and
examples to begin from."""

from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router, UseAsker
from airboss.http.services import Use
from airboss.http.v1.large_bodies import as_json, body_of, read_by_hand
from airboss.http.v1.streams import ABSOLUTE, AbsolutePath, RequestBody
from airboss.model.roles import includes
from airboss.service.entry_editor import EntryFile
from airboss.service.entry_reader import in_thread

router = Router(prefix="/api/v1/entry", tags=["entry"])

_NEEDED: Final = "own"
_OTHER_FILE: Final = "it is not the project's entry"
AnyFile = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=4096,
        json_schema_extra={"pattern": ABSOLUTE},
        description="Another .yaml or .json file below the roots. Without it: the project's entry.",
    ),
]


class SaveEntryFile(RequestBody):
    """The whole text. `digest` is that of the version it was made from; null: there was no file."""

    path: Annotated[AbsolutePath, Field(min_length=1)]
    text: str
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None


class EntryExample(BaseModel):
    """An entry to begin from. `script` plays it on the rehearsal model."""

    name: str
    title: str
    description: str
    text: str
    script: str


class EntryExamples(BaseModel):
    """The examples that Airboss comes with."""

    items: list[EntryExample]


@router.get(
    "/file",
    response_model=EntryFile,
    responses={422: refused("The path lies outside of the roots, or where secrets are kept.")},
)
async def show_entry_file(use: Use, asker: UseAsker, path: AnyFile = None) -> Response:
    """The text of the project's entry and its version, or the place where it would be made."""
    if path is not None and not await use.entry_editor.is_own(path):
        asker.must_have(_NEEDED, _OTHER_FILE)
    shown = await use.entry_editor.show(path)
    if asker.role is None or not includes(asker.role, _NEEDED):
        shown = shown.locked(f"Saving needs the role {_NEEDED}; {asker.name} has {asker.role}.")
    return await as_json(lambda: shown)


@router.put(
    "/file",
    response_model=EntryFile,
    responses={
        409: refused("The file was changed elsewhere. What is on the disk comes along."),
        413: refused("The text is larger than an entry may be."),
        422: refused("The file cannot be written here."),
    },
    openapi_extra=read_by_hand(SaveEntryFile),
)
async def save_entry_file(request: Request, use: Use) -> Response:
    """Writes the file, whole or not at all, and only over the version that was read. A text with
    mistakes is saved too; the server then goes on using the entry that it has."""
    asked = await body_of(request, SaveEntryFile)
    saved = await use.entry_editor.save(asked.path, asked.text, asked.digest)
    return await as_json(lambda: saved)


@router.get("/schema", response_model=dict[str, Any])
async def show_entry_schema() -> Response:
    """The JSON Schema of an entry, with a description of every field."""

    def read() -> str:
        from airboss.entry.schema import shipped_schema

        return shipped_schema()

    return Response(await in_thread(read), media_type="application/json")


@router.get("/examples", response_model=EntryExamples)
async def list_entry_examples() -> Response:
    """Entries for common work, to begin one's own from."""

    def read() -> EntryExamples:
        from airboss.entry.examples import example_entries

        return EntryExamples(items=[EntryExample(**asdict(one)) for one in example_entries()])

    return await as_json(read)
