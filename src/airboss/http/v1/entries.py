"""The entry over v1: the one in use, its tasks and jobs, checking one, installing one."""

from typing import Annotated, Any, Final, Literal

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from airboss.errors import NotFound
from airboss.http.description import Refusals, refused
from airboss.http.roles import Router
from airboss.http.services import Use, UseEntries, UseRuns
from airboss.http.v1.large_bodies import PARSED_AT_ONCE, as_json, parsed, read_by_hand
from airboss.http.v1.streams import AbsolutePath, RequestBody
from airboss.model.audit_events import EntryInstalled
from airboss.service.audit import actor
from airboss.service.installed import Installed
from airboss.service.job_stats import JobStats

router = Router(prefix="/api/v1", tags=["entry"])

# As many as have their lines: more would flood a page.
_MOST_SHOWN = 50
FilePath = Annotated[
    Annotated[AbsolutePath, Field(min_length=1)] | None,
    Field(description="On the server's machine."),
]
_NOT_USABLE: Final[Refusals] = {422: refused("The file cannot be read, or is not an entry.")}


def exactly_one_of(*names: str) -> dict[str, Any]:
    """In the description what the models check by themselves."""
    return {
        "oneOf": [
            {"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names
        ]
    }


class CheckEntry(RequestBody):
    """Either a text with its format, or the path of a file on the server's machine."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("text", "path"))

    text: str | None = None
    format: Literal["json", "yaml"] = "yaml"
    path: FilePath = None

    @model_validator(mode="after")
    def be_one_of_two(self) -> "CheckEntry":
        if (self.text is None) == (self.path is None):
            raise ValueError("send either text or path")
        return self


class InstallEntry(RequestBody):
    """Either the path of a file on the server's machine, or the entry itself."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("path", "entry"))

    path: FilePath = None
    entry: dict[str, Any] | None = None

    @model_validator(mode="after")
    def be_one_of_two(self) -> "InstallEntry":
        if (self.entry is None) == (self.path is None):
            raise ValueError("send either path or entry")
        return self


class MistakeLine(BaseModel):
    """A line of the file near a mistake, in three parts where something on it is marked."""

    line: int
    before: str
    marked: str
    after: str


class Mistake(BaseModel):
    """One violation: `{where}: {reason}`, with its place in the text where that is known.

    `advice` and `example` say what to write instead. `excerpt` has the lines around the place; the
    first 50 mistakes have one. Where `is_around`, the place is that of the nearest thing around it.
    """

    where: str
    reason: str
    hint: str | None = None
    line: int | None = None
    column: int | None = None
    advice: str | None = None
    example: str | None = None
    is_around: bool = False
    excerpt: list[MistakeLine] = []


class EntryMistakes(BaseModel):
    """What is wrong with the file that should be used. `mistakes` counts all of them, `path` is
    the file; without mistakes there is none."""

    path: str | None
    mistakes: int
    violations: list[Mistake]


class EntryInUse(BaseModel):
    """The finished entry, where it came from, and what somebody should know about it."""

    source: Literal["built-in", "file", "test", "api"]
    path: str | None
    digest: str
    trusted: bool
    loaded_at: int
    problem: str | None
    mistakes: int = 0
    mistaken_path: str | None = None
    violations: list[Mistake]
    ungranted: list[str]
    document: dict[str, Any]


class CheckedEntry(BaseModel):
    """Everything that is wrong. `mistakes` counts them when there are too many to tell."""

    valid: bool
    violations: list[Mistake]
    mistakes: int
    ungranted: list[str]
    trusted: bool
    tasks: int
    jobs: int


class TaskItem(BaseModel):
    """A task. `prompt` is the beginning of what is asked; `permissions` is the policy that holds
    for it; `model` is its own, or the driving one, which a job may override."""

    name: str
    requireUserInput: bool
    description: str | None = None
    prompt: str
    about: str
    model: str
    permissions: str
    criteria: str


class TaskList(BaseModel):
    """The tasks of the entry in use; none before one was installed."""

    items: list[TaskItem]


class JobItem(BaseModel):
    """A job: its works, the flow chart that is drawn from them, and how its runs went."""

    name: str
    requireUserInput: bool
    description: str | None = None
    work: dict[str, Any]
    chart: dict[str, Any]
    stats: JobStats


class JobList(BaseModel):
    """The jobs of the entry in use, and the grid that they are laid out in."""

    items: list[JobItem]
    grid: list[dict[str, Any]]


@router.get("/entry", response_model=EntryInUse)
async def show_entry(entries: UseEntries) -> Response:
    """Show the entry in use, with prompts expanded and works numbered."""
    used = await entries.current()
    if used is None:
        raise NotFound("entry", "in use yet")
    return await as_json(lambda: _in_use(used))


@router.get("/entry/mistakes", response_model=EntryMistakes)
async def show_entry_mistakes(entries: UseEntries) -> Response:
    """List the errors that keep the project's file from being used: the first ones, and how many
    there are."""
    used = await entries.current()
    return await as_json(lambda: _mistakes(used))


@router.post("/entry/check", response_model=CheckedEntry, responses=_NOT_USABLE)
async def check_entry(asked: CheckEntry, use: Use) -> Response:
    """Check an entry: all violations, and the policies that would not be granted. A Python file
    runs only when it is trusted."""
    if asked.path is not None:
        found = await use.entry_checks.check_path(asked.path)
    else:
        found = await use.entry_checks.check_text(asked.text or "", asked.format)
    return await as_json(
        lambda: CheckedEntry(
            valid=not found.violations,
            violations=[Mistake(**said.to_wire()) for said in found.violations],
            mistakes=found.mistakes,
            ungranted=list(found.ungranted),
            trusted=found.trusted,
            tasks=found.tasks,
            jobs=found.jobs,
        )
    )


@router.post(
    "/entry/install",
    response_model=EntryInUse,
    responses=_NOT_USABLE,
    openapi_extra=read_by_hand(InstallEntry),
)
async def install_entry(request: Request, use: Use) -> Response:
    """Use another entry until this server stops; to keep it, use `--entry`. Refused while something
    of the current one is running."""
    body = await request.body()
    path = None if len(body) > PARSED_AT_ONCE else parsed(request, body, InstallEntry).path
    if path is not None:
        used = await use.entry_checks.install_path(path)
    else:
        used = await use.entry_checks.install_request(body)
    await use.audit.write(
        EntryInstalled(by=actor(), source=used.source, digest=used.digest, path=used.shown_path)
    )
    return await as_json(lambda: _in_use(used))


@router.get("/tasks", response_model=TaskList)
async def list_tasks(entries: UseEntries) -> Response:
    """List the tasks that can be run, with the policy of each."""
    used = await entries.current()
    return await as_json(lambda: TaskList(items=_tasks(used) if used else []))


@router.get("/jobs", response_model=JobList)
async def list_jobs(entries: UseEntries, runs: UseRuns) -> Response:
    """List the jobs that can be run, with their flow charts and how their runs went: the last
    outcome, the usual time and requests, and what is running now."""
    used = await entries.current()
    stats = await runs.job_stats(list(used.entry.jobs)) if used else {}
    return await as_json(lambda: _jobs(used, stats) if used else JobList(items=[], grid=[]))


def _in_use(used: Installed) -> EntryInUse:
    return EntryInUse(
        source=used.source,
        path=used.shown_path,
        digest=used.digest,
        trusted=used.trusted,
        loaded_at=used.loaded_at,
        problem=used.problem,
        mistakes=used.mistakes,
        mistaken_path=used.shown_mistaken_path,
        violations=[Mistake(**said.to_wire()) for said in used.violations],
        ungranted=list(used.ungranted),
        document=used.entry.to_wire(),
    )


def _mistakes(used: Installed | None) -> EntryMistakes:
    if used is None:
        return EntryMistakes(path=None, mistakes=0, violations=[])
    return EntryMistakes(
        path=used.shown_mistaken_path,
        mistakes=used.mistakes,
        violations=[Mistake(**said.to_wire()) for said in used.violations[:_MOST_SHOWN]],
    )


def _tasks(used: Installed) -> list[TaskItem]:
    return [
        TaskItem(
            name=task.name,
            requireUserInput=task.require_user_input,
            description=task.description,
            prompt=task.prompt,
            about=task.about,
            model=task.model,
            permissions=task.permissions,
            criteria=task.criteria,
        )
        for task in used.tasks
    ]


def _jobs(used: Installed, stats: dict[str, JobStats]) -> JobList:
    wire = used.jobs_wire
    items = [
        JobItem(
            name=name,
            requireUserInput=job["requireUserInput"],
            description=job.get("description"),
            work=job["work"],
            chart=wire["chart"][name],
            stats=stats[name],
        )
        for name, job in wire["jobs"].items()
    ]
    return JobList(items=items, grid=wire["grid"])
