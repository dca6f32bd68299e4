"""Extensions over v1: what lies on disk, what a person reads before trusting it, a new one."""

from typing import Annotated, Any, Final, Literal

from fastapi import Query, Response
from pydantic import BaseModel, Field

from airboss.extension_settings import NAME_PATTERN
from airboss.extensions.discovery import Language, Scope, shown
from airboss.extensions.shelf import ExtensionFile
from airboss.http.description import Refusals, refused
from airboss.http.roles import Router
from airboss.http.services import Use, Who
from airboss.http.v1.streams import ABSOLUTE, Folder, RequestBody

router = Router(prefix="/api/v1/extensions", tags=["extensions"])

_NO_FOLDER: Final[Refusals] = {422: refused("Sessions cannot work in this folder.")}
Cwd = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=4096,
        json_schema_extra={"pattern": ABSOLUTE},
        description="The working folder of sessions. Default: the repository.",
    ),
]


class ListedExtension(BaseModel):
    """An extension as it lies on disk. `digest` stands for all files in its folder; it is empty for
    one that cannot be read. Only those that are `ready`, and the trusted version of those that are
    `changed`, run in sessions."""

    name: str
    scope: Scope
    language: Language
    path: str
    digest: str
    state: Literal["ready", "untrusted", "changed", "disabled", "shadowed", "failed"]
    reason: str
    # Runs outside the cage of a caged session.
    on_host: bool


class ExtensionList(BaseModel):
    """The project's first, then the user's, each by name."""

    items: list[ListedExtension]


class ExtensionText(BaseModel):
    """A file of it; `text` is null for what is no text, or too long to be shown."""

    path: str
    bytes: int
    text: str | None


class ExtensionRun(BaseModel):
    """One process of it: its session, and the end of what it wrote to its standard error."""

    session: str
    state: str
    tools: list[str]
    hooks: list[str]
    reason: str
    log: str


class ExtensionDetails(ListedExtension):
    """All that a person reads before trusting it. `diff` is against what was trusted, if it has
    changed since. `left_out` names the files of which not all is shown here: who trusts it reads
    them in its folder. `tools` and `hooks` are those of the sessions in which it runs."""

    files: list[ExtensionText]
    diff: str
    left_out: list[str]
    tools: list[str]
    hooks: list[str]
    sessions: list[ExtensionRun]
    log: str


class NewExtension(RequestBody):
    """Where a skeleton is written: into the project, or for all projects of this user."""

    cwd: Folder = None
    name: Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]
    scope: Scope = "project"
    language: Language = "python"


class ExtensionSwitch(RequestBody):
    """Whether it runs in sessions that start or reload from now on. Kept by its path."""

    cwd: Folder = None
    enabled: bool


@router.get("", responses=_NO_FOLDER)
async def list_extensions(use: Use, cwd: Cwd = None) -> ExtensionList:
    """List the extensions of a working folder: the project's and the user's."""
    found = await use.extensions.list(cwd)
    return ExtensionList(items=[ListedExtension(**_facts(file)) for file in found])


@router.get("/{scope}/{name}", responses=_NO_FOLDER)
async def show_extension(scope: Scope, name: str, use: Use, cwd: Cwd = None) -> ExtensionDetails:
    """Show the text of an extension, what changed since it was trusted, and where it runs. Trust it
    with `POST /api/v1/trust` and its `path` and `digest`."""
    found = await use.extensions.show(cwd, scope, name)
    return ExtensionDetails(
        **_facts(found.file),
        files=[ExtensionText(**vars(one)) for one in found.files],
        diff=found.difference,
        left_out=[*found.left_out],
        tools=sorted({tool for run in found.running for tool in run.tools}),
        hooks=sorted({hook for run in found.running for hook in run.hooks}),
        sessions=[
            ExtensionRun(
                session=run.session,
                state=run.state,
                tools=[*run.tools],
                hooks=[*run.hooks],
                reason=run.reason,
                log=run.log,
            )
            for run in found.running
        ],
        log=next((run.log for run in found.running if run.log), ""),
    )


@router.post(
    "",
    status_code=201,
    responses={
        409: refused("There is one of this name."),
        422: refused("The name cannot be used, or sessions cannot work in this folder."),
    },
)
async def create_extension(asked: NewExtension, use: Use, response: Response) -> ListedExtension:
    """Write a new extension that works as it is. Nothing of it runs before you trust it."""
    made = await use.extensions.create(asked.cwd, asked.scope, asked.name, asked.language)
    response.headers["Location"] = f"/api/v1/extensions/{made.scope}/{made.name}"
    return ListedExtension(**_facts(made))


@router.patch("/{scope}/{name}", responses=_NO_FOLDER)
async def switch_extension(
    scope: Scope, name: str, asked: ExtensionSwitch, use: Use, who: Who
) -> ListedExtension:
    """Turn an extension off, or on again. Sessions that are open go on as they are until they
    reload."""
    changed = await use.extensions.switch(asked.cwd, scope, name, who, enabled=asked.enabled)
    return ListedExtension(**_facts(changed))


def _facts(file: ExtensionFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "scope": file.scope,
        "language": file.language,
        "path": shown(str(file.path)),
        "digest": file.digest,
        "state": file.state,
        "reason": file.reason,
        "on_host": file.on_host,
    }
